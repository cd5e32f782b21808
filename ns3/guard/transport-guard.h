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
 * @brief Receives packets in place of a node's UDP, TCP and ICMP and drops those that ns-3 cannot
 * read (IsReadableSegment(), IsReadableDatagram()): any sender on a real network can send them, and
 * they would end the simulator.
 *
 * After segments that may start it, TCP's timer for windows of zero is made to do nothing without
 * data (ns3access::ProbeOnlyWithData()): a lone RST to a listening port would end the simulator.
 *
 * The guard is after reassembly, so fragments do not bypass it. Datagrams for a port that no socket
 * of ns-3 is bound to are a program's: the guard checks only their header. ICMPv6 has no guard, as
 * Ipv6Interface casts the object that it finds under that number (ipv6-interface.cc): see
 * IsParsable(). Advertisements of real neighbours that ICMPv6 does not understand are passed to it
 * by TakeAdvertisementsWithoutAddress().
 */
class TransportGuard : public IpL4Protocol
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    /**
     * Installs guards for the UDP, TCP and ICMP of a node, on its present interfaces.
     * @param node the node; no effect without UDP
     * @return the guard of UDP; null without UDP
     */
    static Ptr<TransportGuard> Install(Ptr<Node> node);

    /**
     * Installs guards unless the node's UDP already has one (a guard or a ProgramPort).
     * @param node the node
     * @return the guard of UDP; null if none was installed
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
    /** Receive() of either IP version. */
    template <typename Header, typename Interface>
    RxStatus ReceiveAny(Ptr<Packet> p, const Header& header, Ptr<Interface> interface);
    /** @return whether to drop a packet that begins with the transport header */
    bool IsHarmful(Ptr<const Packet> segment) const;
    /** @return whether a socket of ns-3 is bound to a port */
    bool IsBound(uint16_t port) const;

    Ptr<Node> m_node;                  //!< the node
    Ptr<IpL4Protocol> m_inner;         //!< the guarded protocol
    std::shared_ptr<uint64_t> m_drops; //!< drops of all guards of the node
};

} // namespace ns3

#endif /* VIADUCT_TRANSPORT_GUARD_H */
