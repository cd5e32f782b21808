/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_IP_H
#define VIADUCT_KERNEL_IP_H

#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv6-l3-protocol.h"

/**
 * @file
 * @ingroup viaduct
 * ns3::KernelIpv4 and ns3::KernelIpv6 declarations.
 */

namespace ns3
{

class KernelNode;

/**
 * @ingroup viaduct
 * @brief The IPv4 layer of a node whose stack is a kernel: what ns-3's helpers and routing
 * protocols set and ask; carries no packets. Changes are passed on to the kernel when they are
 * made.
 */
class KernelIpv4 : public Ipv4L3Protocol
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    // Inherited from Ipv4L3Protocol
    uint32_t AddInterface(Ptr<NetDevice> device) override;
    bool AddAddress(uint32_t interface, Ipv4InterfaceAddress address) override;
    bool RemoveAddress(uint32_t interface, uint32_t addressIndex) override;
    bool RemoveAddress(uint32_t interface, Ipv4Address address) override;
    void SetUp(uint32_t interface) override;
    void SetDown(uint32_t interface) override;
    void SetForwarding(uint32_t interface, bool on) override;

  private:
    Ptr<KernelNode> GetKernel() const;
};

/**
 * @ingroup viaduct
 * @brief The same for IPv6.
 */
class KernelIpv6 : public Ipv6L3Protocol
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    // Inherited from Ipv6L3Protocol
    uint32_t AddInterface(Ptr<NetDevice> device) override;
    bool AddAddress(uint32_t interface,
                    Ipv6InterfaceAddress address,
                    bool addOnLinkRoute = true) override;
    bool RemoveAddress(uint32_t interface, uint32_t addressIndex) override;
    bool RemoveAddress(uint32_t interface, Ipv6Address address) override;
    void SetUp(uint32_t interface) override;
    void SetDown(uint32_t interface) override;
    void SetForwarding(uint32_t interface, bool on) override;

  private:
    Ptr<KernelNode> GetKernel() const;
};

} // namespace ns3

#endif // VIADUCT_KERNEL_IP_H
