/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/simulated-traffic.h"

#include "ns3/sim/placement.h"
#include "ns3/sim/time-conversion.h"

#include "ns3/simulator.h"

#include "base/result/run.h"
#include "scenario/events.h"
#include "scenario/multicast.h"

#include <algorithm>
#include <utility>

namespace ns3::sim
{

using viaduct::scenario::LinkEvent;

namespace
{

// Interval between checks whether flows have packets under way.
const Time FLOW_LOOK = MilliSeconds(10);
const Time STOP_TIMEOUT = Seconds(2); // time in which programs may exit after SIGTERM

} // namespace

SimulatedTraffic::SimulatedTraffic(const viaduct::scenario::Scenario& scenario,
                                   Network& network,
                                   SimulatedFiles& files,
                                   ControlChannel& control,
                                   Ending ending)
    : m_scenario(scenario),
      m_network(network),
      m_files(files),
      m_start(Simulator::Now()),
      m_control(control),
      m_endedBy(ending),
      m_trafficEnd(Simulator::Now())
{
    for (size_t i = 0; i < scenario.flows.size(); i++)
    {
        const auto& flow = scenario.flows[i];
        const size_t stream = viaduct::scenario::StreamOf(scenario, i);
        m_flows.push_back(std::make_unique<SimulatedFlow>(
            scenario, i, network, stream < i ? m_flows[stream].get() : nullptr));
        m_trafficEnd =
            std::max(m_trafficEnd, Simulator::Now() + ToTime(flow.start + flow.duration));
    }
    for (const auto& event : scenario.link_events)
    {
        Simulator::Schedule(ToTime(event.at), &SimulatedTraffic::Apply, this, event);
        m_trafficEnd = std::max(m_trafficEnd, Simulator::Now() + ToTime(event.at));
    }
    MoveAlongWaypoints(scenario, network.GetNodes());
    StartPrograms();
    if (m_endedBy == Ending::OTHERS)
    {
        return;
    }
    Simulator::Schedule(ToTime(scenario.duration), &SimulatedTraffic::End, this);
    Simulator::Schedule(m_trafficEnd - Simulator::Now(), &SimulatedTraffic::AwaitFlows, this);
}

void
SimulatedTraffic::Apply(const LinkEvent& event)
{
    switch (event.kind)
    {
    case LinkEvent::Kind::kState:
        m_network.SetLinkUp(event.link, event.on);
        break;
    case LinkEvent::Kind::kSpec:
        m_network.SetSpecs(event.link, event.up_spec, event.down_spec);
        break;
    case LinkEvent::Kind::kCapture:
        m_files.SetCapturing(event.link, event.on);
        break;
    }
    const viaduct::result::LinkEvent happened{event.link,
                                              viaduct::scenario::DescribeEvent(event),
                                              (Simulator::Now() - m_start).GetSeconds()};
    m_control.Send(viaduct::scenario::LinkChanged{happened});
}

void
SimulatedTraffic::SetLinkUp(const std::string& link, bool up)
{
    LinkEvent event;
    event.link = link;
    event.on = up;
    Apply(event);
}

bool
SimulatedTraffic::IsBusy() const
{
    return !m_flows.empty() || !m_programs.empty();
}

void
SimulatedTraffic::SendResults() const
{
    for (const auto& flow : m_flows)
    {
        m_control.Send(viaduct::scenario::FlowDone{flow->Result()});
    }
    for (const auto& program : m_programs)
    {
        m_control.Send(viaduct::scenario::ProgramDone{program->Outcome()});
    }
}

void
SimulatedTraffic::StartPrograms()
{
    for (const auto& settings : m_scenario.programs)
    {
        m_programs.push_back(std::make_unique<SimulatedProgram>(
            settings,
            m_network.GetNode(settings.node),
            [this, name = settings.name](const std::string& line) {
                m_control.Send(viaduct::scenario::ProgramOutput{name, line});
            },
            [this] { EndIfAllPassed(); }));
    }
}

bool
SimulatedTraffic::FlowsOver() const
{
    return std::all_of(
        m_flows.begin(), m_flows.end(), [](const auto& flow) { return flow->IsOver(); });
}

void
SimulatedTraffic::AwaitFlows()
{
    if (!FlowsOver())
    {
        Simulator::Schedule(FLOW_LOOK, &SimulatedTraffic::AwaitFlows, this);
        return;
    }
    EndIfAllPassed();
}

bool
SimulatedTraffic::AllPassed() const
{
    return !m_programs.empty() && Simulator::Now() >= m_trafficEnd && FlowsOver() &&
           std::all_of(m_programs.begin(), m_programs.end(), [](const auto& program) {
               return program->HasPassed();
           });
}

void
SimulatedTraffic::EndIfAllPassed()
{
    if (m_ending)
    {
        StopIfAllEnded();
    }
    else if (m_endedBy == Ending::OWN && AllPassed())
    {
        End();
    }
}

void
SimulatedTraffic::End()
{
    if (std::exchange(m_ending, true))
    {
        return;
    }
    for (const auto& program : m_programs)
    {
        program->End();
    }
    StopIfAllEnded();
    Simulator::Schedule(STOP_TIMEOUT, [this] {
        m_timeoutOver = true;
        StopIfAllEnded();
    });
}

void
SimulatedTraffic::StopIfAllEnded()
{
    const bool programsEnded = std::all_of(m_programs.begin(),
                                           m_programs.end(),
                                           [](const auto& program) { return program->HasEnded(); });
    if (FlowsOver() && (programsEnded || m_timeoutOver))
    {
        Simulator::Stop();
    }
}

} // namespace ns3::sim
