/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_UDP_GUARD_H
#define VIADUCT_UDP_GUARD_H

#include "ns3/ip-l4-protocol.h"
#include "ns3/node.h"

#include <cstdint>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief Stands before a node's UDP and drops the datagrams that ns-3's routing protocols cannot
 * read (IsReadableDatagram()): anybody on a real network can send them, and they would end the
 * simulator.
 *
 * It is after reassembly, so fragments do not pass it by. Datagrams for a port that no socket of
 * ns-3 is bound to are not its concern: they are a program's.
 */
class UdpGuard : public IpL4Protocol
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    /**
     * Put a guard before the UDP of a node, on the interfaces that it has now.
     * @param node the node; without UDP nothing is done
     * @return the guard; null without UDP
     */
    static Ptr<UdpGuard> Install(Ptr<Node> node);

    /** @return how many datagrams were dropped */
    uint64_t GetDrops() const
    {
        return m_drops;
    }

    // Inherited from IpL4Protocol
    int GetProtocolNumber() const override;
    RxStatus Receive(Ptr<Packet> p,
                     const Ipv4Header& header,
                     Ptr<Ipv4Interface> interface) override;
    RxStatus Receive(Ptr<Packet> p,
                     const Ipv6Header& header,
                     Ptr<Ipv6Interface> interface) override;
    void SetDownTarget(DownTargetCallback cb) override;
    void SetDownTarget6(DownTargetCallback6 cb) override;
    DownTargetCallback GetDownTarget() const override;
    DownTargetCallback6 GetDownTarget6() const override;

  protected:
    void DoDispose() override;

  private:
    /** Receive() of either IP version. */
    template <typename Header, typename Interface>
    RxStatus ReceiveAny(Ptr<Packet> p, const Header& header, Ptr<Interface> interface);
    /** @return whether to drop this datagram, which begins with the UDP header */
    bool IsHarmful(Ptr<const Packet> datagram) const;
    /** @return whether a socket of ns-3 is bound to a port */
    bool IsBound(uint16_t port) const;

    Ptr<Node> m_node;          //!< the node
    Ptr<IpL4Protocol> m_inner; //!< its UDP
    uint64_t m_drops{0};       //!< datagrams dropped
};

} // namespace ns3

#endif /* VIADUCT_UDP_GUARD_H */
