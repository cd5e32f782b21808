/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_DEVICE_REPLACEMENT_H
#define VIADUCT_DEVICE_REPLACEMENT_H

#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/ptr.h"

namespace ns3
{

/**
 * @ingroup viaduct
 * Replaces a device by a new one: in IPv4 and IPv6 (same interface index, addresses, state and
 * metric; new ARP and neighbour caches), in the traffic control layer (without queue disc: the
 * layers below the new device do the queueing), for protocol handlers that were registered for the
 * old device, and for sockets that are already bound to the old device. Routing protocols and
 * applications see no difference. The old device stays in the node, unused.
 *
 * @param node the node that has the old device
 * @param oldDevice the device to replace
 * @param newDevice the device that replaces the old one; added to the node if the node does not yet
 * have it
 */
void ReplaceDevice(Ptr<Node> node, Ptr<NetDevice> oldDevice, Ptr<NetDevice> newDevice);

} // namespace ns3

#endif // VIADUCT_DEVICE_REPLACEMENT_H
