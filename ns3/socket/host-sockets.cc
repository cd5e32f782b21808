/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/socket/host-sockets.h"

#include "ns3/socket/host-socket.h"

#include "ns3/simulator.h"

#include "base/error.h"

#include <functional>
#include <memory>
#include <utility>

namespace ns3
{

namespace
{

Ptr<ReactorSimulatorImpl>
RequireReactor()
{
    const auto reactor = ReactorSimulatorImpl::Get();
    if (!reactor)
    {
        throw viaduct::UsageError(
            "host sockets: the simulator is " +
            Simulator::GetImplementation()->GetInstanceTypeId().GetName() +
            ", which does not wait for the sockets; call at the beginning of main(): "
            "GlobalValue::Bind(\"SimulatorImplementationType\", "
            "StringValue(\"ns3::ReactorSimulatorImpl\"));");
    }
    return reactor;
}

/**
 * Aggregates a factory to a node and makes GetObject<Base>() return it in place of ns-3's factory.
 * If two aggregated objects match a type, GetObject() returns the object that was requested more
 * often (Object::UpdateSortedArray()).
 * @tparam Base ns-3's factory
 * @tparam Factory the factory
 */
template <class Base, class Factory>
void
Prefer(Ptr<Node> node)
{
    const auto factory = CreateObject<Factory>();
    node->AggregateObject(factory);
    for (int requests = 1; node->GetObject<Base>() != factory; requests *= 2)
    {
        for (int i = 0; i < requests; ++i)
        {
            node->GetObject<Factory>();
        }
    }
}

} // namespace

HostSockets::HostSockets(uint32_t nodeId, Opener open)
    : m_reactor(RequireReactor()),
      m_agent(std::move(open)),
      m_client(m_agent,
               [nodeId](std::function<void()> work) {
                   Simulator::ScheduleWithContext(
                       nodeId, Time(), [work = std::move(work)] { work(); });
               }),
      m_port(m_reactor->AddPollable(m_agent.fd(), MakeCallback(&HostSockets::Work, this)))
{
}

HostSockets::~HostSockets()
{
    m_reactor->RemovePollable(m_port);
}

bool
HostSockets::Work()
{
    return m_agent.Work();
}

Ptr<KernelSocketStack>
HostSockets::Install(Ptr<Node> node, Opener open)
{
    const auto sockets = std::make_shared<HostSockets>(node->GetId(), std::move(open));
    const auto stack = KernelSocketStack::Create(node, {sockets, &sockets->m_client}, 0);
    node->AggregateObject(CreateObject<HostTcpSocketFactory>());
    node->AggregateObject(CreateObject<HostUdpSocketFactory>());
    return stack;
}

void
HostSockets::MakeDefault(Ptr<Node> node)
{
    Prefer<TcpSocketFactory, HostTcpDefaultSocketFactory>(node);
    Prefer<UdpSocketFactory, HostUdpDefaultSocketFactory>(node);
}

} // namespace ns3
