/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/offload/upcall-port.h"

#include "ns3/routes/on-demand.h"

#include "ns3/guard/frame-check.h"
#include "ns3/payload/held-payloads.h"
#include "ns3/reactor/reactor-simulator-impl.h"

#include "ns3/ipv4-l3-protocol.h"
#include "ns3/log.h"
#include "ns3/loopback-net-device.h"

#include "base/error.h"
#include "base/wire/ethernet.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("UpcallPort");

NS_OBJECT_ENSURE_REGISTERED(UpcallPort);

namespace
{

namespace wire = viaduct::wire;

constexpr size_t BURST = 64;

bool
IsLoopback(Ptr<const NetDevice> device)
{
    return DynamicCast<const LoopbackNetDevice>(device) != nullptr;
}

template <class Family>
constexpr uint16_t
EtherTypeOf()
{
    return Family::FAMILY == wire::Family::kIpv4 ? wire::ether_type::kIpv4
                                                 : wire::ether_type::kIpv6;
}

template <class Family>
Ptr<typename Family::Route>
AskProtocol(Ptr<Node> node, Ptr<Packet> packet, const typename Family::Header& header)
{
    Socket::SocketErrno error = Socket::ERROR_NOTERROR;
    const auto protocol = node->GetObject<typename Family::Layer>()->GetRoutingProtocol();
    return protocol->RouteOutput(packet, header, nullptr, error);
}

/** @return the packet without its IP header and without trailing bytes; the header is stored in @p
 * header */
template <class Family>
Ptr<Packet>
TakePacket(std::span<const std::byte> bytes, typename Family::Header& header)
{
    auto packet = Create<Packet>(reinterpret_cast<const uint8_t*>(bytes.data()),
                                 static_cast<uint32_t>(bytes.size()));
    packet->RemoveHeader(header);
    if constexpr (Family::FAMILY == wire::Family::kIpv4)
    {
        packet->RemoveAtEnd(packet->GetSize() - header.GetPayloadSize());
        header.EnableChecksum();
    }
    else
    {
        packet->RemoveAtEnd(packet->GetSize() - header.GetPayloadLength());
    }
    return packet;
}

/** @return whether an address is a unicast address, to which a protocol may have a route */
bool
IsUnicast(Ptr<Node> node, const Ipv4Address& address)
{
    return node->GetObject<Ipv4L3Protocol>()->IsUnicast(address);
}

bool
IsUnicast(Ptr<Node>, const Ipv6Address& address)
{
    return !address.IsMulticast() && !address.IsLinkLocal();
}

} // namespace

TypeId
UpcallPort::GetTypeId()
{
    static TypeId tid = TypeId("ns3::UpcallPort")
                            .SetParent<Object>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<UpcallPort>();
    return tid;
}

void
UpcallPort::SetNode(Ptr<Node> node, std::unique_ptr<Kernel> kernel)
{
    m_node = node;
    m_kernel = std::move(kernel);
}

void
UpcallPort::AddInterface(Ptr<NetDevice> device, const std::string& name)
{
    m_names[device] = name;
}

void
UpcallPort::Start()
{
    std::set<wire::Family> families;
    const auto add = [&]<class Family>(Family) {
        if (FindsRoutesOnDemand<Family>(m_node) || MayFindRoutesOnDemand<Family>(m_node))
        {
            families.insert(Family::FAMILY);
        }
    };
    add(ipfamily::V4());
    add(ipfamily::V6());
    if (families.empty())
    {
        return;
    }
    m_port = m_kernel->Open(families);
    m_families = families;
    for (const auto& [device, name] : m_names)
    {
        m_devices[m_kernel->IfIndexOf(name)] = device;
    }
    if (!m_port)
    {
        return;
    }
    Ptr<ReactorSimulatorImpl> reactor = ReactorSimulatorImpl::Get();
    if (!reactor)
    {
        throw viaduct::UsageError("a routing protocol that finds routes on demand requires "
                                  "ns3::ReactorSimulatorImpl when the kernel forwards packets: set "
                                  "the global value SimulatorImplementationType to "
                                  "ns3::ReactorSimulatorImpl");
    }
    m_burst.resize(BURST);
    m_pollable =
        reactor->AddPollable(m_port->fd(), Callback<bool>([this, reactor] {
                                 reactor->AdvanceToRealTime();
                                 bool any = false;
                                 reactor->RunInContext(m_node->GetId(), [&] { any = Receive(); });
                                 return any;
                             }));
}

void
UpcallPort::DoDispose()
{
    if (Ptr<ReactorSimulatorImpl> reactor = m_port ? ReactorSimulatorImpl::Get() : nullptr)
    {
        reactor->RemovePollable(m_pollable);
    }
    m_port = nullptr;
    m_kernel = nullptr;
    m_routed = nullptr;
    m_decided = nullptr;
    m_dependence.Clear();
    m_names.clear();
    m_devices.clear();
    m_node = nullptr;
    Object::DoDispose();
}

void
UpcallPort::Drain()
{
    // Packets that are passed up after MAX_BURSTS bursts have no route; a later Receive() handles
    // these packets.
    constexpr int MAX_BURSTS = 64;
    for (int i = 0; i < MAX_BURSTS && m_port && Receive(); i++)
    {
    }
}

bool
UpcallPort::Receive()
{
    const size_t count = m_port->Receive(m_burst);
    for (size_t i = 0; i < count; i++)
    {
        HandleFrame(m_burst[i].bytes);
    }
    return count > 0;
}

void
UpcallPort::HandleFrame(std::span<std::byte> frame)
{
    const auto upcall = viaduct::bpf::ReadUpcall(frame);
    if (!upcall)
    {
        return m_drops.Count(MALFORMED);
    }
    Take(*upcall);
}

void
UpcallPort::Take(const viaduct::bpf::Upcall& upcall)
{
    if (upcall.packet.empty())
    {
        return m_drops.Count(MALFORMED);
    }
    constexpr int IPV6 = 6;
    if (wire::Load8(upcall.packet.data()) >> 4 == IPV6)
    {
        return HandlePacket<ipfamily::V6>(upcall);
    }
    HandlePacket<ipfamily::V4>(upcall);
}

template <class Family>
void
UpcallPort::HandlePacket(const viaduct::bpf::Upcall& upcall)
{
    typename Family::Header header;
    constexpr uint16_t TYPE = EtherTypeOf<Family>();
    if (upcall.packet.size() < header.GetSerializedSize() || !IsParsable(TYPE, upcall.packet) ||
        HasIpv4Options(TYPE, upcall.packet))
    {
        return m_drops.Count(MALFORMED);
    }
    const Ptr<Packet> packet = TakePacket<Family>(upcall.packet, header);
    const Ptr<NetDevice> from = DeviceOf(upcall.ifindex);
    if (upcall.is_copy)
    {
        m_counters.copies.Add(upcall.packet.size());
        HandleCopy<Family>(packet, header, from);
    }
    else
    {
        m_counters.missed.Add(upcall.packet.size());
        HandleMissed<Family>(packet, header, from);
    }
}

Ptr<NetDevice>
UpcallPort::DeviceOf(int ifindex) const
{
    const auto device = m_devices.find(ifindex);
    return device == m_devices.end() ? nullptr : device->second;
}

template <class Family>
void
UpcallPort::HandleMissed(Ptr<Packet> packet, typename Family::Header header, Ptr<NetDevice> from)
{
    if (!IsUnicast(m_node, header.GetDestination()))
    {
        return Drop(packet, NOT_UNICAST);
    }
    if (from)
    {
        // Restores the TTL with which the packet arrived, before the kernel counted this hop.
        (header.*Family::SetHops)(static_cast<uint8_t>((header.*Family::GetHops)() + 1));
        return InputMissed<Family>(packet, header, from);
    }
    const Original original{wireconversion::ToWire(header.GetDestination()), packet->GetSize()};
    const auto route = AskProtocol<Family>(m_node, packet, header);
    if (!route)
    {
        Decide<Family>(original.destination, nullptr);
        return Drop(packet, NO_ROUTE);
    }
    if (IsLoopback(route->GetOutputDevice()))
    {
        return InputMissed<Family>(packet, header, route->GetOutputDevice());
    }
    Send<Family>(route, packet, header, original);
}

template <class Route>
PacketDependence::Hop
HopOf(Ptr<Route> route)
{
    if (!route || IsLoopback(route->GetOutputDevice()))
    {
        return {};
    }
    return {wireconversion::ToWire(route->GetGateway()), route->GetOutputDevice()};
}

template <class Family>
void
UpcallPort::Decide(const wire::IpAddress& destination, Ptr<typename Family::Route> route)
{
    const bool isRouted = route && !IsLoopback(route->GetOutputDevice());
    if (m_decided)
    {
        m_decided(destination,
                  isRouted ? wireconversion::ToWire(route->GetGateway())
                           : wire::IpAddress{Family::FAMILY, {}},
                  isRouted ? route->GetOutputDevice() : nullptr);
    }
}

template <class Family>
void
UpcallPort::InputMissed(Ptr<Packet> packet,
                        const typename Family::Header& header,
                        Ptr<NetDevice> from)
{
    const Ptr<UpcallPort> self(this); // keeps this object alive while the protocol keeps the packet
    const Original original{wireconversion::ToWire(header.GetDestination()), packet->GetSize()};
    const bool isTaken = InputToProtocol<Family>(
        m_node->GetObject<typename Family::Layer>(),
        packet,
        header,
        from,
        [self, original](Ptr<typename Family::Route> route,
                         Ptr<const Packet> kept,
                         const typename Family::Header& its) {
            self->Send<Family>(route, kept, its, original);
        },
        [self](Ptr<const Packet> kept) { self->Drop(kept, NO_ROUTE); });
    if (!isTaken)
    {
        Drop(packet, NO_ROUTE);
    }
}

template <class Family>
std::pair<bool, Ptr<typename Family::Route>>
UpcallPort::AskAboutCopy(Ptr<Packet> packet,
                         const typename Family::Header& header,
                         Ptr<NetDevice> from)
{
    if (!from)
    {
        const auto route = AskProtocol<Family>(m_node, packet, header);
        return {route && !IsLoopback(route->GetOutputDevice()), route};
    }
    // A protocol that keeps the copy may answer after this function has returned: a late answer is
    // a decision, too.
    const Ptr<UpcallPort> self(this);
    const auto answer = std::make_shared<std::optional<Ptr<typename Family::Route>>>(nullptr);
    const auto destination = wireconversion::ToWire(header.GetDestination());
    const bool isTaken = InputToProtocol<Family>(
        m_node->GetObject<typename Family::Layer>(),
        packet,
        header,
        from,
        [self, answer, destination](
            Ptr<typename Family::Route> route, Ptr<const Packet>, const typename Family::Header&) {
            if (*answer)
            {
                *answer = route;
            }
            else
            {
                self->Decide<Family>(destination, route);
            }
        },
        [](Ptr<const Packet>) {});
    const Ptr<typename Family::Route> route = **answer;
    answer->reset();
    return {isTaken, route};
}

template <class Family>
void
UpcallPort::HandleCopy(Ptr<Packet> packet,
                       const typename Family::Header& header,
                       Ptr<NetDevice> from)
{
    if (!IsUnicast(m_node, header.GetDestination()))
    {
        return;
    }
    const auto destination = wireconversion::ToWire(header.GetDestination());
    const auto [isRouted, route] = AskAboutCopy<Family>(packet->Copy(), header, from);
    Decide<Family>(destination, route);
    if (!isRouted)
    {
        // The route has expired: the kernel must remove the route, and then pass up packets.
        m_routed();
    }
    m_dependence.Note(destination, !from, HopOf(route), [this, packet, header, from] {
        return HopOf(AskAboutCopy<Family>(packet->Copy(), header, from).second);
    });
}

std::optional<UpcallPort::Neighbour>
UpcallPort::FindNeighbour(const wire::IpAddress& gateway, const std::string& interface) const
{
    const auto mac = m_kernel->MacOf(gateway);
    return mac ? std::optional(Neighbour{interface, gateway, *mac}) : std::nullopt;
}

template <class Family>
void
UpcallPort::Send(Ptr<typename Family::Route> route,
                 Ptr<const Packet> packet,
                 const typename Family::Header& header,
                 const Original& original)
{
    if (!m_node)
    {
        return; // the simulation has ended
    }
    const Ptr<NetDevice> device = route->GetOutputDevice();
    const auto name = m_names.find(device);
    const auto gateway =
        route->GetGateway().IsAny() ? header.GetDestination() : route->GetGateway();
    const auto mac = m_kernel->MacOf(wireconversion::ToWire(gateway));
    if (name == m_names.end() || !mac)
    {
        return Drop(packet, UNKNOWN_NEIGHBOUR);
    }
    Ptr<Packet> whole = packet->Copy();
    whole->AddHeader(header);
    m_frame.resize(wire::EthernetHeader::kSize + whole->GetSize());
    wire::EthernetHeader{*mac,
                         wireconversion::ToWire(Mac48Address::ConvertFrom(device->GetAddress())),
                         EtherTypeOf<Family>()}
        .Write(m_frame);
    JoinPacket(*whole, std::span(m_frame).subspan(wire::EthernetHeader::kSize), FirstHeader::IP);
    if (!m_kernel->Send(name->second, m_frame))
    {
        return Drop(packet, NOT_SENT);
    }
    m_counters.sent.Add(whole->GetSize());
    // The protocol's route counts as a decision only if the protocol left the packet unchanged,
    // because the kernel forwards packets unchanged.
    const bool isSame = packet->GetSize() == original.size &&
                        wireconversion::ToWire(header.GetDestination()) == original.destination;
    m_counters.changed += isSame ? 0 : 1;
    if (isSame)
    {
        Decide<Family>(original.destination, route);
    }
    m_routed();
}

void
UpcallPort::Drop(Ptr<const Packet> packet, DropReason reason)
{
    NS_LOG_LOGIC("drop: " << GetDropReasonName(reason));
    m_drops.Drop(packet, reason);
}

uint64_t
UpcallPort::GetKept() const
{
    uint64_t known = m_counters.sent.packets;
    for (const DropReason reason : {NOT_UNICAST, NO_ROUTE, UNKNOWN_NEIGHBOUR, NOT_SENT})
    {
        known += GetDrops(reason);
    }
    // `known` may be greater than the number of missed packets: a protocol may send a packet
    // repeatedly.
    return m_counters.missed.packets - std::min(m_counters.missed.packets, known);
}

const char*
UpcallPort::GetDropReasonName(DropReason reason)
{
    static constexpr std::array<const char*, N_DROP_REASONS> NAMES{
        "malformed", "not_unicast", "no_route", "unknown_neighbour", "not_sent"};
    return NAMES.at(reason);
}

void
ConnectUpcalls(Ptr<RouteSource> routes, Ptr<UpcallPort> upcalls)
{
    upcalls->SetRouted([routes] { routes->RequestUpdate(); });
    upcalls->SetDecided([routes](const auto& destination, const auto& gateway, auto device) {
        routes->Decide(destination, gateway, device);
    });
    routes->SetUpcalls([port = PeekPointer(upcalls)](auto family) { return port->IsOpen(family); });
}

} // namespace ns3
