/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_WIRELESS_H
#define VIADUCT_SIM_WIRELESS_H

#include "ns3/callback.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/packet.h"

#include "scenario/scenario.h"

#include <functional>
#include <vector>

namespace ns3::sim
{

/**
 * @param settings a link that is a Wi-Fi channel
 * @param nodes the link's nodes, in its order, which have their places
 * @return their devices, in this order
 * @throw viaduct::UsageError naming a value that ns-3 does not have
 */
NetDeviceContainer MakeWifi(const viaduct::scenario::LinkSettings& settings,
                            const NodeContainer& nodes);

/** Enables or disables reception on a device. It sends on the channel in any case.
 * @param settings the settings of the device's link, which may have its own error model
 * @param device a Wi-Fi device
 * @param up whether it receives
 */
void SetReceiving(const viaduct::scenario::LinkSettings& settings, Ptr<NetDevice> device, bool up);

/** @param device any device
 * @return whether it is a Wi-Fi station that has no access point now */
bool IsUnassociated(Ptr<NetDevice> device);

/** Passes each frame that a Wi-Fi device sends or receives to a function, from the MAC header on.
 * @param device any device
 * @param see the function
 * @return false: the device is no Wi-Fi device
 */
bool SniffWifi(Ptr<NetDevice> device, const std::function<void(Ptr<const Packet>)>& see);

/** Takes the number of a device, a packet from the LLC header on, and the reason why it was lost
 * there. */
using SeeDrop = std::function<void(std::size_t, Ptr<const Packet>, const char*)>;

/** Passes each packet that is lost by the MACs of a link to a function. A packet that its sender
 * gave up although it had arrived is not lost.
 * @param devices a link's devices, Wi-Fi or not
 * @param see the function
 */
void WatchWifiDrops(const std::vector<Ptr<NetDevice>>& devices, const SeeDrop& see);

} // namespace ns3::sim

#endif // VIADUCT_SIM_WIRELESS_H
