/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

// The members of ScenarioRun that serve `viaduct hub`.
#include "ns3/sim/run-report.h"
#include "ns3/sim/scenario-run.h"

#include "ns3/boolean.h"
#include "ns3/global-value.h"
#include "ns3/reactor/reactor-simulator-impl.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3::sim
{

namespace
{

// Interval between two messages with a hub's statistics.
const Time HUB_INTERVAL = MilliSeconds(500);
// The number of clients in one message of statistics. The statistics of many clients are sent in
// several messages, so that no frame waits until all have been sent.
constexpr std::size_t HUB_PIECE = 16;
const Time HUB_PAUSE = MilliSeconds(1); // interval between two messages with HUB_PIECE clients each

/**
 * @param scenario a hub's scenario
 * @return whether the scenario has flows, programs, link events or waypoints, whose times count
 * from convergence
 */
bool
HasTimes(const viaduct::scenario::Scenario& scenario)
{
    return !scenario.flows.empty() || !scenario.programs.empty() || !scenario.link_events.empty() ||
           std::any_of(scenario.nodes.begin(), scenario.nodes.end(), [](const auto& node) {
               return !node.waypoints.empty();
           });
}

} // namespace

void
ScenarioRun::RunHub()
{
    GlobalValue::Bind("ChecksumEnabled", BooleanValue(true)); // clients' kernels verify checksums
    // A link without a SPEC has no rate limit and no delay, like a link between two nodes of a lab.
    m_simulated.plain = WifiLinksOf(m_scenario);
    m_network = std::make_unique<Network>(m_scenario, m_simulated.plain);
    m_hub = std::make_unique<HubService>(m_scenario, *m_network, *m_part.hub);
    m_files = std::make_unique<SimulatedFiles>(m_scenario, *m_network, m_captures);
    if (!m_scenario.flows.empty())
    {
        m_drops = std::make_unique<StackDrops>(m_scenario, *m_network);
    }
    Simulator::Schedule(Time(0), &ScenarioRun::WatchCommands, this);
    Simulator::Schedule(Time(0), &ScenarioRun::ReportHub, this);
    if (HasTimes(m_scenario))
    {
        // Routes are read only if the scenario has times that count from convergence, because
        // nothing else waits for routes, and reading the routes of a thousand clients takes time.
        m_bridged = MakeFrameReachability(m_scenario, *m_network);
        if (!m_bridged)
        {
            m_reachability = std::make_unique<Reachability>(m_scenario, *m_network);
        }
        Simulator::Schedule(Time(0), &ScenarioRun::LookAtRoutes, this);
    }
    Simulator::Run();
    if (m_traffic)
    {
        m_traffic->SendResults();
    }
    viaduct::result::SimulatorReport files;
    m_files->Describe(files);
    viaduct::scenario::SimulatorDone report{.ns3 = VersionOfNs3(),
                                            .build = BuildOfNs3(),
                                            .results = std::move(files),
                                            .hub = m_hub->Describe()};
    if (m_drops)
    {
        report.lost_at = m_drops->GetOfFlows();
    }
    m_control.Send(report);
    m_traffic.reset();
    m_hub.reset();
    Simulator::Destroy();
}

void
ScenarioRun::ReportHub()
{
    m_control.Send(viaduct::scenario::HubNow{m_hub->Summarize()});
    Simulator::Schedule(HUB_INTERVAL, &ScenarioRun::ReportHub, this);
}

void
ScenarioRun::ReportTiming()
{
    m_control.Send(viaduct::scenario::TimingNow{
        viaduct::result::Summarize(ReactorSimulatorImpl::Get()->GetLateness())});
    Simulator::Schedule(HUB_INTERVAL, &ScenarioRun::ReportTiming, this);
}

void
ScenarioRun::SendStatistics(std::size_t from)
{
    m_control.Send(viaduct::scenario::HubStatistics{m_hub->Describe(from, HUB_PIECE),
                                                    from + HUB_PIECE >= m_hub->GetN()});
    if (from + HUB_PIECE < m_hub->GetN())
    {
        Simulator::Schedule(HUB_PAUSE, &ScenarioRun::SendStatistics, this, from + HUB_PIECE);
    }
}

} // namespace ns3::sim
