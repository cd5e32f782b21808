/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/stack-drops.h"

#include "ns3/sim/wireless.h"

#include "ns3/sim/dont-fragment-routing.h"

#include "ns3/arp-cache.h"
#include "ns3/arp-l3-protocol.h"
#include "ns3/csma-net-device.h"
#include "ns3/frames/frame-forwarder.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/neighbour/ndisc-neighbours.h"
#include "ns3/path/path-net-device.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/traffic-control-layer.h"

#include "base/wire/ethernet.h"
#include "base/wire/ip.h"
#include "base/wire/layers.h"
#include "base/wire/probe_header.h"
#include "base/wire/transport.h"
#include "scenario/addresses.h"
#include "scenario/scenario.h"

namespace ns3::sim
{

using viaduct::scenario::Flow;
using viaduct::wire::ConstBytes;
using viaduct::wire::IpAddress;
using viaduct::wire::IpLayers;

namespace
{

const char*
NameOf(Ipv4L3Protocol::DropReason reason)
{
    switch (reason)
    {
    case Ipv4L3Protocol::DROP_TTL_EXPIRED:
        return "ttl_expired";
    case Ipv4L3Protocol::DROP_NO_ROUTE:
        return "no_route";
    case Ipv4L3Protocol::DROP_BAD_CHECKSUM:
        return "bad_checksum";
    case Ipv4L3Protocol::DROP_INTERFACE_DOWN:
        return "interface_down";
    case Ipv4L3Protocol::DROP_ROUTE_ERROR:
        return "no_route";
    case Ipv4L3Protocol::DROP_FRAGMENT_TIMEOUT:
        return "fragment_timeout";
    case Ipv4L3Protocol::DROP_DUPLICATE:
        return "duplicate";
    }
    return "other";
}

const char*
NameOf(Ipv6L3Protocol::DropReason reason)
{
    switch (reason)
    {
    case Ipv6L3Protocol::DROP_TTL_EXPIRED:
        return "ttl_expired";
    case Ipv6L3Protocol::DROP_NO_ROUTE:
        return "no_route";
    case Ipv6L3Protocol::DROP_INTERFACE_DOWN:
        return "interface_down";
    case Ipv6L3Protocol::DROP_ROUTE_ERROR:
        return "no_route";
    case Ipv6L3Protocol::DROP_UNKNOWN_PROTOCOL:
        return "unknown_protocol";
    case Ipv6L3Protocol::DROP_UNKNOWN_OPTION:
        return "unknown_option";
    case Ipv6L3Protocol::DROP_MALFORMED_HEADER:
        return "malformed_header";
    case Ipv6L3Protocol::DROP_FRAGMENT_TIMEOUT:
        return "fragment_timeout";
    }
    return "other";
}

const char*
NameOf(PathNetDevice::DropReason reason)
{
    switch (reason)
    {
    case PathNetDevice::TX_LINK_DOWN:
    case PathNetDevice::RX_LINK_DOWN:
        return "link_down";
    case PathNetDevice::TX_TOO_LONG:
        return "too_long";
    case PathNetDevice::RX_CORRUPTED:
    case PathNetDevice::RX_MALFORMED:
    case PathNetDevice::N_DROP_REASONS:
        break;
    }
    return "corrupted";
}

/** @return a copy of the packet with the header in front */
Ptr<const Packet>
WithHeader(Ptr<const Packet> packet, const Header& header)
{
    Ptr<Packet> whole = packet->Copy();
    whole->AddHeader(header);
    return whole;
}

Ptr<const Packet>
Without(Ptr<const Packet> frame, uint32_t bytes)
{
    return frame->CreateFragment(std::min(bytes, frame->GetSize()),
                                 frame->GetSize() - std::min(bytes, frame->GetSize()));
}

std::vector<std::byte>
BytesOf(Ptr<const Packet> packet)
{
    std::vector<std::byte> bytes(packet->GetSize());
    packet->CopyData(reinterpret_cast<uint8_t*>(bytes.data()), bytes.size());
    return bytes;
}

bool
IsForMany(const IpAddress& address)
{
    return address.IsMulticast() || address == IpAddress::FromIpv4(0xffffffff);
}

/** @return whether a UDP datagram is an end marker, which informs the receiver that the flow has
 * ended, and does not count as a packet of the flow */
bool
IsEndMarker(ConstBytes udp)
{
    const auto payload = udp.subspan(std::min(viaduct::wire::UdpHeader::kSize, udp.size()));
    const auto header = viaduct::load::ReadHeader(payload);
    return header && header->type == viaduct::load::PacketType::kEnd;
}

/** @return the address of the node that pings `receiver`: the source of an echo request, or the
 * destination of an echo reply; nothing if the packet is neither */
std::optional<IpAddress>
SourceOfPing(const IpLayers& layers, ConstBytes packet, const IpAddress& receiver)
{
    namespace ip_protocol = viaduct::wire::ip_protocol;
    constexpr uint8_t REQUEST4 = 8;
    constexpr uint8_t REPLY4 = 0;
    constexpr uint8_t REQUEST6 = 128;
    constexpr uint8_t REPLY6 = 129;
    const auto icmp = viaduct::wire::IcmpHeader::Parse(packet.subspan(layers.transport));
    const bool ipv4 = layers.protocol == ip_protocol::kIcmp;
    if (!icmp || !(ipv4 || layers.protocol == ip_protocol::kIcmpv6))
    {
        return std::nullopt;
    }
    const IpAddress source = layers.Source(packet);
    const IpAddress destination = layers.Destination(packet);
    if (icmp->type == (ipv4 ? REQUEST4 : REQUEST6) && destination == receiver)
    {
        return source;
    }
    const bool answer = icmp->type == (ipv4 ? REPLY4 : REPLY6) && source == receiver;
    return answer ? std::optional(destination) : std::nullopt;
}

} // namespace

StackDrops::StackDrops(const viaduct::scenario::Scenario& scenario, const Network& network)
    : m_scenario(scenario), m_ofFlows(scenario.flows.size())
{
    for (const Flow& flow : scenario.flows)
    {
        m_receivers.push_back(viaduct::scenario::AddressOf(scenario, flow));
    }
    for (const auto& node : scenario.nodes)
    {
        if (network.IsLocal(node.name))
        {
            Watch(network.GetNode(node.name), node.name);
        }
    }
    for (const NetworkLink& link : network.GetLinks())
    {
        for (size_t i = 0; i < link.devices.size(); i++)
        {
            WatchDevice(link.devices[i], link.settings->nodes[i]);
        }
        constexpr uint32_t LLC = 8; // bytes of the LLC and SNAP headers (IEEE 802.2, RFC 1042)
        WatchWifiDrops(link.devices,
                       [this, &names = link.settings->nodes](
                           std::size_t device, Ptr<const Packet> packet, const char* reason) {
                           Count(names[device], reason, Without(packet, LLC));
                       });
    }
}

void
StackDrops::Watch(Ptr<Node> node, const std::string& name)
{
    WatchIp<Ipv4L3Protocol, Ipv4, Ipv4Header>(node, name);
    WatchIp<Ipv6L3Protocol, Ipv6, Ipv6Header>(node, name);
    WatchResolution(node, name);
    // The traffic control layer drops packets for which the device's queue has no capacity, if the
    // device has no queue disc.
    WatchPackets(node->GetObject<TrafficControlLayer>(), "TcDrop", name, "queue_full");
}

template <class Layer, class Base, class Header>
void
StackDrops::WatchIp(Ptr<Node> node, const std::string& name)
{
    using Reason = typename Layer::DropReason;
    using Trace = Callback<void, const Header&, Ptr<const Packet>, Reason, Ptr<Base>, uint32_t>;
    if (const auto ip = node->GetObject<Layer>())
    {
        ip->TraceConnectWithoutContext("Drop",
                                       Trace([this, name](const Header& header,
                                                          Ptr<const Packet> packet,
                                                          Reason reason,
                                                          Ptr<Base>,
                                                          uint32_t) {
                                           Count(name, NameOf(reason), WithHeader(packet, header));
                                       }));
    }
}

void
StackDrops::WatchResolution(Ptr<Node> node, const std::string& name)
{
    const auto ipv6 = node->GetObject<Ipv6L3Protocol>();
    for (uint32_t i = 0; ipv6 && i < ipv6->GetNInterfaces(); i++)
    {
        if (const auto neighbours = DynamicCast<NdiscNeighbours>(
                ipv6->GetProtocol(Icmpv6L4Protocol::PROT_NUMBER, static_cast<int32_t>(i))))
        {
            neighbours->SetDropCallback(Callback<void, Ptr<const Packet>>(
                [this, name](auto packet) { Count(name, "address_unresolved", packet); }));
        }
    }
    const auto ip = node->GetObject<Ipv4L3Protocol>();
    if (!ip)
    {
        return;
    }
    WatchPackets(node->GetObject<ArpL3Protocol>(), "Drop", name, "address_unresolved");
    for (uint32_t i = 0; i < ip->GetNInterfaces(); i++)
    {
        if (Ptr<ArpCache> cache = ip->GetInterface(i)->GetArpCache())
        {
            WatchPackets(cache, "Drop", name, "address_unresolved");
        }
    }
    if (auto routing = DynamicCast<DontFragmentRouting>(ip->GetRoutingProtocol()))
    {
        routing->SetDropCallback(DontFragmentRouting::DropCallback(
            [this, name](Ptr<const Packet> packet, const Ipv4Header& header) {
                Count(name, "fragmentation_needed", WithHeader(packet, header));
            }));
    }
}

void
StackDrops::WatchDevice(Ptr<NetDevice> device, const std::string& name)
{
    using viaduct::wire::EthernetHeader;
    if (DynamicCast<PathNetDevice>(device))
    {
        const bool forwards = device->GetNode()->GetObject<FrameForwarder>() != nullptr;
        using Trace = Callback<void, Ptr<const Packet>, PathNetDevice::DropReason>;
        for (const auto& [trace, link] :
             {std::pair("MacTxDrop", size_t{0}), std::pair("MacRxDrop", EthernetHeader::kSize)})
        {
            const uint32_t bytes = link;
            device->TraceConnectWithoutContext(
                trace, Trace([=, this](Ptr<const Packet> frame, PathNetDevice::DropReason reason) {
                    if (forwards && bytes > 0)
                    {
                        CountFrame(name, NameOf(reason), Without(frame, bytes));
                    }
                    else
                    {
                        Count(name, NameOf(reason), Without(frame, bytes));
                    }
                }));
        }
    }
    constexpr uint32_t PPP = 2; // bytes of ns3::PppHeader
    const bool pointToPoint = DynamicCast<PointToPointNetDevice>(device) != nullptr;
    if (pointToPoint || DynamicCast<CsmaNetDevice>(device))
    {
        const uint32_t link = pointToPoint ? PPP : EthernetHeader::kSize;
        WatchPackets(device, "PhyRxDrop", name, "link_down", link);
    }
}

void
StackDrops::WatchPackets(Ptr<Object> source,
                         const std::string& trace,
                         const std::string& name,
                         const char* reason,
                         uint32_t link)
{
    source->TraceConnectWithoutContext(
        trace,
        Callback<void, Ptr<const Packet>>([this, name, reason, link](Ptr<const Packet> packet) {
            Count(name, reason, Without(packet, link));
        }));
}

void
StackDrops::CountFrame(const std::string& node, const char* reason, Ptr<const Packet> content)
{
    if (!CountOfFlow(node, reason, content))
    {
        m_ofNodes[node + "/program"][reason]++;
    }
}

void
StackDrops::Count(const std::string& node, const char* reason, Ptr<const Packet> packet)
{
    const std::vector<std::byte> bytes = BytesOf(packet);
    const auto layers = viaduct::wire::FindIpLayersInPacket(bytes);
    if (layers && !IsForMany(layers->Destination(bytes)) && !CountOfFlow(node, reason, packet))
    {
        m_ofNodes[node + "/stack"][reason]++;
    }
}

bool
StackDrops::CountOfFlow(const std::string& node, const char* reason, Ptr<const Packet> packet)
{
    const std::vector<std::byte> bytes = BytesOf(packet);
    const auto layers = viaduct::wire::FindIpLayersInPacket(bytes);
    const auto flow = layers ? FlowOf(*layers, bytes) : std::nullopt;
    if (flow)
    {
        m_ofFlows[*flow][node + ": " + reason]++;
    }
    return flow.has_value();
}

std::optional<size_t>
StackDrops::FlowOf(const IpLayers& layers, ConstBytes packet) const
{
    std::optional<size_t> found;
    for (size_t flow = 0; flow < m_receivers.size(); flow++)
    {
        if (!IsOf(flow, layers, packet))
        {
            continue;
        }
        if (found)
        {
            return std::nullopt; // ambiguous: two ping flows between the same nodes
        }
        found = flow;
    }
    return found;
}

bool
StackDrops::IsOf(size_t index, const IpLayers& layers, ConstBytes packet) const
{
    const Flow& flow = m_scenario.flows[index];
    if (layers.fragment)
    {
        // A fragment is not counted: other fragments of its packet may have been lost elsewhere.
        return false;
    }
    if (flow.kind == Flow::Kind::kPing)
    {
        const auto source = SourceOfPing(layers, packet, m_receivers[index]);
        return source && viaduct::scenario::HasAddress(m_scenario, flow.from, *source);
    }
    const ConstBytes datagram = packet.subspan(layers.transport);
    const auto udp = viaduct::wire::UdpHeader::Parse(datagram);
    // A packet to a multicast group is not counted for a flow, because the receiver that its loss
    // concerns is unknown.
    return flow.kind == Flow::Kind::kUdp && flow.group.empty() && udp && !IsEndMarker(datagram) &&
           layers.protocol == viaduct::wire::ip_protocol::kUdp &&
           layers.Destination(packet) == m_receivers[index] &&
           udp->destination_port == viaduct::scenario::PortOf(flow, index);
}

void
StackDrops::Describe(viaduct::result::SimulatorReport& report) const
{
    for (const auto& [place, drops] : m_ofNodes)
    {
        report.counters[place].drops.insert(drops.begin(), drops.end());
    }
}

} // namespace ns3::sim
