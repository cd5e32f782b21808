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
 * @brief Stands before a node's UDP, TCP and ICMP and drops what ns-3 cannot read
 * (IsReadableSegment(), IsReadableDatagram()): anybody on a real network can send it, and it would
 * end the simulator.
 *
 * After segments that may start it, TCP's timer for windows of zero is made to do nothing without
 * data (ns3access::ProbeOnlyWithData()): a lone RST to a listening port would end the simulator.
 *
 * It is after reassembly, so fragments do not pass it by. Datagrams for a port that no socket of
 * ns-3 is bound to are a program's: only their header is its concern. ICMPv6 has no guard, as
 * Ipv6Interface casts what it finds under that number (ipv6-interface.cc): see IsParsable(). The
 * answers of real neighbours that it does not understand, it is given by
 * TakeAdvertisementsWithoutAddress().
 */
class TransportGuard : public IpL4Protocol
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    /**
     * Put guards before the UDP, TCP and ICMP of a node, on the interfaces that it has now.
     * @param node the node; without UDP nothing is done
     * @return the guard of UDP; null without UDP
     */
    static Ptr<TransportGuard> Install(Ptr<Node> node);

    /**
     * The same, unless somebody (a guard, a ProgramPort) stands before the node's UDP already.
     * @param node the node
     * @return the guard of UDP; null if none was put there
     */
    static Ptr<TransportGuard> InstallUnlessGuarded(Ptr<Node> node);

    /** @return how many datagrams, segments and messages all guards of the node have dropped */
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
    /** @return whether to drop what begins with the transport header */
    bool IsHarmful(Ptr<const Packet> segment) const;
    /** @return whether a socket of ns-3 is bound to a port */
    bool IsBound(uint16_t port) const;

    Ptr<Node> m_node;                  //!< the node
    Ptr<IpL4Protocol> m_inner;         //!< the protocol that it guards
    std::shared_ptr<uint64_t> m_drops; //!< of all guards of the node
};

} // namespace ns3

#endif /* VIADUCT_TRANSPORT_GUARD_H */
