/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "kernel-ip.h"

#include "kernel-calendar.h"
#include "kernel-node.h"
#include "wire-conversion.h"

#include "ns3/loopback-net-device.h"

#include "base/error.h"

namespace ns3
{

using viaduct::wire::IpPrefix;
using wireconversion::ToWire;

NS_OBJECT_ENSURE_REGISTERED(KernelIpv4);
NS_OBJECT_ENSURE_REGISTERED(KernelIpv6);

namespace
{

IpPrefix
ToPrefix(const Ipv4InterfaceAddress& address)
{
    return {ToWire(address.GetLocal()), address.GetMask().GetPrefixLength()};
}

IpPrefix
ToPrefix(const Ipv6InterfaceAddress& address)
{
    return {ToWire(address.GetAddress()), address.GetPrefix().GetPrefixLength()};
}

/** A kernel's devices are known when it boots. */
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

TypeId
KernelIpv4::GetTypeId()
{
    static TypeId tid = TypeId("ns3::KernelIpv4")
                            .SetParent<Ipv4L3Protocol>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<KernelIpv4>();
    return tid;
}

Ptr<KernelNode>
KernelIpv4::GetKernel() const
{
    return GetObject<KernelNode>();
}

uint32_t
KernelIpv4::AddInterface(Ptr<NetDevice> device)
{
    CheckNotBooted(GetKernel(), device);
    return Ipv4L3Protocol::AddInterface(device);
}

bool
KernelIpv4::AddAddress(uint32_t interface, Ipv4InterfaceAddress address)
{
    const bool added = Ipv4L3Protocol::AddAddress(interface, address);
    if (auto kernel = GetKernel(); kernel && added)
    {
        kernel->AddressAdded(GetNetDevice(interface), ToPrefix(address));
    }
    return added;
}

bool
KernelIpv4::RemoveAddress(uint32_t interface, uint32_t addressIndex)
{
    const IpPrefix prefix = ToPrefix(GetAddress(interface, addressIndex));
    const bool removed = Ipv4L3Protocol::RemoveAddress(interface, addressIndex);
    if (auto kernel = GetKernel(); kernel && removed)
    {
        kernel->AddressRemoved(GetNetDevice(interface), prefix);
    }
    return removed;
}

bool
KernelIpv4::RemoveAddress(uint32_t interface, Ipv4Address address)
{
    for (uint32_t i = 0; i < GetNAddresses(interface); ++i)
    {
        if (GetAddress(interface, i).GetLocal() == address)
        {
            return RemoveAddress(interface, i);
        }
    }
    return false;
}

void
KernelIpv4::SetUp(uint32_t interface)
{
    Ipv4L3Protocol::SetUp(interface);
    if (auto kernel = GetKernel())
    {
        kernel->UpChanged(GetNetDevice(interface));
    }
}

void
KernelIpv4::SetDown(uint32_t interface)
{
    Ipv4L3Protocol::SetDown(interface);
    if (auto kernel = GetKernel())
    {
        kernel->UpChanged(GetNetDevice(interface));
    }
}

void
KernelIpv4::SetForwarding(uint32_t interface, bool on)
{
    Ipv4L3Protocol::SetForwarding(interface, on);
    if (auto kernel = GetKernel())
    {
        kernel->ForwardingChanged(GetNetDevice(interface), false, on);
    }
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

Ptr<KernelNode>
KernelIpv6::GetKernel() const
{
    return GetObject<KernelNode>();
}

uint32_t
KernelIpv6::AddInterface(Ptr<NetDevice> device)
{
    CheckNotBooted(GetKernel(), device);
    return Ipv6L3Protocol::AddInterface(device);
}

bool
KernelIpv6::AddAddress(uint32_t interface, Ipv6InterfaceAddress address, bool addOnLinkRoute)
{
    const bool added = Ipv6L3Protocol::AddAddress(interface, address, addOnLinkRoute);
    auto kernel = GetKernel();
    if (kernel && added && !address.GetAddress().IsLinkLocal())
    {
        kernel->AddressAdded(GetNetDevice(interface), ToPrefix(address));
    }
    return added;
}

bool
KernelIpv6::RemoveAddress(uint32_t interface, uint32_t addressIndex)
{
    const IpPrefix prefix = ToPrefix(GetAddress(interface, addressIndex));
    const bool removed = Ipv6L3Protocol::RemoveAddress(interface, addressIndex);
    if (auto kernel = GetKernel(); kernel && removed)
    {
        kernel->AddressRemoved(GetNetDevice(interface), prefix);
    }
    return removed;
}

bool
KernelIpv6::RemoveAddress(uint32_t interface, Ipv6Address address)
{
    for (uint32_t i = 0; i < GetNAddresses(interface); ++i)
    {
        if (GetAddress(interface, i).GetAddress() == address)
        {
            return RemoveAddress(interface, i);
        }
    }
    return false;
}

void
KernelIpv6::SetUp(uint32_t interface)
{
    Ipv6L3Protocol::SetUp(interface);
    if (auto kernel = GetKernel())
    {
        kernel->UpChanged(GetNetDevice(interface));
    }
}

void
KernelIpv6::SetDown(uint32_t interface)
{
    Ipv6L3Protocol::SetDown(interface);
    if (auto kernel = GetKernel())
    {
        kernel->UpChanged(GetNetDevice(interface));
    }
}

void
KernelIpv6::SetForwarding(uint32_t interface, bool on)
{
    Ipv6L3Protocol::SetForwarding(interface, on);
    if (auto kernel = GetKernel())
    {
        kernel->ForwardingChanged(GetNetDevice(interface), true, on);
    }
}

} // namespace ns3
