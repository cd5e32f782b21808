/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_ADDRESSES_H
#define VIADUCT_KERNEL_ADDRESSES_H

#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/ptr.h"

#include "base/wire/address.h"

#include <cstdint>
#include <vector>

namespace ns3::kerneladdress
{

/**
 * @tparam Ip Ipv4 or Ipv6
 * @param device a device of a node
 * @return the index of the device's interface in the node's IP layer; -1 if the device has none
 */
template <class Ip>
int32_t
InterfaceOf(Ptr<NetDevice> device)
{
    const auto ip = device->GetNode()->GetObject<Ip>();
    return ip ? ip->GetInterfaceForDevice(device) : -1;
}

/**
 * @param device a device of a node
 * @return the device's addresses in ns-3, IPv4 before IPv6, without link-local addresses: the
 * kernel creates the same link-local addresses itself
 */
std::vector<viaduct::wire::IpPrefix> AddressesOf(Ptr<NetDevice> device);

/** Throws viaduct::UsageError if a device has an address twice, or has the same address as another
 * device on its channel: kernels do not detect duplicate addresses (detection does not exist for
 * IPv4, and is disabled for IPv6), and the consequences look like a fault of the protocols.
 * @param device the device whose addresses (AddressesOf()) are checked
 */
void CheckAddressClash(Ptr<NetDevice> device);

} // namespace ns3::kerneladdress

#endif // VIADUCT_KERNEL_ADDRESSES_H
