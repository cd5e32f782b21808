/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "upcall-port.h"

#include "on-demand.h"

#include "ns3/frame-check.h"
#include "ns3/reactor-simulator-impl.h"

#include "ns3/ipv4-route.h"
#include "ns3/log.h"
#include "ns3/loopback-net-device.h"

#include "base/error.h"
#include "sys/network/upcall.h"
#include "wire/ethernet.h"

#include <array>
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
    m_ipv4 = node->GetObject<Ipv4L3Protocol>();
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
    if (FindsRoutesOnDemand<ipfamily::V6>(m_node))
    {
        throw viaduct::UsageError("a routing protocol finds IPv6 routes on demand, which mode "
                                  "offload does not support; use mode emulate");
    }
    if (!FindsRoutesOnDemand<ipfamily::V4>(m_node))
    {
        return;
    }
    Ptr<ReactorSimulatorImpl> reactor = ReactorSimulatorImpl::Get();
    if (!reactor)
    {
        throw viaduct::UsageError("a routing protocol that finds routes on demand needs "
                                  "ns3::ReactorSimulatorImpl when the kernel forwards");
    }
    m_port = m_kernel->Open();
    for (const auto& [device, name] : m_names)
    {
        m_devices[m_kernel->IfIndexOf(name)] = device;
    }
    m_burst.resize(BURST);
    m_pollable =
        reactor->AddPollable(m_port->Fd(), Callback<bool>([this, reactor] {
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
    m_names.clear();
    m_devices.clear();
    m_ipv4 = nullptr;
    m_node = nullptr;
    Object::DoDispose();
}

void
UpcallPort::Drain()
{
    // Those that still come have no route; they are handled in their turn.
    constexpr int MOST_BURSTS = 64;
    for (int i = 0; i < MOST_BURSTS && m_port && Receive(); i++)
    {
    }
}

bool
UpcallPort::Receive()
{
    const size_t count = m_port->Receive(m_burst);
    for (size_t i = 0; i < count; i++)
    {
        HandlePacket(m_burst[i].bytes);
    }
    return count > 0;
}

void
UpcallPort::HandlePacket(std::span<std::byte> bytes)
{
    using wire::ether_type::kIpv4;
    if (bytes.size() < Ipv4Header().GetSerializedSize() || !IsParsable(kIpv4, bytes) ||
        HasIpv4Options(kIpv4, bytes))
    {
        return m_drops.Count(MALFORMED);
    }
    const auto origin = viaduct::sys::TakeUpcallOrigin(bytes);
    Ptr<Packet> packet =
        Create<Packet>(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    Ipv4Header header;
    packet->RemoveHeader(header);
    packet->RemoveAtEnd(packet->GetSize() - header.GetPayloadSize());
    header.EnableChecksum();
    const Ptr<NetDevice> from = DeviceOf(origin.ifindex);
    if (origin.is_copy)
    {
        m_counters.copies++;
        HandleCopy(packet, header, from);
    }
    else
    {
        m_counters.missed++;
        HandleMissed(packet, header, from);
    }
}

Ptr<NetDevice>
UpcallPort::DeviceOf(int ifindex) const
{
    const auto device = m_devices.find(ifindex);
    return device == m_devices.end() ? nullptr : device->second;
}

void
UpcallPort::HandleMissed(Ptr<Packet> packet, Ipv4Header header, Ptr<NetDevice> from)
{
    if (!m_ipv4->IsUnicast(header.GetDestination()))
    {
        return Drop(packet, NOT_UNICAST);
    }
    if (from)
    {
        header.SetTtl(header.GetTtl() + 1); // as it came in, before the kernel counted this hop
        return InputMissed(packet, header, from);
    }
    Socket::SocketErrno error = Socket::ERROR_NOTERROR;
    const auto route = m_ipv4->GetRoutingProtocol()->RouteOutput(packet, header, nullptr, error);
    if (!route)
    {
        return Drop(packet, NO_ROUTE);
    }
    if (IsLoopback(route->GetOutputDevice()))
    {
        return InputMissed(packet, header, route->GetOutputDevice());
    }
    Send(route, packet, header);
}

void
UpcallPort::InputMissed(Ptr<Packet> packet, const Ipv4Header& header, Ptr<NetDevice> from)
{
    const Ptr<UpcallPort> self(this); // the protocol may keep the packet
    const bool isTaken = InputToProtocol(
        m_ipv4,
        packet,
        header,
        from,
        [self](Ptr<Ipv4Route> route, Ptr<const Packet> kept, const Ipv4Header& its) {
            self->Send(route, kept, its);
        },
        [self](Ptr<const Packet> kept) { self->Drop(kept, NO_ROUTE); });
    if (!isTaken)
    {
        Drop(packet, NO_ROUTE);
    }
}

void
UpcallPort::HandleCopy(Ptr<Packet> packet, const Ipv4Header& header, Ptr<NetDevice> from)
{
    if (!m_ipv4->IsUnicast(header.GetDestination()))
    {
        return;
    }
    bool isRouted = false;
    if (from)
    {
        isRouted = InputToProtocol(
            m_ipv4,
            packet,
            header,
            from,
            [](Ptr<Ipv4Route>, Ptr<const Packet>, const Ipv4Header&) {},
            [](Ptr<const Packet>) {});
    }
    else
    {
        Socket::SocketErrno error = Socket::ERROR_NOTERROR;
        const auto route =
            m_ipv4->GetRoutingProtocol()->RouteOutput(packet, header, nullptr, error);
        isRouted = route && !IsLoopback(route->GetOutputDevice());
    }
    if (!isRouted)
    {
        m_routed(); // the route has expired: the kernel must lose it, so that the next packet asks
    }
}

std::optional<UpcallPort::Neighbour>
UpcallPort::FindNeighbour(const wire::IpAddress& gateway, const std::string& interface) const
{
    const auto mac = m_kernel->MacOf(gateway);
    return mac ? std::optional(Neighbour{interface, gateway, *mac}) : std::nullopt;
}

void
UpcallPort::Send(Ptr<Ipv4Route> route, Ptr<const Packet> packet, const Ipv4Header& header)
{
    if (!m_ipv4)
    {
        return; // the simulation has ended
    }
    const Ptr<NetDevice> device = route->GetOutputDevice();
    const auto name = m_names.find(device);
    const Ipv4Address gateway =
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
                         wire::ether_type::kIpv4}
        .Write(m_frame);
    whole->CopyData(reinterpret_cast<uint8_t*>(m_frame.data() + wire::EthernetHeader::kSize),
                    whole->GetSize());
    if (!m_kernel->Send(name->second, m_frame))
    {
        return Drop(packet, NOT_SENT);
    }
    m_counters.sent++;
    m_routed();
}

void
UpcallPort::Drop(Ptr<const Packet> packet, DropReason reason)
{
    NS_LOG_LOGIC("drop: " << GetDropReasonName(reason));
    m_drops.Drop(packet, reason);
}

const char*
UpcallPort::GetDropReasonName(DropReason reason)
{
    static constexpr std::array<const char*, N_DROP_REASONS> NAMES{
        "malformed", "not_unicast", "no_route", "unknown_neighbour", "not_sent"};
    return NAMES.at(reason);
}

} // namespace ns3
