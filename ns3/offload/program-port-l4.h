/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_PROGRAM_PORT_L4_H
#define VIADUCT_PROGRAM_PORT_L4_H

#include "ns3/ip-l4-protocol.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv6-route.h"

#include <functional>
#include <vector>

namespace ns3
{

class ProgramPort;

/**
 * @ingroup viaduct
 * @brief Wraps a transport protocol of a node: packets that no ns-3 socket claims go to programs.
 *
 * TCP must handle a segment before it is known whether TCP has an end point for the segment:
 * without an end point, TCP returns RX_ENDPOINT_CLOSED and sends a reset. So packets that TCP sends
 * while it handles a segment are held back until TCP has returned, and the reset is discarded.
 *
 * ICMPv6 is not wrapped: Ipv6Interface casts the protocol with ICMPv6's number to Icmpv6L4Protocol
 * (ipv6-interface.cc). ProgramPort reads ICMPv6 messages in addition to Icmpv6L4Protocol.
 */
class ProgramPortL4 : public IpL4Protocol
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    /**
     * @param port receives the packets that ns-3 does not claim; must outlive the use of this
     * object
     * @param inner the wrapped protocol; null if ns-3 has none
     * @param number IP protocol number
     */
    ProgramPortL4(ProgramPort* port, Ptr<IpL4Protocol> inner, int number);

    // Inherited from IpL4Protocol
    int GetProtocolNumber() const override
    {
        return m_number;
    }

    RxStatus Receive(Ptr<Packet> p,
                     const Ipv4Header& header,
                     Ptr<Ipv4Interface> incomingInterface) override;
    RxStatus Receive(Ptr<Packet> p,
                     const Ipv6Header& header,
                     Ptr<Ipv6Interface> incomingInterface) override;
    void SetDownTarget(DownTargetCallback cb) override
    {
        m_down = cb;
    }

    void SetDownTarget6(DownTargetCallback6 cb) override
    {
        m_down6 = cb;
    }

    DownTargetCallback GetDownTarget() const override
    {
        return m_down;
    }

    DownTargetCallback6 GetDownTarget6() const override
    {
        return m_down6;
    }

  protected:
    void DoDispose() override;

  private:
    /** The result of offering a packet to ns-3. */
    struct Claim
    {
        bool programs;   //!< whether the programs get the packet
        RxStatus status; //!< the result that the IP layer gets
    };

    /** Implements Receive() for both versions of IP; @p toMany: whether the destination is not a
     * unicast address. */
    template <typename Header, typename Interface>
    RxStatus ReceiveAny(Ptr<Packet> p, const Header& header, Ptr<Interface> interface, bool toMany);
    /** Offers a packet to ns-3's own sockets; @p p is the packet without the IP header. */
    template <typename Header, typename Interface>
    Claim Offer(Ptr<Packet> p, const Header& header, Ptr<Interface> interface, bool toMany);
    /** Offers a segment to ns-3's TCP. @return TCP's result */
    template <typename Header, typename Interface>
    RxStatus OfferToTcp(Ptr<Packet> p, const Header& header, Ptr<Interface> interface);
    /** @return a down target that calls @p target, a member of this object. While TCP handles a
     * received segment, the down target holds back the packets that TCP sends */
    template <typename... Args>
    Callback<void, Args...> Holding(const Callback<void, Args...>& target);

    ProgramPort* m_port;                       //!< receives unclaimed packets
    Ptr<IpL4Protocol> m_inner;                 //!< the wrapped protocol of ns-3; null: none
    int m_number;                              //!< IP protocol number
    DownTargetCallback m_down;                 //!< TCP's down target for IPv4
    DownTargetCallback6 m_down6;               //!< TCP's down target for IPv6
    bool m_holding = false;                    //!< whether TCP is receiving a segment
    std::vector<std::function<void()>> m_held; //!< functions that send held packets
};

} // namespace ns3

#endif /* VIADUCT_PROGRAM_PORT_L4_H */
