/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/kernel/kernel-ip.h"

#include "ns3/ipv6-route.h"
#include "ns3/node.h"

namespace ns3
{

using wireconversion::ToWire;

NS_OBJECT_ENSURE_REGISTERED(KernelIpv4);
NS_OBJECT_ENSURE_REGISTERED(KernelIpv6);
NS_OBJECT_ENSURE_REGISTERED(KernelIcmpv6);

TypeId
KernelIpv4::GetTypeId()
{
    static TypeId tid = TypeId("ns3::KernelIpv4")
                            .SetParent<Ipv4L3Protocol>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<KernelIpv4>();
    return tid;
}

bool
KernelIpv4::AddAddress(uint32_t interface, Ipv4InterfaceAddress address)
{
    const bool added = Ipv4L3Protocol::AddAddress(interface, address);
    if (added)
    {
        PassOn(interface, &KernelNode::AddressAdded, ToWire(address));
    }
    return added;
}

TypeId
KernelIpv6::GetTypeId()
{
    static TypeId tid = TypeId("ns3::KernelIpv6")
                            .SetParent<Ipv6L3Protocol>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<KernelIpv6>();
    return tid;
}

bool
KernelIpv6::AddAddress(uint32_t interface, Ipv6InterfaceAddress address, bool addOnLinkRoute)
{
    const bool added = Ipv6L3Protocol::AddAddress(interface, address, addOnLinkRoute);
    // Link-local addresses are not reported, as the kernel creates the same addresses itself.
    if (added && !address.GetAddress().IsLinkLocal())
    {
        PassOn(interface, &KernelNode::AddressAdded, ToWire(address));
    }
    return added;
}

TypeId
KernelIcmpv6::GetTypeId()
{
    static TypeId tid = TypeId("ns3::KernelIcmpv6")
                            .SetParent<Icmpv6L4Protocol>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<KernelIcmpv6>();
    return tid;
}

// Does the work of Icmpv6L4Protocol::NotifyNewAggregate(), except that packets are dropped instead
// of sent through ns-3's IPv6 layer.
void
KernelIcmpv6::NotifyNewAggregate()
{
    const auto node = GetObject<Node>();
    const auto ipv6 = GetObject<Ipv6>();
    if (node && ipv6 && GetDownTarget6().IsNull())
    {
        SetNode(node);
        SetDownTarget6(
            Callback<void, Ptr<Packet>, Ipv6Address, Ipv6Address, uint8_t, Ptr<Ipv6Route>>(
                [](auto, auto, auto, auto, auto) {}));
        ipv6->Insert(this);
    }
    // Icmpv6L4Protocol::NotifyNewAggregate() does nothing after SetNode() was called.
    Icmpv6L4Protocol::NotifyNewAggregate();
}

} // namespace ns3
