/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_ADDRESS_CLASH_H
#define VIADUCT_KERNEL_ADDRESS_CLASH_H

#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/ptr.h"

namespace ns3
{

/**
 * Throws viaduct::UsageError where a device of a node has an address twice, or has one that another
 * device on its channel has, too: kernels do not notice (there is no duplicate address detection
 * for IPv4, and it is off for IPv6), and what follows looks like a fault of the protocols.
 * IPv6 link-local addresses are not looked at: they come from the devices' own.
 * @param node of the device
 * @param device whose addresses, of IPv4 and IPv6, are compared
 */
void CheckAddressClash(Ptr<Node> node, Ptr<NetDevice> device);

} // namespace ns3

#endif // VIADUCT_KERNEL_ADDRESS_CLASH_H
