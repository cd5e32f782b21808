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
 * @param nodes the link's nodes in the order of the settings; their places must have been set
 * @return the nodes' devices, in the order of `nodes`
 * @throw viaduct::UsageError naming a value that ns-3 does not have
 */
NetDeviceContainer MakeWifi(const viaduct::scenario::LinkSettings& settings,
                            const NodeContainer& nodes);

/** Enables or disables reception on a device. The device sends on the channel in both cases.
 * @param settings the settings of the device's link, which may have an error model
 * @param device a Wi-Fi device
 * @param up whether the device receives
 */
void SetReceiving(const viaduct::scenario::LinkSettings& settings, Ptr<NetDevice> device, bool up);

/** @param device any device
 * @return whether the device is a Wi-Fi station that is not associated with an access point now */
bool IsUnassociated(Ptr<NetDevice> device);

/** Passes each frame that a Wi-Fi device sends or receives to a function, from the MAC header on.
 * @param device any device
 * @param see the function
 * @return whether the device is a Wi-Fi device; if not, the call does nothing
 */
bool SniffWifi(Ptr<NetDevice> device, const std::function<void(Ptr<const Packet>)>& see);

/** The function that is called for each lost packet, with the index of the device that lost the
 * packet, the packet from the LLC header on, and the reason of the loss. */
using SeeDrop = std::function<void(std::size_t, Ptr<const Packet>, const char*)>;

/** Passes each packet that is lost by the MACs of a link to a function. A packet that has arrived
 * does not count as lost, even if its sender gave it up.
 * @param devices a link's devices, Wi-Fi or not
 * @param see the function
 */
void WatchWifiDrops(const std::vector<Ptr<NetDevice>>& devices, const SeeDrop& see);

} // namespace ns3::sim

#endif // VIADUCT_SIM_WIRELESS_H
