/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_PROGRAM_PORT_H
#define VIADUCT_PROGRAM_PORT_H

#include "ns3/base/drop-counter.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv6-header.h"
#include "ns3/node.h"
#include "ns3/object.h"
#include "ns3/packet.h"
#include "ns3/reactor/burst-port.h"
#include "ns3/traced-callback.h"

#include "port/port.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace ns3
{

class IpL4Protocol;
class Ipv4L3Protocol;
class Ipv6L3Protocol;
class NetDevice;

/**
 * @ingroup viaduct
 * @brief Connects real programs in a node's namespace to the node's simulated IP stack.
 *
 * The port carries complete IP packets (a TUN device without packet information). Packets of
 * programs are routed by the node's routing protocol with their headers unchanged; if there is no
 * route, or the packet must not be fragmented and is too long, the program gets the ICMP error.
 * Received packets that no ns-3 socket claims are passed to the programs; ns-3 then sends neither a
 * reset nor "port unreachable", because that is the task of the programs' kernel. Echo requests are
 * answered by ns-3, unless the programs are a host that has the node's addresses (attribute
 * AnswersEcho); echo replies and ICMP errors are passed to both ns-3 and the programs.
 */
class ProgramPort : public Object, private BurstPortUser
{
  public:
    /** The reason why a packet was dropped. */
    enum DropReason
    {
        FROM_PROGRAM_MALFORMED,   //!< not an IP packet, or its lengths are wrong
        FROM_PROGRAM_IP_OPTIONS,  //!< IPv4 options, which ns-3 cannot write
        FROM_PROGRAM_NO_STACK,    //!< the node has no IP stack of the packet's version
        FROM_PROGRAM_NO_ROUTE,    //!< the routing protocol has no route
        FROM_PROGRAM_TOO_LONG,    //!< longer than the device's MTU and must not be fragmented
        FROM_PROGRAM_READER_FULL, //!< the simulator read too slowly (only without the reactor)
        TO_PROGRAM_QUEUE_FULL,    //!< the port accepts no more packets
        N_DROP_REASONS
    };

    /** Sends an IP packet to the programs. */
    typedef std::function<void(std::span<const std::byte> packet)> Carrier;

    /**
     * TracedCallback signature for Drop.
     * @param [in] packet the IP packet
     * @param [in] reason the reason why the packet was dropped
     */
    typedef void (*DropTracedCallback)(Ptr<const Packet> packet, DropReason reason);

    /** @return the object TypeId */
    static TypeId GetTypeId();

    ProgramPort();

    /** Creates a program port and aggregates it to a node that has its Internet stack. The program
     * port starts with the node, or at once if the node has started, and serves the interfaces that
     * the node has at that time.
     * @param node the node
     * @param port carries IP packets, owned by the program port
     * @return the program port
     */
    static Ptr<ProgramPort> Install(Ptr<Node> node, std::unique_ptr<viaduct::io::AnyPort> port);

    /** Installs a program port without a viaduct::io::AnyPort: packets of programs arrive by
     * FromProgram().
     * @param node the node
     * @param carrier sends packets to the programs
     * @return the program port
     */
    static Ptr<ProgramPort> Install(Ptr<Node> node, const Carrier& carrier);

    /** Handles a packet of the programs, in the node's context.
     * @param bytes the IP packet; bytes that are not an IP packet are dropped and counted
     */
    void FromProgram(std::span<const std::byte> bytes);

    /** @return whether ns-3 answers echo requests (attribute AnswersEcho) */
    bool AnswersEcho() const
    {
        return m_answersEcho;
    }

    /** @return the port, owned by this object; null if there is a carrier instead */
    viaduct::io::AnyPort* GetPort() const
    {
        return m_burst.GetPort();
    }

    /**
     * @param reason a reason
     * @return the number of packets dropped for the reason
     */
    uint64_t GetDrops(DropReason reason) const;

    /**
     * @param reason a reason
     * @return the reason's name, as in "from_program_no_route"
     */
    static const char* GetDropReasonName(DropReason reason);

    /**
     * Gives a packet to the programs.
     * @param payload the packet without the IP header
     * @param header the IP header with which the packet arrived
     */
    void ToPrograms(Ptr<const Packet> payload, const Ipv4Header& header);
    /** @copydoc ToPrograms(Ptr<const Packet>,const Ipv4Header&) */
    void ToPrograms(Ptr<const Packet> payload, const Ipv6Header& header);

  protected:
    void DoInitialize() override;
    void DoDispose() override;

  private:
    // Inherited from BurstPortUser
    void HandleFrame(const viaduct::io::ReceivedFrame& frame) override;

    /** Creates a program port without a viaduct::io::AnyPort, and aggregates it to a node. */
    static Ptr<ProgramPort> MakeAt(Ptr<Node> node);
    /** Puts a ProgramPortL4 before every transport protocol of the node, and listens to ICMPv6. */
    void Intercept();
    /** Puts a ProgramPortL4 before the protocol with the given number, on every interface of an IP
     * stack. */
    template <typename Stack>
    void InterceptProtocol(Ptr<Stack> stack, int number);

    /** Gives the programs ICMPv6 errors and echo replies; ns-3 gets all ICMPv6 messages. */
    void HandleIcmpv6(const Ipv6Header& header, Ptr<const Packet> payload, uint32_t interface);

    // In functions below with a `header` parameter, `packet` does not contain the bytes of the
    // header.

    /** Routes an IPv4 packet from a program. */
    void FromProgram4(Ptr<Packet> packet);
    /** Routes an IPv6 packet from a program. */
    void FromProgram6(Ptr<Packet> packet);
    /** Gives a packet to a protocol that finds routes on demand. The protocol returns the packet
     * when it has found a route. */
    void SendWhenRouted(Ptr<Packet> packet, const Ipv4Header& header, Ptr<NetDevice> loopback);
    /**
     * Sends a packet to a multicast or broadcast address through the interfaces that have the
     * source address.
     */
    void SendToGroup(Ptr<Packet> packet, const Ipv4Header& header);
    /** Sends a packet through one interface. */
    void SendOut(Ptr<Packet> packet, const Ipv4Header& header, uint32_t interface);
    /** Sends a program an ICMP error about a packet that the program has sent. @p mtu is the MTU in
     * the error "fragmentation needed". */
    void SendUnreachable(Ptr<const Packet> packet,
                         const Ipv4Header& header,
                         uint8_t code,
                         uint16_t mtu);
    /** Sends a program the ICMPv6 error that there is no route for a packet that the program has
     * sent. */
    void SendNoRoute(Ptr<const Packet> packet, const Ipv6Header& header);
    /** Writes a packet, with its IP header, to the port or the carrier. */
    void Write(Ptr<const Packet> packet);
    /** Counts a packet as dropped. */
    void Drop(Ptr<const Packet> packet, DropReason reason);

    BurstPort m_burst{*this};    //!< the port to the programs
    Ptr<Node> m_node;            //!< the node
    Ptr<Ipv4L3Protocol> m_ipv4;  //!< the node's IPv4 stack, if any
    Ptr<Ipv6L3Protocol> m_ipv6;  //!< the node's IPv6 stack, if any
    std::vector<uint8_t> m_long; //!< buffer for a packet that is not written in the port's ring
    Carrier m_carrier;           //!< sends packets to the programs in place of the port, if set
    bool m_answersEcho = true;   //!< attribute AnswersEcho

    DropCounter<DropReason, N_DROP_REASONS> m_drops; //!< trace source Drop
    TracedCallback<Ptr<const Packet>> m_fromTrace;   //!< trace source FromProgram
    TracedCallback<Ptr<const Packet>> m_toTrace;     //!< trace source ToProgram
};

} // namespace ns3

#endif /* VIADUCT_PROGRAM_PORT_H */
