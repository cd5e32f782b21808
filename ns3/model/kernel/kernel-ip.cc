/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "kernel-ip.h"

#include "kernel-calendar.h"
#include "kernel-node.h"
#include "ns3/wire-conversion.h"

#include "ns3/ipv6-route.h"
#include "ns3/loopback-net-device.h"
#include "ns3/node.h"

#include "base/error.h"

namespace ns3
{

using viaduct::wire::IpPrefix;
using wireconversion::ToWire;

NS_OBJECT_ENSURE_REGISTERED(KernelIpv4);
NS_OBJECT_ENSURE_REGISTERED(KernelIpv6);
NS_OBJECT_ENSURE_REGISTERED(KernelIcmpv6);

namespace
{

Ipv4Address
AddressOf(const Ipv4InterfaceAddress& address)
{
    return address.GetLocal();
}

Ipv6Address
AddressOf(const Ipv6InterfaceAddress& address)
{
    return address.GetAddress();
}

/** Refuses new devices during the simulation: a kernel's devices must be known when it boots. */
void
CheckNotBooted(Ptr<KernelNode> kernel, Ptr<NetDevice> device)
{
    if (kernel && KernelCalendar::Get()->HasBooted() && !kernel->GetBridge(device))
    {
        throw viaduct::UsageError("a device for kernel node " + kernel->GetName() +
                                  " while the simulation runs: give it an address before");
    }
}

} // namespace

template <class Layer, class InterfaceAddress, class IpAddress>
Ptr<KernelNode>
KernelIpLayer<Layer, InterfaceAddress, IpAddress>::GetKernel() const
{
    return this->template GetObject<KernelNode>();
}

template <class Layer, class InterfaceAddress, class IpAddress>
uint32_t
KernelIpLayer<Layer, InterfaceAddress, IpAddress>::AddInterface(Ptr<NetDevice> device)
{
    CheckNotBooted(GetKernel(), device);
    return Layer::AddInterface(device);
}

template <class Layer, class InterfaceAddress, class IpAddress>
void
KernelIpLayer<Layer, InterfaceAddress, IpAddress>::PassOn(uint32_t interface,
                                                          const InterfaceAddress& address)
{
    if (auto kernel = GetKernel())
    {
        kernel->AddressAdded(this->GetNetDevice(interface), ToWire(address));
    }
}

template <class Layer, class InterfaceAddress, class IpAddress>
bool
KernelIpLayer<Layer, InterfaceAddress, IpAddress>::RemoveAddress(uint32_t interface,
                                                                 uint32_t addressIndex)
{
    const IpPrefix prefix = ToWire(this->GetAddress(interface, addressIndex));
    const bool removed = Layer::RemoveAddress(interface, addressIndex);
    if (auto kernel = GetKernel(); kernel && removed)
    {
        kernel->AddressRemoved(this->GetNetDevice(interface), prefix);
    }
    return removed;
}

template <class Layer, class InterfaceAddress, class IpAddress>
bool
KernelIpLayer<Layer, InterfaceAddress, IpAddress>::RemoveAddress(uint32_t interface,
                                                                 IpAddress address)
{
    for (uint32_t i = 0; i < this->GetNAddresses(interface); ++i)
    {
        if (AddressOf(this->GetAddress(interface, i)) == address)
        {
            return RemoveAddress(interface, i);
        }
    }
    return false;
}

template <class Layer, class InterfaceAddress, class IpAddress>
void
KernelIpLayer<Layer, InterfaceAddress, IpAddress>::SetUp(uint32_t interface)
{
    Layer::SetUp(interface);
    if (auto kernel = GetKernel())
    {
        kernel->UpChanged(this->GetNetDevice(interface));
    }
}

template <class Layer, class InterfaceAddress, class IpAddress>
void
KernelIpLayer<Layer, InterfaceAddress, IpAddress>::SetDown(uint32_t interface)
{
    Layer::SetDown(interface);
    if (auto kernel = GetKernel())
    {
        kernel->UpChanged(this->GetNetDevice(interface));
    }
}

template <class Layer, class InterfaceAddress, class IpAddress>
void
KernelIpLayer<Layer, InterfaceAddress, IpAddress>::SetForwarding(uint32_t interface, bool on)
{
    Layer::SetForwarding(interface, on);
    if (auto kernel = GetKernel())
    {
        kernel->ForwardingChanged(this->GetNetDevice(interface));
    }
}

template class KernelIpLayer<Ipv4L3Protocol, Ipv4InterfaceAddress, Ipv4Address>;
template class KernelIpLayer<Ipv6L3Protocol, Ipv6InterfaceAddress, Ipv6Address>;

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
        PassOn(interface, address);
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
    // The kernel creates the same link-local address itself.
    if (added && !address.GetAddress().IsLinkLocal())
    {
        PassOn(interface, address);
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

// Replaces that of Icmpv6L4Protocol, which sends through ns-3's IPv6 layer.
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
    // Icmpv6L4Protocol's own does nothing once there is a node.
    Icmpv6L4Protocol::NotifyNewAggregate();
}

} // namespace ns3
