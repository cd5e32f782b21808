/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_IP_H
#define VIADUCT_KERNEL_IP_H

#include "ns3/icmpv6-l4-protocol.h"
#include "ns3/ipv4-interface-address.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv6-interface-address.h"
#include "ns3/ipv6-l3-protocol.h"

#include <cstdint>

namespace ns3
{

class KernelNode;

/**
 * @ingroup viaduct
 * @brief The common part of the IP layers of a node whose stack is a kernel. ns-3's helpers and
 * routing protocols configure and query them; they carry no packets. Changes are passed on to the
 * kernel immediately.
 * @tparam Layer Ipv4L3Protocol or Ipv6L3Protocol
 * @tparam InterfaceAddress its class of interfaces' addresses
 * @tparam IpAddress its class of addresses
 */
template <class Layer, class InterfaceAddress, class IpAddress>
class KernelIpLayer : public Layer
{
  public:
    // Inherited from Layer
    uint32_t AddInterface(Ptr<NetDevice> device) override;
    bool RemoveAddress(uint32_t interface, uint32_t addressIndex) override;
    bool RemoveAddress(uint32_t interface, IpAddress address) override;
    void SetUp(uint32_t interface) override;
    void SetDown(uint32_t interface) override;
    void SetForwarding(uint32_t interface, bool on) override;

  protected:
    /**
     * @param interface the interface with the new address
     * @param address the new address
     */
    void PassOn(uint32_t interface, const InterfaceAddress& address);

  private:
    Ptr<KernelNode> GetKernel() const;
};

extern template class KernelIpLayer<Ipv4L3Protocol, Ipv4InterfaceAddress, Ipv4Address>;
extern template class KernelIpLayer<Ipv6L3Protocol, Ipv6InterfaceAddress, Ipv6Address>;

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
 * @brief The ICMPv6 protocol that ns-3's IPv6 layer expects, on a node whose stack is a kernel: it
 * sends nothing, not even router solicitations.
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
