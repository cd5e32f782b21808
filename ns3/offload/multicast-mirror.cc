/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/offload/multicast-mirror.h"

#include "ns3/routes/protocol-traits.h"

#include "ns3/base/poll-phase.h"
#include "ns3/reactor/reactor-simulator-impl.h"

#include "ns3/ipv4-static-routing.h"
#include "ns3/ipv6-static-routing.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include "base/error.h"

#include <algorithm>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("MulticastMirror");

NS_OBJECT_ENSURE_REGISTERED(MulticastMirror);

namespace
{

/** @return whether a static routing protocol has routes to groups; false for all other protocols,
 * whose routes are unknown */
template <class Family>
bool
HasMulticastRoutes(Ptr<typename Family::Protocol> protocol)
{
    const auto fixed = DynamicCast<typename Family::StaticProtocol>(protocol);
    return fixed && fixed->GetNMulticastRoutes() > 0;
}

/** @return whether a protocol's RouteInput() may forward packets to groups now */
template <class Family>
bool
MayRouteMulticast(Ptr<typename Family::Protocol> protocol)
{
    // Only the exact type of static routing counts as static, because the behaviour of a derived
    // class is not known.
    const bool isStatic = protocol->GetInstanceTypeId() == Family::StaticProtocol::GetTypeId();
    return HasMulticastRoutes<Family>(protocol) ||
           (!isStatic && TraitsOf(protocol).mayRouteMulticast);
}

} // namespace

TypeId
MulticastMirror::GetTypeId()
{
    static TypeId tid = TypeId("ns3::MulticastMirror")
                            .SetParent<Object>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<MulticastMirror>()
                            .AddAttribute("PollInterval",
                                          "The interval at which the routing protocols are queried "
                                          "again for the routes of existing multicast flows.",
                                          TimeValue(MilliSeconds(100)),
                                          MakeTimeAccessor(&MulticastMirror::m_pollInterval),
                                          MakeTimeChecker(MicroSeconds(1)));
    return tid;
}

void
MulticastMirror::SetNode(Ptr<Node> node, Open open)
{
    m_node = node;
    m_open = std::move(open);
}

void
MulticastMirror::AddInterface(Ptr<NetDevice> device, const std::string& name)
{
    m_devices.push_back(device);
    m_names.push_back(name);
}

void
MulticastMirror::Start()
{
    PollFlows(m_flows4);
    PollFlows(m_flows6);
    m_poll =
        Simulator::Schedule(PollPhase(m_node, m_pollInterval, 2), &MulticastMirror::Poll, this);
}

void
MulticastMirror::Release()
{
    const auto clear = [](const auto& flows) {
        if (flows)
        {
            flows->Clear();
        }
    };
    if (m_held)
    {
        m_held = false;
        clear(m_flows4);
        clear(m_flows6);
    }
}

void
MulticastMirror::Poll()
{
    PollFlows(m_flows4);
    PollFlows(m_flows6);
    m_poll = Simulator::Schedule(m_pollInterval, &MulticastMirror::Poll, this);
}

template <class Family>
void
MulticastMirror::PollFlows(Flows<Family>& flows)
{
    if (!flows && !m_without.contains(Family::FAMILY))
    {
        flows = OpenFlows<Family>();
    }
    if (flows)
    {
        // The kernel's requests are handled only here if the simulator is not the reactor.
        flows->Receive();
        flows->Refresh();
    }
}

template <class Family>
MulticastMirror::Flows<Family>
MulticastMirror::OpenFlows()
{
    const auto ip = m_node->GetObject<typename Family::Layer>();
    const auto protocols = ipfamily::ProtocolsOf<Family>(ip);
    if (std::none_of(protocols.begin(), protocols.end(), MayRouteMulticast<Family>))
    {
        return nullptr;
    }
    viaduct::UniqueFd socket;
    try
    {
        socket = m_open(Family::FAMILY, m_names);
    }
    catch (const viaduct::Error& error)
    {
        if (std::any_of(protocols.begin(), protocols.end(), HasMulticastRoutes<Family>))
        {
            throw;
        }
        NS_LOG_WARN("node " << m_node->GetId()
                            << ": multicast packets are not routed: " << error.what());
        m_without.insert(Family::FAMILY);
        return nullptr;
    }
    auto flows = std::make_shared<MulticastFlows<Family>>(ip, m_devices, std::move(socket));
    if (Ptr<ReactorSimulatorImpl> reactor = ReactorSimulatorImpl::Get())
    {
        const auto receive = [flows, reactor, node = m_node->GetId()] {
            reactor->AdvanceToRealTime();
            bool any = false;
            reactor->RunInContext(node, [&] { any = flows->Receive(); });
            return any;
        };
        m_pollables.push_back(reactor->AddPollable(flows->GetFd(), Callback<bool>(receive)));
    }
    return flows;
}

MulticastMirror::Counters
MulticastMirror::GetCounters() const
{
    Counters counters;
    const auto add = [&](const auto& flows) {
        if (flows)
        {
            counters.asked += flows->GetAsked();
            counters.refused += flows->GetRefused();
        }
    };
    add(m_flows4);
    add(m_flows6);
    return counters;
}

void
MulticastMirror::DoDispose()
{
    m_poll.Cancel();
    if (Ptr<ReactorSimulatorImpl> reactor = ReactorSimulatorImpl::Get())
    {
        for (const uint32_t pollable : m_pollables)
        {
            reactor->RemovePollable(pollable);
        }
    }
    m_flows4 = nullptr;
    m_flows6 = nullptr;
    m_open = nullptr;
    m_devices.clear();
    m_node = nullptr;
    Object::DoDispose();
}

} // namespace ns3
