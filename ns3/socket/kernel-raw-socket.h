/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_RAW_SOCKET_H
#define VIADUCT_KERNEL_RAW_SOCKET_H

#include "ns3/socket/kernel-socket-mixin.h"

#include "ns3/ipv6-address.h"

#include <optional>

namespace ns3
{
/**
 * @ingroup viaduct
 * @brief A raw IPv4 or IPv6 socket of the node's kernel, with the attributes of ns-3's own raw
 * sockets.
 *
 * As in ns-3, packets arrive with their IP header in both families; the kernel does not deliver the
 * IPv6 header, so the IPv6 header is rebuilt from the kernel's metadata of the packet.
 */
class KernelRawSocket : public KernelSocketMixin<Socket, KernelRawSocket>
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    KernelRawSocket();

    using KernelSocketMixin::Bind;
    int Bind(const Address& address) override;
    /**
     * @param allow whether to allow sending to broadcast addresses; always allowed, as in ns-3
     * @return whether the request was fulfilled
     */
    bool SetAllowBroadcast(bool allow) override;
    /** @param protocol the IP protocol; must be set before any use of the socket except Bind() */
    void SetProtocol(uint16_t protocol);
    /** @return the IP protocol */
    uint16_t GetProtocol() const
    {
        return m_protocol;
    }

    /** @param types the ICMP types to drop, one bit each (ICMP_FILTER) */
    void SetIcmpFilter(uint32_t types);
    /** @return the value of SetIcmpFilter() */
    uint32_t GetIcmpFilter() const
    {
        return m_icmpFilter;
    }

    /** @param include whether sent packets include their IPv4 header (IP_HDRINCL) */
    void SetHeaderInclude(bool include);
    /** @return the value of SetHeaderInclude() */
    bool GetHeaderInclude() const
    {
        return m_headerInclude;
    }

  protected:
    void NotifyConstructionCompleted() override;

  private:
    bool IsForGroup(const KernelSocketCore::Data& data) const;
    void AddIpv6Header(Ptr<Packet> packet, const KernelSocketCore::Data& data) const;

    uint16_t m_protocol{0};             //!< attribute Protocol
    uint32_t m_icmpFilter{0};           //!< attribute IcmpFilter
    bool m_headerInclude{false};        //!< attribute IpHeaderInclude
    Address m_bindAddress;              //!< argument of Bind(), kept until a protocol is set
    std::optional<Ipv6Address> m_group; //!< the only accepted destination, if set
};

} // namespace ns3

#endif /* VIADUCT_KERNEL_RAW_SOCKET_H */
