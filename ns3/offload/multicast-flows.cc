/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/offload/multicast-flows.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

#include "base/error.h"
#include "base/wire/ip.h"

#include <algorithm>
#include <memory>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("MulticastFlows");

using viaduct::sys::MulticastFlow;
using viaduct::wire::IpAddress;
using viaduct::wire::IpPrefix;

namespace
{

namespace ip_protocol = viaduct::wire::ip_protocol;

/** Lifetime of a flow that has no route. The kernel also forgets a flow that has no entry in its
 * table after this time. */
const Time UNROUTED_LIFETIME = Seconds(10);
/** Lifetime of an entry for which no packets arrive (RFC 3973, section 4.8, SourceLifetime). */
const Time IDLE_LIFETIME = Seconds(210);

/** @return an IP header with the source and group of a flow, like the headers of the flow's packets
 */
template <class Family>
typename Family::Header
HeaderOf(const MulticastFlow& flow)
{
    constexpr uint8_t ANY_TTL = 64;
    typename Family::Header header;
    header.SetSource(Family::ToAddress(flow.source));
    header.SetDestination(Family::ToAddress(flow.group));
    if constexpr (Family::FAMILY == viaduct::wire::Family::kIpv4)
    {
        header.SetProtocol(ip_protocol::kUdp);
        header.SetTtl(ANY_TTL);
    }
    else
    {
        header.SetNextHeader(ip_protocol::kUdp);
        header.SetHopLimit(ANY_TTL);
    }
    return header;
}

using Interfaces = std::optional<std::set<uint32_t>>;

/** Stores the output interfaces of a route in @p found. */
template <class Route>
void
TakeOutputs(const Route& route, Interfaces& found)
{
    found.emplace();
    for (const auto& [interface, ttl] : route->GetOutputTtlMap())
    {
        found->insert(interface);
    }
}

/** @return the callback that RouteInput() calls with a multicast route. The callback shares
 * ownership of @p found, because RouteInput() may call the callback after the owner of @p found has
 * returned */
template <class Family>
auto
MulticastCallback(const std::shared_ptr<Interfaces>& found)
{
    using Callback = typename Family::Protocol::MulticastForwardCallback;
    if constexpr (Family::FAMILY == viaduct::wire::Family::kIpv4)
    {
        return Callback([found](Ptr<Ipv4MulticastRoute> route,
                                Ptr<const Packet>,
                                const Ipv4Header&) { TakeOutputs(route, *found); });
    }
    else
    {
        return Callback([found](Ptr<const NetDevice>,
                                Ptr<Ipv6MulticastRoute> route,
                                Ptr<const Packet>,
                                const Ipv6Header&) { TakeOutputs(route, *found); });
    }
}

/** @return the callback that RouteInput() calls with a unicast route; the callback ignores the
 * route */
template <class Family>
auto
IgnoringUnicastCallback()
{
    using Callback = typename Family::Protocol::UnicastForwardCallback;
    if constexpr (Family::FAMILY == viaduct::wire::Family::kIpv4)
    {
        return Callback([](Ptr<Ipv4Route>, Ptr<const Packet>, const Ipv4Header&) {});
    }
    else
    {
        return Callback(
            [](Ptr<const NetDevice>, Ptr<Ipv6Route>, Ptr<const Packet>, const Ipv6Header&) {});
    }
}

/** Calls RouteInput() as the IP layer does. @return the interfaces to which the routing protocol
 * sends a flow's packets that arrive by device @p from */
template <class Family>
Interfaces
FindOutputs(Ptr<typename Family::Layer> ip, const MulticastFlow& flow, Ptr<NetDevice> from)
{
    using Protocol = typename Family::Protocol;
    using Header = typename Family::Header;
    const auto found = std::make_shared<Interfaces>();
    ip->GetRoutingProtocol()->RouteInput(
        Create<Packet>(),
        HeaderOf<Family>(flow),
        from,
        IgnoringUnicastCallback<Family>(),
        MulticastCallback<Family>(found),
        typename Protocol::LocalDeliverCallback([](Ptr<const Packet>, const Header&, uint32_t) {}),
        typename Protocol::ErrorCallback(
            [](Ptr<const Packet>, const Header&, Socket::SocketErrno) {}));
    return *found;
}

} // namespace

template <class Family>
MulticastFlows<Family>::MulticastFlows(Ptr<typename Family::Layer> ip,
                                       std::vector<Ptr<NetDevice>> devices,
                                       viaduct::UniqueFd socket)
    : m_ip(std::move(ip)), m_devices(std::move(devices)), m_table(std::move(socket), Family::FAMILY)
{
}

template <class Family>
bool
MulticastFlows<Family>::IsOwn(const IpAddress& address) const
{
    for (uint32_t i = 0; i < m_ip->GetNInterfaces(); i++)
    {
        const auto own = ipfamily::AddressesOf(m_ip, i);
        if (std::any_of(own.begin(), own.end(), [&](const IpPrefix& one) {
                return one.address == address;
            }))
        {
            return true;
        }
    }
    return false;
}

template <class Family>
bool
MulticastFlows<Family>::Receive()
{
    bool any = false;
    for (auto flow = m_table.Read(); flow; flow = m_table.Read())
    {
        any = true;
        m_asked++;
        Answer(*flow);
    }
    return any;
}

template <class Family>
void
MulticastFlows<Family>::Answer(const MulticastFlow& flow)
{
    // The kernel also reports packets that the node itself sends. ns-3 sends such packets through
    // one interface.
    if (IsOwn(flow.source) || flow.input >= static_cast<int>(m_devices.size()))
    {
        return;
    }
    const auto key = std::pair(flow.source, flow.group);
    const auto known = m_flows.find(key);
    if (known != m_flows.end() && !HasMoved(known->second, flow))
    {
        return;
    }
    Learn(flow, known != m_flows.end() && known->second.isStatic);
}

template <class Family>
void
MulticastFlows<Family>::Learn(const MulticastFlow& flow, bool isStatic)
{
    const auto key = std::pair(flow.source, flow.group);
    if (m_flows.size() >= MOST && !m_flows.contains(key))
    {
        m_refused++;
        return;
    }
    State& state = m_flows[key] = State();
    state.flow = flow;
    state.isStatic = isStatic;
    state.seen = Simulator::Now();
    Apply(state);
}

template <class Family>
void
MulticastFlows<Family>::InstallStaticRoutes()
{
    std::vector<Ptr<typename Family::StaticProtocol>> found;
    uint32_t routes = 0;
    for (const auto& protocol : ipfamily::ProtocolsOf<Family>(m_ip))
    {
        if (const auto fixed = DynamicCast<typename Family::StaticProtocol>(protocol))
        {
            found.push_back(fixed);
            routes += fixed->GetNMulticastRoutes();
        }
    }
    if (routes == m_nStaticRoutes)
    {
        return;
    }
    m_nStaticRoutes = routes;
    for (const auto& fixed : found)
    {
        InstallStaticRoutes(fixed);
    }
}

template <class Family>
void
MulticastFlows<Family>::InstallStaticRoutes(Ptr<typename Family::StaticProtocol> protocol)
{
    for (uint32_t i = 0; i < protocol->GetNMulticastRoutes(); i++)
    {
        const auto route = protocol->GetMulticastRoute(i);
        const IpAddress source = wireconversion::ToWire(route.GetOrigin());
        const IpAddress group = wireconversion::ToWire(route.GetGroup());
        const uint32_t input = route.GetInputInterface();
        const auto device =
            input < m_ip->GetNInterfaces()
                ? std::find(m_devices.begin(), m_devices.end(), m_ip->GetNetDevice(input))
                : m_devices.end();
        // An entry of the kernel's table has exactly one source and one input interface.
        const bool isOfOne = !source.IsUnspecified() && device != m_devices.end();
        if (isOfOne && !IsOwn(source) && !m_flows.contains(std::pair(source, group)))
        {
            Learn({source, group, static_cast<int>(device - m_devices.begin())}, true);
        }
    }
}

template <class Family>
bool
MulticastFlows<Family>::HasMoved(State& state, const MulticastFlow& flow) const
{
    if (flow.input == state.flow.input)
    {
        return true; // the kernel has lost the flow's entry, so the entry must be made again
    }
    if (!AskProtocol(flow))
    {
        return false;
    }
    if (!AskProtocol(state.flow))
    {
        return true;
    }
    // The protocol accepts the flow from both interfaces, but the kernel's entry has only one input
    // interface, which must be the interface by which the flow arrives. The old interface counts as
    // silent if no packet has arrived by it since the kernel's last report of another interface.
    const uint64_t packets = m_table.Packets(state.flow);
    const bool isSilent = state.elsewhere == packets;
    state.elsewhere = packets;
    return isSilent;
}

template <class Family>
typename MulticastFlows<Family>::Outputs
MulticastFlows<Family>::AskProtocol(const MulticastFlow& flow) const
{
    const auto interfaces = FindOutputs<Family>(m_ip, flow, m_devices[flow.input]);
    if (!interfaces)
    {
        return std::nullopt;
    }
    std::set<int> outputs;
    for (const uint32_t interface : *interfaces)
    {
        const auto device =
            std::find(m_devices.begin(), m_devices.end(), m_ip->GetNetDevice(interface));
        if (device != m_devices.end() && m_ip->IsUp(interface))
        {
            outputs.insert(static_cast<int>(device - m_devices.begin()));
        }
    }
    return outputs;
}

template <class Family>
void
MulticastFlows<Family>::Apply(State& state)
{
    const Outputs wanted = AskProtocol(state.flow);
    if (state.isInKernel && wanted == state.outputs)
    {
        return;
    }
    try
    {
        // A flow without a route also gets an entry: without an entry the kernel would not report
        // that the flow arrives by another interface.
        m_table.Set(state.flow, wanted.value_or(std::set<int>()));
        state.outputs = wanted;
        state.isInKernel = true;
    }
    catch (const viaduct::Error& error)
    {
        NS_LOG_WARN("multicast route from " << state.flow.source.ToString() << " to "
                                            << state.flow.group.ToString() << ": " << error.what());
        m_refused++;
    }
}

template <class Family>
bool
MulticastFlows<Family>::HasEnded(State& state) const
{
    const uint64_t packets = m_table.Packets(state.flow);
    if (packets != state.packets || (state.isStatic && state.outputs))
    {
        state.packets = packets;
        state.seen = Simulator::Now();
    }
    return Simulator::Now() - state.seen > (state.outputs ? IDLE_LIFETIME : UNROUTED_LIFETIME);
}

template <class Family>
void
MulticastFlows<Family>::Clear()
{
    m_flows.clear();
    m_nStaticRoutes = 0;
    m_table.Clear();
    InstallStaticRoutes();
}

template <class Family>
void
MulticastFlows<Family>::Refresh()
{
    InstallStaticRoutes();
    for (auto at = m_flows.begin(); at != m_flows.end();)
    {
        State& state = at->second;
        if (!HasEnded(state))
        {
            Apply(state);
            ++at;
            continue;
        }
        m_table.Remove(state.flow);
        at = m_flows.erase(at);
    }
}

template class MulticastFlows<ipfamily::V4>;
template class MulticastFlows<ipfamily::V6>;

} // namespace ns3
