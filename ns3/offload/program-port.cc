/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/offload/program-port.h"

#include "ns3/guard/frame-check.h"
#include "ns3/offload/program-port-l4.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/icmpv4.h"
#include "ns3/icmpv6-header.h"
#include "ns3/icmpv6-l4-protocol.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv4-routing-protocol.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/ipv6-route.h"
#include "ns3/ipv6-routing-protocol.h"
#include "ns3/log.h"
#include "ns3/loopback-net-device.h"
#include "ns3/routes/on-demand.h"
#include "ns3/socket.h"

#include "base/wire/ip.h"

#include <algorithm>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("ProgramPort");

NS_OBJECT_ENSURE_REGISTERED(ProgramPort);

namespace
{

namespace ip_protocol = viaduct::wire::ip_protocol;
namespace ether_type = viaduct::wire::ether_type;

constexpr uint8_t ICMP_TTL = 64;            //!< TTL of ICMP errors to programs
constexpr uint8_t NET_UNREACHABLE = 0;      //!< ICMP code of RFC 792
constexpr uint8_t FRAGMENTATION_NEEDED = 4; //!< ICMP code of RFC 1191
/// Protocols that a program may use: ICMP, IGMP, TCP, UDP, DCCP, GRE, ESP, OSPF, SCTP, UDP-Lite.
/// Packets of protocols that ns-3 does not implement, such as IGMP, go to the programs only.
constexpr std::array PROTOCOLS{1, 2, 6, 17, 33, 47, 50, 89, 132, 136};

/** @return the type of an ICMP or ICMPv6 message */
uint8_t
IcmpType(Ptr<const Packet> message)
{
    uint8_t type = 0;
    message->CopyData(&type, sizeof(type));
    return type;
}

/** @return whether ICMPv6 messages of a type are errors (RFC 4443, section 2.1) */
bool
IsIcmpv6Error(uint8_t type)
{
    constexpr uint8_t LAST_ERROR = 127;
    return type <= LAST_ERROR;
}

/** @return whether the payload of an IPv4 packet is an ICMP error (RFC 1122, section 3.2.2) */
bool
IsIcmpError(Ptr<const Packet> payload, const Ipv4Header& header)
{
    // The types of errors: destination unreachable, source quench, redirect, time exceeded,
    // parameter problem (RFC 792).
    constexpr std::array<uint8_t, 5> ERRORS{3, 4, 5, 11, 12};
    return header.GetProtocol() == ip_protocol::kIcmp &&
           std::find(ERRORS.begin(), ERRORS.end(), IcmpType(payload)) != ERRORS.end();
}

} // namespace

TypeId
ProgramPort::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::ProgramPort")
            .SetParent<Object>()
            .SetGroupName("Viaduct")
            .AddConstructor<ProgramPort>()
            .AddAttribute(
                "AnswersEcho",
                "Whether ns-3 answers echo requests. If false, the echo requests are passed to the "
                "programs, which then act as a host that has the node's addresses.",
                BooleanValue(true),
                MakeBooleanAccessor(&ProgramPort::m_answersEcho),
                MakeBooleanChecker())
            .AddTraceSource("FromProgram",
                            "An IP packet came from a program.",
                            MakeTraceSourceAccessor(&ProgramPort::m_fromTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("ToProgram",
                            "An IP packet goes to the programs.",
                            MakeTraceSourceAccessor(&ProgramPort::m_toTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("Drop",
                            "A packet was dropped. Arguments: the packet, the "
                            "reason.",
                            MakeTraceSourceAccessor(&ProgramPort::m_drops),
                            "ns3::ProgramPort::DropTracedCallback");
    return tid;
}

ProgramPort::ProgramPort()
{
    NS_LOG_FUNCTION(this);
    m_burst.SetSizes({.burst = 64, .queue = 256, .pending = 1000, .frame = 2048});
}

Ptr<ProgramPort>
ProgramPort::MakeAt(Ptr<Node> node)
{
    NS_ABORT_MSG_IF(!node->GetObject<Ipv4L3Protocol>() && !node->GetObject<Ipv6L3Protocol>(),
                    "ProgramPort: install the Internet stack on node " << node->GetId()
                                                                       << " first");
    Ptr<ProgramPort> programs = CreateObject<ProgramPort>();
    programs->m_node = node;
    node->AggregateObject(programs);
    return programs;
}

Ptr<ProgramPort>
ProgramPort::Install(Ptr<Node> node, std::unique_ptr<viaduct::io::AnyPort> port)
{
    Ptr<ProgramPort> programs = MakeAt(node);
    programs->m_burst.SetPort(std::move(port));
    if (node->IsInitialized())
    {
        programs->Initialize();
    }
    return programs;
}

Ptr<ProgramPort>
ProgramPort::Install(Ptr<Node> node, const Carrier& carrier)
{
    Ptr<ProgramPort> programs = MakeAt(node);
    programs->m_carrier = carrier;
    if (node->IsInitialized())
    {
        programs->Initialize();
    }
    return programs;
}

void
ProgramPort::DoInitialize()
{
    NS_LOG_FUNCTION(this);
    NS_ABORT_MSG_IF(!Node::ChecksumEnabled(),
                    "ProgramPort: real programs need checksums, but ns-3 does not compute "
                    "checksums; call GlobalValue::Bind(\"ChecksumEnabled\", BooleanValue(true))");
    m_ipv4 = m_node->GetObject<Ipv4L3Protocol>();
    m_ipv6 = m_node->GetObject<Ipv6L3Protocol>();
    Intercept();
    m_burst.Start(m_node->GetId());
    Object::DoInitialize();
}

void
ProgramPort::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_burst.Stop();
    m_burst.SetPort(nullptr);
    if (m_ipv6)
    {
        m_ipv6->TraceDisconnectWithoutContext("LocalDeliver",
                                              MakeCallback(&ProgramPort::HandleIcmpv6, this));
    }
    m_carrier = nullptr;
    m_node = nullptr;
    m_ipv4 = nullptr;
    m_ipv6 = nullptr;
    Object::DoDispose();
}

void
ProgramPort::Intercept()
{
    for (const int number : PROTOCOLS)
    {
        if (m_ipv4)
        {
            InterceptProtocol(m_ipv4, number);
        }
        if (m_ipv6)
        {
            InterceptProtocol(m_ipv6, number);
        }
    }
    if (m_ipv6)
    {
        m_ipv6->TraceConnectWithoutContext("LocalDeliver",
                                           MakeCallback(&ProgramPort::HandleIcmpv6, this));
    }
}

template <typename Stack>
void
ProgramPort::InterceptProtocol(Ptr<Stack> stack, int number)
{
    // The ProgramPortL4 is inserted on each interface instead of once for all interfaces, because
    // GetProtocol(number) must still return ns-3's own protocols: the IP layer calls this function
    // to find ICMP, and ICMP calls it to find the transport protocols.
    Ptr<ProgramPortL4> l4;
    for (uint32_t i = 0; i < stack->GetNInterfaces(); ++i)
    {
        Ptr<IpL4Protocol> inner = stack->GetProtocol(number, i);
        if (!l4)
        {
            l4 = CreateObject<ProgramPortL4>(this, inner, number);
        }
        stack->Insert(l4, i);
    }
}

// ---------------------------------------------------------------- packets from programs

void
ProgramPort::HandleFrame(const viaduct::io::ReceivedFrame& frame)
{
    FromProgram(frame.bytes);
}

void
ProgramPort::FromProgram(std::span<const std::byte> bytes)
{
    Ptr<Packet> packet =
        Create<Packet>(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    m_fromTrace(packet);
    if (IsParsable(ether_type::kIpv4, bytes))
    {
        if (HasIpv4Options(ether_type::kIpv4, bytes))
        {
            return Drop(packet, FROM_PROGRAM_IP_OPTIONS);
        }
        FromProgram4(packet);
    }
    else if (IsParsable(ether_type::kIpv6, bytes))
    {
        FromProgram6(packet);
    }
    else
    {
        Drop(packet, FROM_PROGRAM_MALFORMED);
    }
}

void
ProgramPort::FromProgram4(Ptr<Packet> packet)
{
    if (!m_ipv4 || !m_ipv4->GetRoutingProtocol())
    {
        return Drop(packet, FROM_PROGRAM_NO_STACK);
    }
    Ipv4Header header;
    packet->RemoveHeader(header);
    packet->RemoveAtEnd(packet->GetSize() - header.GetPayloadSize());
    header.EnableChecksum();
    const Ipv4Address destination = header.GetDestination();
    if (!m_ipv4->IsUnicast(destination))
    {
        return SendToGroup(packet, header);
    }
    if (m_ipv4->GetInterfaceForAddress(destination) >= 0)
    {
        constexpr uint32_t LOOPBACK = 0;
        return SendOut(packet, header, LOOPBACK);
    }
    Socket::SocketErrno error = Socket::ERROR_NOTERROR;
    Ptr<Ipv4Route> route =
        m_ipv4->GetRoutingProtocol()->RouteOutput(packet, header, nullptr, error);
    if (!route)
    {
        SendUnreachable(packet, header, NET_UNREACHABLE, 0);
        packet->AddHeader(header);
        return Drop(packet, FROM_PROGRAM_NO_ROUTE);
    }
    if (DynamicCast<LoopbackNetDevice>(route->GetOutputDevice()))
    {
        return SendWhenRouted(packet, header, route->GetOutputDevice());
    }
    const uint16_t mtu = route->GetOutputDevice()->GetMtu();
    if (header.IsDontFragment() && packet->GetSize() + header.GetSerializedSize() > mtu)
    {
        SendUnreachable(packet, header, FRAGMENTATION_NEEDED, mtu);
        packet->AddHeader(header);
        return Drop(packet, FROM_PROGRAM_TOO_LONG);
    }
    m_ipv4->SendWithHeader(packet, header, route);
}

void
ProgramPort::SendWhenRouted(Ptr<Packet> packet, const Ipv4Header& header, Ptr<NetDevice> loopback)
{
    const Ptr<ProgramPort> self(this);
    const bool isTaken = InputToProtocol<ipfamily::V4>(
        m_ipv4,
        packet,
        header,
        loopback,
        [self](Ptr<Ipv4Route> route, Ptr<const Packet> kept, const Ipv4Header& its) {
            if (self->m_ipv4)
            {
                self->m_ipv4->SendWithHeader(kept->Copy(), its, route);
            }
        },
        [self](Ptr<const Packet> kept) { self->Drop(kept, FROM_PROGRAM_NO_ROUTE); });
    if (!isTaken)
    {
        Drop(packet, FROM_PROGRAM_NO_ROUTE);
    }
}

void
ProgramPort::SendToGroup(Ptr<Packet> packet, const Ipv4Header& header)
{
    bool sent = false;
    for (uint32_t i = 1; i < m_ipv4->GetNInterfaces(); ++i) // interface 0 is the loopback interface
    {
        bool out = header.GetSource().IsAny();
        for (uint32_t j = 0; j < m_ipv4->GetNAddresses(i); ++j)
        {
            const Ipv4InterfaceAddress address = m_ipv4->GetAddress(i, j);
            out = out || address.GetLocal() == header.GetSource() ||
                  address.GetBroadcast() == header.GetDestination();
        }
        if (out && m_ipv4->IsUp(i))
        {
            SendOut(packet->Copy(), header, i);
            sent = true;
        }
    }
    if (!sent)
    {
        packet->AddHeader(header);
        Drop(packet, FROM_PROGRAM_NO_ROUTE);
    }
}

void
ProgramPort::SendOut(Ptr<Packet> packet, const Ipv4Header& header, uint32_t interface)
{
    Ptr<Ipv4Route> route = Create<Ipv4Route>();
    route->SetSource(header.GetSource());
    route->SetDestination(header.GetDestination());
    route->SetGateway(Ipv4Address::GetAny());
    route->SetOutputDevice(m_ipv4->GetNetDevice(interface));
    m_ipv4->SendWithHeader(packet, header, route);
}

void
ProgramPort::SendUnreachable(Ptr<const Packet> packet,
                             const Ipv4Header& header,
                             uint8_t code,
                             uint16_t mtu)
{
    if (IsIcmpError(packet, header) || header.GetFragmentOffset() != 0)
    {
        // No error is sent about an ICMP error or a later fragment (RFC 1122, section 3.2.2).
        return;
    }
    Icmpv4DestinationUnreachable unreachable;
    unreachable.SetHeader(header);
    unreachable.SetData(packet);
    unreachable.SetNextHopMtu(mtu);
    Icmpv4Header icmp;
    icmp.SetType(Icmpv4Header::ICMPV4_DEST_UNREACH);
    icmp.SetCode(code);
    icmp.EnableChecksum();
    Ptr<Packet> error = Create<Packet>();
    error->AddHeader(unreachable);
    error->AddHeader(icmp);
    Ipv4Header outer;
    outer.SetSource(header.GetSource());
    outer.SetDestination(header.GetSource());
    outer.SetProtocol(1);
    outer.SetTtl(ICMP_TTL);
    ToPrograms(error, outer);
}

void
ProgramPort::FromProgram6(Ptr<Packet> packet)
{
    if (!m_ipv6 || !m_ipv6->GetRoutingProtocol())
    {
        return Drop(packet, FROM_PROGRAM_NO_STACK);
    }
    Ipv6Header header;
    packet->RemoveHeader(header);
    packet->RemoveAtEnd(packet->GetSize() - header.GetPayloadLength());
    const Ipv6Address source = header.GetSource();
    const Ipv6Address destination = header.GetDestination();
    Ptr<Ipv6Route> route;
    const int32_t own = m_ipv6->GetInterfaceForAddress(source);
    const bool local = destination.IsLinkLocal() || destination.IsMulticast();
    if (m_ipv6->GetInterfaceForAddress(destination) >= 0)
    {
        route = Create<Ipv6Route>();
        route->SetSource(source);
        route->SetDestination(destination);
        route->SetGateway(Ipv6Address::GetZero());
        route->SetOutputDevice(m_ipv6->GetNetDevice(0));
    }
    else if (!local || own >= 0)
    {
        Ptr<NetDevice> device = local ? m_ipv6->GetNetDevice(own) : nullptr;
        Socket::SocketErrno error = Socket::ERROR_NOTERROR;
        route = m_ipv6->GetRoutingProtocol()->RouteOutput(packet, header, device, error);
    }
    if (!route)
    {
        SendNoRoute(packet, header);
        packet->AddHeader(header);
        return Drop(packet, FROM_PROGRAM_NO_ROUTE);
    }
    SocketIpv6HopLimitTag hopLimit;
    hopLimit.SetHopLimit(header.GetHopLimit());
    packet->AddPacketTag(hopLimit);
    SocketIpv6TclassTag trafficClass;
    trafficClass.SetTclass(header.GetTrafficClass());
    packet->AddPacketTag(trafficClass);
    m_ipv6->Send(packet, source, destination, header.GetNextHeader(), route);
}

void
ProgramPort::SendNoRoute(Ptr<const Packet> packet, const Ipv6Header& header)
{
    const bool aboutError =
        header.GetNextHeader() == ip_protocol::kIcmpv6 && IsIcmpv6Error(IcmpType(packet));
    if (aboutError || header.GetDestination().IsMulticast() ||
        m_ipv6->GetInterfaceForAddress(header.GetSource()) < 0)
    {
        return; // no error may be sent about the packet (RFC 4443, section 2.4 (e))
    }
    Ptr<Packet> quoted = packet->Copy();
    quoted->AddHeader(header);
    // The error is sent to an address of the node, so ns-3 delivers the error locally, to
    // HandleIcmpv6().
    m_ipv6->GetIcmpv6()->SendErrorDestinationUnreachable(
        quoted, header.GetSource(), Icmpv6Header::ICMPV6_NO_ROUTE);
}

// ---------------------------------------------------------------- packets to programs

void
ProgramPort::HandleIcmpv6(const Ipv6Header& header, Ptr<const Packet> payload, uint32_t)
{
    if (header.GetNextHeader() != ip_protocol::kIcmpv6)
    {
        return;
    }
    constexpr uint8_t ECHO_REPLY = 129;
    // ns-3's own stack handles neighbour discovery and echo requests; programs do not get these
    // messages.
    const uint8_t type = IcmpType(payload);
    if (IsIcmpv6Error(type) || type == ECHO_REPLY)
    {
        ToPrograms(payload, header);
    }
}

void
ProgramPort::ToPrograms(Ptr<const Packet> payload, const Ipv4Header& header)
{
    // The fields for fragments are reset below, because the packet may have been reassembled.
    Ipv4Header whole = header;
    whole.SetPayloadSize(payload->GetSize());
    whole.SetFragmentOffset(0);
    whole.SetLastFragment();
    whole.EnableChecksum();
    Ptr<Packet> packet = payload->Copy();
    packet->AddHeader(whole);
    Write(packet);
}

void
ProgramPort::ToPrograms(Ptr<const Packet> payload, const Ipv6Header& header)
{
    Ipv6Header whole = header;
    whole.SetPayloadLength(payload->GetSize());
    Ptr<Packet> packet = payload->Copy();
    packet->AddHeader(whole);
    Write(packet);
}

void
ProgramPort::Write(Ptr<const Packet> packet)
{
    const uint32_t length = packet->GetSize();
    m_toTrace(packet);
    if (m_carrier || length > m_burst.GetFrameSize())
    {
        m_long.resize(length);
        packet->CopyData(m_long.data(), length);
        if (m_carrier)
        {
            m_carrier(std::as_bytes(std::span(m_long)));
        }
        else if (!m_burst.SendLong({reinterpret_cast<const std::byte*>(m_long.data()), length}))
        {
            Drop(packet, TO_PROGRAM_QUEUE_FULL);
        }
        return;
    }
    const std::span<std::byte> room = m_burst.Reserve();
    if (room.empty())
    {
        return Drop(packet, TO_PROGRAM_QUEUE_FULL);
    }
    packet->CopyData(reinterpret_cast<uint8_t*>(room.data()), length);
    m_burst.Commit(length);
}

void
ProgramPort::Drop(Ptr<const Packet> packet, DropReason reason)
{
    NS_LOG_LOGIC("drop: " << GetDropReasonName(reason));
    m_drops.Drop(packet, reason);
}

uint64_t
ProgramPort::GetDrops(DropReason reason) const
{
    return m_drops.Get(reason) +
           (reason == FROM_PROGRAM_READER_FULL ? m_burst.GetReaderDrops() : 0);
}

const char*
ProgramPort::GetDropReasonName(DropReason reason)
{
    static constexpr std::array<const char*, N_DROP_REASONS> NAMES{"from_program_malformed",
                                                                   "from_program_ip_options",
                                                                   "from_program_no_stack",
                                                                   "from_program_no_route",
                                                                   "from_program_too_long",
                                                                   "from_program_reader_full",
                                                                   "to_program_queue_full"};
    return NAMES.at(reason);
}

} // namespace ns3
