/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "kernel-address-clash.h"

#include "ns3/channel.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6.h"
#include "ns3/names.h"

#include "base/error.h"

#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace ns3
{

namespace
{

/** Adds the addresses that an IP layer has on a device, as text. */
template <class Ip>
void
Collect(Ptr<NetDevice> device, std::vector<std::string>& addresses)
{
    const auto ip = device->GetNode()->GetObject<Ip>();
    const int32_t interface = ip ? ip->GetInterfaceForDevice(device) : -1;
    for (uint32_t i = 0; interface >= 0 && i < ip->GetNAddresses(interface); ++i)
    {
        const auto entry = ip->GetAddress(interface, i);
        if constexpr (std::is_same_v<Ip, Ipv6>)
        {
            if (entry.GetAddress().IsLinkLocal())
            {
                continue;
            }
        }
        std::ostringstream text;
        text << entry.GetAddress();
        addresses.push_back(text.str());
    }
}

std::vector<std::string>
AddressesOf(Ptr<NetDevice> device)
{
    std::vector<std::string> addresses;
    Collect<Ipv4>(device, addresses);
    Collect<Ipv6>(device, addresses);
    return addresses;
}

std::string
NameOf(Ptr<Node> node)
{
    const std::string name = Names::FindName(node);
    return name.empty() ? "n" + std::to_string(node->GetId()) : name;
}

} // namespace

void
CheckAddressClash(Ptr<Node> node, Ptr<NetDevice> device)
{
    std::set<std::string> own;
    for (const std::string& address : AddressesOf(device))
    {
        if (!own.insert(address).second)
        {
            throw viaduct::UsageError("node " + NameOf(node) + " has the address " + address +
                                      " twice on one device: give it once");
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
        for (const std::string& address : AddressesOf(other))
        {
            if (own.contains(address))
            {
                throw viaduct::UsageError("nodes " + NameOf(node) + " and " +
                                          NameOf(other->GetNode()) + " have the same address " +
                                          address + " on one channel: give them different ones");
            }
        }
    }
}

} // namespace ns3
