/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "on-demand.h"

#include "protocol-traits.h"

#include <algorithm>

namespace ns3
{
namespace
{

/** @return an address that nobody has (RFC 5737, RFC 6666) */
template <class Family>
viaduct::wire::IpAddress
Nobody()
{
    return viaduct::wire::IpAddress::Parse(
        Family::FAMILY == viaduct::wire::Family::kIpv4 ? "192.0.2.1" : "100::1");
}

template <class Family>
bool
IsOnDemand(Ptr<typename Family::Protocol> protocol)
{
    if (!TraitsOf(protocol).mayFindRoutesOnDemand)
    {
        return false;
    }
    typename Family::Header header;
    header.SetDestination(Family::ToAddress(Nobody<Family>()));
    Socket::SocketErrno error;
    const auto route = protocol->RouteOutput(Create<Packet>(), header, nullptr, error);
    return route && DynamicCast<LoopbackNetDevice>(route->GetOutputDevice());
}

} // namespace

template <class Family>
bool
FindsRoutesOnDemand(Ptr<Node> node)
{
    const auto protocols = ipfamily::ProtocolsOf<Family>(node->GetObject<typename Family::Layer>());
    return std::any_of(protocols.begin(), protocols.end(), IsOnDemand<Family>);
}

bool
InputToProtocol(Ptr<Ipv4> ip,
                Ptr<Packet> packet,
                const Ipv4Header& header,
                Ptr<NetDevice> from,
                const ForwardedCallback& forwarded,
                const std::function<void(Ptr<const Packet> packet)>& dropped)
{
    using Protocol = Ipv4RoutingProtocol;
    const Protocol::UnicastForwardCallback unicast(
        [forwarded, dropped, source = header.GetSource()](
            Ptr<Ipv4Route> route, Ptr<const Packet> packet, const Ipv4Header& header) {
            if (header.GetTtl() <= 1)
            {
                return dropped(packet);
            }
            Ipv4Header next = header;
            next.SetTtl(header.GetTtl() - 1);
            next.SetSource(source);
            forwarded(route, packet, next);
        });
    const Protocol::MulticastForwardCallback multicast(
        [](Ptr<Ipv4MulticastRoute>, Ptr<const Packet>, const Ipv4Header&) {});
    const Protocol::LocalDeliverCallback deliver(
        [](Ptr<const Packet>, const Ipv4Header&, uint32_t) {});
    const Protocol::ErrorCallback error([dropped](Ptr<const Packet> packet,
                                                  const Ipv4Header&,
                                                  Socket::SocketErrno) { dropped(packet); });
    return ip->GetRoutingProtocol()->RouteInput(
        packet, header, from, unicast, multicast, deliver, error);
}

template bool FindsRoutesOnDemand<ipfamily::V4>(Ptr<Node>);
template bool FindsRoutesOnDemand<ipfamily::V6>(Ptr<Node>);

} // namespace ns3
