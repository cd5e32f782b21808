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
 * @param nodes its nodes, in its order, which have their places
 * @return their devices, in this order
 * @throw viaduct::UsageError naming what ns-3 has not
 */
NetDeviceContainer MakeWifi(const viaduct::scenario::LinkSettings& settings,
                            const NodeContainer& nodes);

/** Has a device receive nothing, or what comes. What it sends is on the channel in any case.
 * @param settings its link's, which may have an error model of its own
 * @param device a Wi-Fi device
 * @param up whether it receives
 */
void SetReceiving(const viaduct::scenario::LinkSettings& settings, Ptr<NetDevice> device, bool up);

/** @param device any device
 * @return whether it is a Wi-Fi station that has no access point now */
bool IsUnassociated(Ptr<NetDevice> device);

/** Has a function see each frame that a Wi-Fi device sends or receives, from the MAC header on.
 * @param device any device
 * @param see the function
 * @return false: the device is no Wi-Fi device
 */
bool SniffWifi(Ptr<NetDevice> device, const std::function<void(Ptr<const Packet>)>& see);

/** Gets the number of a device, a packet from the LLC header on, and why it was lost there. */
using SeeDrop = std::function<void(std::size_t, Ptr<const Packet>, const char*)>;

/** Has a function see each packet that is lost by the MACs of a link: one that its sender gave up
 * although it had arrived is not lost.
 * @param devices of a link, Wi-Fi or not
 * @param see the function
 */
void WatchWifiDrops(const std::vector<Ptr<NetDevice>>& devices, const SeeDrop& see);

} // namespace ns3::sim

#endif // VIADUCT_SIM_WIRELESS_H
