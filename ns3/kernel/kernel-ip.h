/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_IP_H
#define VIADUCT_KERNEL_IP_H

#include "ns3/base/wire-conversion.h"
#include "ns3/kernel/kernel-calendar.h"
#include "ns3/kernel/kernel-node.h"

#include "ns3/icmpv6-l4-protocol.h"
#include "ns3/ipv4-interface-address.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv6-interface-address.h"
#include "ns3/ipv6-l3-protocol.h"

#include "base/error.h"

#include <cstdint>
#include <type_traits>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief The common part of the IPv4 and IPv6 layers of a node whose stack is a kernel. ns-3's
 * helpers and routing protocols configure and query the layers, which carry no packets. The layers
 * report changes to the kernel immediately.
 * @tparam Layer Ipv4L3Protocol or Ipv6L3Protocol
 * @tparam InterfaceAddress the layer's class of an interface's address
 * @tparam IpAddress the layer's class of an IP address
 */
template <class Layer, class InterfaceAddress, class IpAddress>
class KernelIpLayer : public Layer
{
  public:
    // Inherited from Layer
    uint32_t AddInterface(Ptr<NetDevice> device) override
    {
        // Devices cannot be added after the boot, because a kernel's devices are set at the boot.
        const auto kernel = this->template GetObject<KernelNode>();
        if (kernel && KernelCalendar::Get()->HasBooted() && !kernel->GetBridge(device))
        {
            throw viaduct::UsageError("an IP interface was added to kernel node " +
                                      kernel->GetName() +
                                      " while the simulation runs: add devices and assign their "
                                      "addresses before the simulation starts");
        }
        return Layer::AddInterface(device);
    }

    bool RemoveAddress(uint32_t interface, uint32_t addressIndex) override
    {
        const auto prefix = wireconversion::ToWire(this->GetAddress(interface, addressIndex));
        const bool removed = Layer::RemoveAddress(interface, addressIndex);
        if (removed)
        {
            PassOn(interface, &KernelNode::AddressRemoved, prefix);
        }
        return removed;
    }

    bool RemoveAddress(uint32_t interface, IpAddress address) override
    {
        const auto wanted = wireconversion::ToWire(address);
        for (uint32_t i = 0; i < this->GetNAddresses(interface); ++i)
        {
            if (wireconversion::ToWire(this->GetAddress(interface, i)).address == wanted)
            {
                return RemoveAddress(interface, i);
            }
        }
        return false;
    }

    void SetUp(uint32_t interface) override
    {
        Layer::SetUp(interface);
        PassOn(interface, &KernelNode::UpChanged);
    }

    void SetDown(uint32_t interface) override
    {
        Layer::SetDown(interface);
        PassOn(interface, &KernelNode::UpChanged);
    }

    void SetForwarding(uint32_t interface, bool on) override
    {
        Layer::SetForwarding(interface, on);
        const bool isIpv6 = std::is_base_of_v<Ipv6L3Protocol, Layer>;
        PassOn(interface, &KernelNode::ForwardingChanged, isIpv6);
    }

  protected:
    /** Reports a change to the node's KernelNode; does nothing if the node has no KernelNode.
     * @param interface the interface that was changed
     * @param change the function of KernelNode that is called
     * @param what the function's arguments after the device
     */
    template <class Change, class... What>
    void PassOn(uint32_t interface, Change change, const What&... what)
    {
        if (const auto kernel = this->template GetObject<KernelNode>())
        {
            (*kernel.*change)(this->GetNetDevice(interface), what...);
        }
    }
};

/** @ingroup viaduct @brief The IPv4 layer of a node whose stack is a kernel. */
class KernelIpv4 : public KernelIpLayer<Ipv4L3Protocol, Ipv4InterfaceAddress, Ipv4Address>
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    // Inherited from Ipv4L3Protocol
    bool AddAddress(uint32_t interface, Ipv4InterfaceAddress address) override;
};

/** @ingroup viaduct @brief The IPv6 layer of a node whose stack is a kernel. */
class KernelIpv6 : public KernelIpLayer<Ipv6L3Protocol, Ipv6InterfaceAddress, Ipv6Address>
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    // Inherited from Ipv6L3Protocol
    bool AddAddress(uint32_t interface,
                    Ipv6InterfaceAddress address,
                    bool addOnLinkRoute = true) override;
};

/**
 * @ingroup viaduct
 * @brief The ICMPv6 protocol that ns-3's IPv6 layer expects, for a node whose stack is a kernel.
 * The protocol sends nothing, not even router solicitations.
 */
class KernelIcmpv6 : public Icmpv6L4Protocol
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

  protected:
    void NotifyNewAggregate() override;
};

} // namespace ns3

#endif // VIADUCT_KERNEL_IP_H
