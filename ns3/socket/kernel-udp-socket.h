/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_UDP_SOCKET_H
#define VIADUCT_KERNEL_UDP_SOCKET_H

#include "ns3/socket/kernel-socket-mixin.h"

#include "ns3/udp-socket.h"

#include <vector>

namespace ns3
{
/**
 * @ingroup viaduct
 * @brief A UDP socket of the node's kernel.
 *
 * A datagram that does not fit in the kernel's buffer waits; with more than 128 KiB waiting, Send()
 * fails with ERROR_AGAIN. An interface is named by its number in the node's Ipv4 or Ipv6 object;
 * interface 0 in MulticastJoinGroup, where ns-3's sockets ignore the interface, leaves the choice
 * to the kernel's routes.
 */
class KernelUdpSocket : public KernelSocketMixin<UdpSocket, KernelUdpSocket>
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    KernelUdpSocket();

    using KernelSocketMixin::Bind;
    /**
     * Binds the socket. A socket that is bound to a group also joins the group on all interfaces.
     * ns-3 delivers packets to a group even if no socket has joined the group, and routing
     * protocols (RIP, RIPng) rely on this behaviour; a kernel drops such packets.
     */
    int Bind(const Address& address) override;

    int MulticastJoinGroup(uint32_t interface, const Address& group) override
    {
        return ChangeGroup(interface, group, true);
    }

    int MulticastLeaveGroup(uint32_t interface, const Address& group) override
    {
        return ChangeGroup(interface, group, false);
    }

    using Socket::Ipv6JoinGroup;
    void Ipv6JoinGroup(Ipv6Address address,
                       Socket::Ipv6MulticastFilterMode filterMode,
                       std::vector<Ipv6Address> sourceAddresses) override;
    void Ipv6LeaveGroup() override;

  private:
    void SetRcvBufSize(uint32_t size) override
    {
        Core().SetReceiveBuffer(size);
    }

    uint32_t GetRcvBufSize() const override
    {
        return Core().GetReceiveBuffer();
    }

    void SetIpMulticastTtl(uint8_t ttl) override
    {
        Core().GroupOptions().hops = ttl;
    }

    uint8_t GetIpMulticastTtl() const override
    {
        return Core().GroupOptions().hops;
    }

    void SetIpMulticastIf(int32_t interface) override
    {
        Core().GroupOptions().interface = interface;
    }

    int32_t GetIpMulticastIf() const override
    {
        return Core().GroupOptions().interface;
    }

    void SetIpMulticastLoop(bool loop) override
    {
        Core().GroupOptions().loop = loop;
    }

    bool GetIpMulticastLoop() const override
    {
        return Core().GroupOptions().loop;
    }

    void SetMtuDiscover(bool discover) override;
    bool GetMtuDiscover() const override
    {
        return m_mtuDiscover;
    }

    int BindToGroup(const Ipv4Address& group, const Address& address);
    int BindToGroup(const Ipv6Address& group, uint16_t port);
    int ChangeGroup(uint32_t interface, const Address& group, bool join);

    bool m_mtuDiscover{false}; //!< attribute MtuDiscover
};

} // namespace ns3

#endif /* VIADUCT_KERNEL_UDP_SOCKET_H */
