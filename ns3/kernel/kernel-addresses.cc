/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/kernel/kernel-addresses.h"

#include "ns3/base/ip-family.h"
#include "ns3/base/path-seed.h"

#include "ns3/channel.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6.h"

#include "base/error.h"
#include "base/wire/address_scope.h"

#include <set>

namespace ns3::kerneladdress
{

using viaduct::wire::IpPrefix;

std::vector<IpPrefix>
AddressesOf(Ptr<NetDevice> device)
{
    auto addresses = ipfamily::AddressesOf(device->GetNode(), device);
    std::erase_if(addresses, [](const IpPrefix& address) {
        return viaduct::wire::IsLinkLocal(address.address);
    });
    return addresses;
}

void
CheckAddressClash(Ptr<NetDevice> device)
{
    std::set<viaduct::wire::IpAddress> own;
    for (const IpPrefix& each : AddressesOf(device))
    {
        if (!own.insert(each.address).second)
        {
            throw viaduct::UsageError("node " + LabNodeName(device->GetNode()) +
                                      " has the address " + each.address.ToString() +
                                      " twice on one device: remove one of the two");
        }
    }
    const auto channel = device->GetChannel();
    for (std::size_t i = 0; channel && i < channel->GetNDevices(); ++i)
    {
        const auto other = channel->GetDevice(i);
        if (!other || other == device || !other->GetNode())
        {
            continue;
        }
        for (const IpPrefix& each : AddressesOf(other))
        {
            if (own.contains(each.address))
            {
                throw viaduct::UsageError("nodes " + LabNodeName(device->GetNode()) + " and " +
                                          LabNodeName(other->GetNode()) +
                                          " have the same address " + each.address.ToString() +
                                          " on one channel: assign different addresses");
            }
        }
    }
}

} // namespace ns3::kerneladdress
