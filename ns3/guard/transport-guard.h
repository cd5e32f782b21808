/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_TRANSPORT_GUARD_H
#define VIADUCT_TRANSPORT_GUARD_H

#include "ns3/ip-l4-protocol.h"
#include "ns3/node.h"

#include <cstdint>
#include <memory>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief Receives the packets for a node's UDP, TCP or ICMP, drops packets that ns-3 cannot read
 * (IsReadableSegment(), IsReadableDatagram()), and passes all other packets to the protocol. Any
 * sender on a real network can send unreadable packets, which would end the simulator.
 *
 * TCP's persist timer probes windows of zero. After each segment that may start the timer, the
 * guard makes the timer do nothing if the socket has no data to send
 * (ns3access::ProbeOnlyWithData()). Without this change a single RST to a listening port would end
 * the simulator.
 *
 * The guard receives packets after reassembly, so fragments do not bypass the guard. Datagrams for
 * a port to which no socket of ns-3 is bound are for a program of the node: the guard checks only
 * the datagrams' headers. ICMPv6 has no guard, because Ipv6Interface casts the object that is
 * registered under ICMPv6's protocol number (ipv6-interface.cc); IsParsable() checks ICMPv6
 * messages. TakeAdvertisementsWithoutAddress() handles the advertisements of real neighbours that
 * ns-3's ICMPv6 does not understand.
 */
class TransportGuard : public IpL4Protocol
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    /**
     * Installs guards for the UDP, TCP and ICMP of a node on all current interfaces of the node.
     * Does nothing if the node has no UDP.
     * @param node the node
     * @return the guard of UDP; null if the node has no UDP
     */
    static Ptr<TransportGuard> Install(Ptr<Node> node);

    /**
     * Installs guards unless the node's UDP already has a guard (a TransportGuard or a
     * ProgramPort).
     * @param node the node
     * @return the guard of UDP; null if no guard was installed
     */
    static Ptr<TransportGuard> InstallUnlessGuarded(Ptr<Node> node);

    /** @return the number of datagrams, segments and messages dropped by all guards of the node */
    uint64_t GetDrops() const
    {
        return *m_drops;
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
    /** Implements both overloads of Receive(), for IPv4 and IPv6. */
    template <typename Header, typename Interface>
    RxStatus ReceiveAny(Ptr<Packet> p, const Header& header, Ptr<Interface> interface);
    /** @return whether the guard must drop a packet, which begins with the transport header */
    bool IsHarmful(Ptr<const Packet> segment) const;
    /** @return whether a socket of ns-3 is bound to a port */
    bool IsBound(uint16_t port) const;

    Ptr<Node> m_node;                  //!< the guarded node
    Ptr<IpL4Protocol> m_inner;         //!< the protocol that this object guards
    std::shared_ptr<uint64_t> m_drops; //!< number of packets dropped by the node's guards
};

} // namespace ns3

#endif /* VIADUCT_TRANSPORT_GUARD_H */
