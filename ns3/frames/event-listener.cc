/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/frames/event-listener.h"

#include "ns3/log.h"
#include "ns3/reactor/reactor-simulator-impl.h"

#include "base/error.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("EventListener");

using viaduct::forward::Mapping;

EventListener::EventListener(Ptr<Node> node,
                             viaduct::UniqueFd doorbell,
                             int events,
                             std::function<void(const viaduct::forward::Event&)> take)
    : m_node(node->GetId()),
      m_doorbell(std::move(doorbell)),
      m_events(events, Mapping::Access::kWrite),
      m_reader(m_events.writable(), m_doorbell.get()),
      m_take(std::move(take))
{
    Ptr<ReactorSimulatorImpl> reactor = ReactorSimulatorImpl::Get();
    if (!reactor)
    {
        throw viaduct::UsageError("forwarding a node's frames outside the simulator requires "
                                  "ns3::ReactorSimulatorImpl: set the global value "
                                  "SimulatorImplementationType to ns3::ReactorSimulatorImpl");
    }
    m_pollable =
        reactor->AddPollable(m_doorbell.get(), Callback<bool>([this, reactor] {
                                 reactor->AdvanceToRealTime();
                                 bool any = false;
                                 reactor->RunInContext(m_node, [&] { any = ReadEvents(); });
                                 return any;
                             }));
}

EventListener::~EventListener()
{
    StopListening();
}

void
EventListener::StopListening()
{
    Ptr<ReactorSimulatorImpl> reactor = ReactorSimulatorImpl::Get();
    if (m_pollable && reactor)
    {
        reactor->RemovePollable(*m_pollable);
    }
    m_pollable.reset();
}

bool
EventListener::ReadEvents()
{
    if (!m_reader.Answer())
    {
        // The data plane has shut down the doorbell's socket. Only a data plane under an attacker's
        // control does this. The data plane continues to forward according to its tables.
        NS_LOG_WARN("the data plane of node " << m_node << " has disconnected and no longer "
                                              << "reports events");
        StopListening();
    }
    bool any = false;
    while (const auto event = m_reader.Read())
    {
        m_take(*event);
        any = true;
    }
    return any;
}

} // namespace ns3
