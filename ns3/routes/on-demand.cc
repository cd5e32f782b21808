/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/routes/on-demand.h"

#include "ns3/routes/protocol-traits.h"

#include <algorithm>

namespace ns3
{
namespace
{

/** @return whether a condition holds for the traits of at least one routing protocol of a node */
template <class Family, class Condition>
bool
AnyHas(Ptr<Node> node, Condition condition)
{
    const auto protocols = ipfamily::ProtocolsOf<Family>(node->GetObject<typename Family::Layer>());
    return std::any_of(protocols.begin(), protocols.end(), [&](const auto& protocol) {
        return condition(TraitsOf(protocol));
    });
}

/** Counts a packet that an IP layer sends. */
template <class Layer>
void
CountSent(uint32_t* sent, Ptr<const Packet>, Ptr<Layer>, uint32_t)
{
    ++*sent;
}

} // namespace

template <class Family>
bool
FindsRoutesOnDemand(Ptr<Node> node)
{
    return AnyHas<Family>(node, [](const ProtocolTraits& traits) {
        return traits.finding == RouteFinding::ON_DEMAND || !traits.mayBeAsked;
    });
}

template <class Family>
bool
MayFindRoutesOnDemand(Ptr<Node> node)
{
    return AnyHas<Family>(node, [](const ProtocolTraits& traits) {
        return traits.finding == RouteFinding::ON_DEMAND || traits.finding == RouteFinding::UNKNOWN;
    });
}

template <class Family>
ProtocolAnswer
AskWithPacket(Ptr<typename Family::Layer> ip,
              Ptr<typename Family::Protocol> protocol,
              const viaduct::wire::IpAddress& destination)
{
    uint32_t sent = 0;
    const auto count = MakeBoundCallback(&CountSent<typename Family::Layer>, &sent);
    const bool isWatched = ip->TraceConnectWithoutContext("Tx", count);
    typename Family::Header header;
    header.SetDestination(Family::ToAddress(destination));
    Socket::SocketErrno error = Socket::ERROR_NOTERROR;
    const auto route = protocol->RouteOutput(Create<Packet>(), header, nullptr, error);
    if (isWatched)
    {
        ip->TraceDisconnectWithoutContext("Tx", count);
    }
    ProtocolAnswer answer;
    answer.isSending = sent > 0;
    answer.isDeferred = route && DynamicCast<LoopbackNetDevice>(route->GetOutputDevice());
    if (route && !answer.isDeferred)
    {
        answer.hop = {wireconversion::ToWire(route->GetGateway()),
                      ip->GetInterfaceForDevice(route->GetOutputDevice())};
    }
    return answer;
}

template <class Family>
bool
InputToProtocol(Ptr<typename Family::Layer> ip,
                Ptr<Packet> packet,
                const typename Family::Header& header,
                Ptr<NetDevice> from,
                const ForwardedCallback<Family>& forwarded,
                const std::function<void(Ptr<const Packet> packet)>& dropped)
{
    using Protocol = typename Family::Protocol;
    using Header = typename Family::Header;
    const auto forward =
        [forwarded, dropped, source = header.GetSource()](
            Ptr<typename Family::Route> route, Ptr<const Packet> packet, const Header& header) {
            const int hops = (header.*Family::GetHops)();
            if (hops <= 1)
            {
                return dropped(packet);
            }
            Header next = header;
            (next.*Family::SetHops)(static_cast<uint8_t>(hops - 1));
            next.SetSource(source);
            forwarded(route, packet, next);
        };
    const typename Protocol::LocalDeliverCallback deliver(
        [](Ptr<const Packet>, const Header&, uint32_t) {});
    const typename Protocol::ErrorCallback error(
        [dropped](Ptr<const Packet> packet, const Header&, Socket::SocketErrno) {
            dropped(packet);
        });
    if constexpr (Family::FAMILY == viaduct::wire::Family::kIpv4)
    {
        const typename Protocol::UnicastForwardCallback unicast(forward);
        const typename Protocol::MulticastForwardCallback multicast(
            [](Ptr<Ipv4MulticastRoute>, Ptr<const Packet>, const Header&) {});
        return ip->GetRoutingProtocol()->RouteInput(
            packet, header, from, unicast, multicast, deliver, error);
    }
    else
    {
        // The first argument of both callbacks is the device that received the packet.
        const typename Protocol::UnicastForwardCallback unicast(
            [forward](Ptr<const NetDevice>,
                      Ptr<Ipv6Route> route,
                      Ptr<const Packet> packet,
                      const Header& header) { forward(route, packet, header); });
        const typename Protocol::MulticastForwardCallback multicast(
            [](Ptr<const NetDevice>, Ptr<Ipv6MulticastRoute>, Ptr<const Packet>, const Header&) {});
        return ip->GetRoutingProtocol()->RouteInput(
            packet, header, from, unicast, multicast, deliver, error);
    }
}

template bool FindsRoutesOnDemand<ipfamily::V4>(Ptr<Node>);
template bool FindsRoutesOnDemand<ipfamily::V6>(Ptr<Node>);
template bool MayFindRoutesOnDemand<ipfamily::V4>(Ptr<Node>);
template bool MayFindRoutesOnDemand<ipfamily::V6>(Ptr<Node>);
template ProtocolAnswer AskWithPacket<ipfamily::V4>(Ptr<Ipv4>,
                                                    Ptr<Ipv4RoutingProtocol>,
                                                    const viaduct::wire::IpAddress&);
template ProtocolAnswer AskWithPacket<ipfamily::V6>(Ptr<Ipv6>,
                                                    Ptr<Ipv6RoutingProtocol>,
                                                    const viaduct::wire::IpAddress&);
template bool InputToProtocol<ipfamily::V4>(Ptr<Ipv4>,
                                            Ptr<Packet>,
                                            const Ipv4Header&,
                                            Ptr<NetDevice>,
                                            const ForwardedCallback<ipfamily::V4>&,
                                            const std::function<void(Ptr<const Packet>)>&);
template bool InputToProtocol<ipfamily::V6>(Ptr<Ipv6>,
                                            Ptr<Packet>,
                                            const Ipv6Header&,
                                            Ptr<NetDevice>,
                                            const ForwardedCallback<ipfamily::V6>&,
                                            const std::function<void(Ptr<const Packet>)>&);

} // namespace ns3
