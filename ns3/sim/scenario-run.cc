/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/scenario-run.h"

#include "ns3/sim/node-stacks.h"
#include "ns3/sim/placement.h"
#include "ns3/sim/protocol-probe.h"
#include "ns3/sim/run-report.h"
#include "ns3/sim/time-conversion.h"

#include "ns3/base/path-seed.h"
#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/global-value.h"
#include "ns3/kernel/kernel-shell.h"
#include "ns3/reactor/reactor-simulator-impl.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/units.h"
#include "scenario/events.h"
#include "scenario/protocols.h"
#include "sys/process/process.h"

#include <algorithm>

namespace ns3::sim
{

using viaduct::scenario::Mode;

namespace
{

const Time LOOK_INTERVAL =
    MilliSeconds(200); // interval between reads of the routes, until the routes have converged
// Time without a new route after which routes count as converged, if their number is not known.
const Time SETTLED = Seconds(2);
const Time COMMAND_INTERVAL = MilliSeconds(50); // interval between reads of the control channel
// The wall-clock time between two progress messages of a simulation.
constexpr viaduct::Duration PROGRESS_INTERVAL = viaduct::Duration::Seconds(2);

} // namespace

ScenarioRun::ScenarioRun(const viaduct::scenario::Scenario& scenario,
                         ControlChannel& control,
                         const std::string& captures)
    : m_scenario(scenario), m_control(control), m_captures(captures)
{
}

bool
ScenarioRun::IsSimulate() const
{
    return m_scenario.mode == Mode::kSimulate;
}

void
ScenarioRun::ChooseSimulator() const
{
    std::string type = "ns3::DefaultSimulatorImpl";
    if (m_scenario.mode == Mode::kTraditional)
    {
        type = "ns3::RealtimeSimulatorImpl";
    }
    else if (!IsSimulate() || m_part.hub)
    {
        type = "ns3::ReactorSimulatorImpl";
        // Only the reactor simulator takes the highest priority. ns-3's own real-time simulator has
        // two threads, which at this priority would starve the processes that they serve.
        viaduct::sys::TakeHighestPriority();
    }
    GlobalValue::Bind("SimulatorImplementationType", StringValue(type));
    if (m_scenario.lateness_limit && type == "ns3::ReactorSimulatorImpl")
    {
        Config::SetDefault("ns3::ReactorSimulatorImpl::LatenessLimit",
                           TimeValue(ToTime(*m_scenario.lateness_limit)));
    }
}

void
ScenarioRun::Run()
{
    ChooseSimulator();
    SetSeedAndRun(m_scenario.seed);
    if (m_part.hub && IsSimulate())
    {
        return RunHub();
    }
    m_simulated = AssumeRates(m_scenario);
    if (IsSimulate())
    {
        const std::vector<std::string> ignored = IgnoredSettings(m_scenario);
        m_simulated.assumptions.insert(
            m_simulated.assumptions.end(), ignored.begin(), ignored.end());
    }
    ProbeProtocol(ProtocolFactory(m_scenario));
    m_network = std::make_unique<Network>(m_scenario, m_simulated.plain, m_part.host);
    m_bridged = MakeFrameReachability(m_scenario, *m_network);
    if (!m_bridged)
    {
        m_reachability = std::make_unique<Reachability>(m_scenario, *m_network);
    }
    if (IsSimulate())
    {
        m_files = std::make_unique<SimulatedFiles>(m_scenario, *m_network, m_captures);
    }
    else
    {
        m_lab = BuildLab(m_scenario, *m_network, m_part);
        if (!m_part.live && !m_part.adopts && !m_part.hub)
        {
            // Route changes are recorded only for a run that ends by itself.
            m_routeLog = std::make_unique<RouteLog>(*m_lab);
        }
        m_control.Send(viaduct::scenario::LabBuilt{m_scenario.name});
        if (m_reachability && m_scenario.mode == Mode::kOffload)
        {
            m_check = std::make_unique<RouteCheck>(m_scenario, *m_network, *m_reachability, *m_lab);
        }
    }
    if (m_scenario.mode != Mode::kOffload)
    {
        m_drops = std::make_unique<StackDrops>(m_scenario, *m_network);
    }
    Simulator::Schedule(COMMAND_INTERVAL, &ScenarioRun::WatchCommands, this);
    Simulator::Schedule(LOOK_INTERVAL, &ScenarioRun::LookAtRoutes, this);
    Simulator::Run();
    if (m_traffic)
    {
        m_traffic->SendResults();
    }
    SendReport();
    m_view.reset();
    m_traffic.reset();
    Simulator::Destroy();
}

void
ScenarioRun::ReportPassages(bool late)
{
    viaduct::scenario::Passages report{m_reachability->Check(), late};
    if (late || report.here.unreachable.empty())
    {
        report.passages = m_reachability->LookAtPassages(late);
    }
    m_control.Send(report);
}

viaduct::result::Convergence
ScenarioRun::AcrossHosts(viaduct::result::Convergence here) const
{
    here.unreachable.clear();
    for (const auto& pair : m_go->unreachable)
    {
        if (m_network->IsLocal(pair.first))
        {
            here.unreachable.push_back(pair);
        }
    }
    here.reachable = here.pairs - here.unreachable.size();
    return here;
}

void
ScenarioRun::WatchCommands()
{
    if (m_control.StopRequested())
    {
        return End();
    }
    for (const viaduct::scenario::SimulatorCommand& command : m_control.TakeCommands())
    {
        Obey(command);
    }
    if (m_traffic && m_traffic->IsBusy())
    {
        ShowProgress();
    }
    Simulator::Schedule(COMMAND_INTERVAL, &ScenarioRun::WatchCommands, this);
}

void
ScenarioRun::Obey(const viaduct::scenario::SimulatorCommand& command)
{
    if (const auto* go = std::get_if<viaduct::scenario::Go>(&command))
    {
        m_go = *go;
    }
    if (!m_hub)
    {
        return;
    }
    m_hub->Obey(command);
    if (std::holds_alternative<viaduct::scenario::AskStatistics>(command))
    {
        SendStatistics(0);
    }
    else if (const auto* claim = std::get_if<viaduct::scenario::Claim>(&command))
    {
        m_control.Send(viaduct::scenario::Claimed{claim->node});
    }
}

void
ScenarioRun::ShowProgress()
{
    const viaduct::Instant now = viaduct::MonotonicClock::Now();
    if (now - m_progress >= PROGRESS_INTERVAL)
    {
        m_progress = now;
        m_control.Send(viaduct::scenario::SimulatorProgress{Simulator::Now().GetSeconds()});
    }
}

void
ScenarioRun::LookAtRoutes()
{
    m_look = viaduct::MonotonicClock::Now();
    if (FindRoutesOnDemand(*m_network))
    {
        return Converged({.seconds = Simulator::Now().GetSeconds(), .on_demand = true});
    }
    if (!m_bridged && m_scenario.routing.protocol == viaduct::scenario::kNoProtocol &&
        !m_reachability->IsSomeTentative())
    {
        return Converged({.seconds = Simulator::Now().GetSeconds(), .by_programs = true});
    }
    const viaduct::result::Convergence now =
        m_bridged ? m_bridged->Check() : m_reachability->Check();
    const bool late = Simulator::Now() >= ToTime(m_scenario.convergence_timeout);
    if (!m_part.host.empty() && !m_go)
    {
        ReportPassages(late);
        Simulator::Schedule(LOOK_INTERVAL, &ScenarioRun::LookAtRoutes, this);
        return;
    }
    if (m_go && !m_go->unreachable.empty())
    {
        return Converged(AcrossHosts(now));
    }
    const bool areAll = now.reachable == now.pairs;
    if (late || (areAll && (m_bridged || m_reachability->HaveFlowsRoutes())))
    {
        Converged(now);
        return;
    }
    if (const auto found = m_bridged ? std::nullopt : FindByFlows(now))
    {
        Converged(*found);
        return;
    }
    m_control.Send(viaduct::scenario::SimulatorProgress{now.seconds, now.reachable, now.pairs});
    Simulator::Schedule(LOOK_INTERVAL, &ScenarioRun::LookAtRoutes, this);
}

std::optional<viaduct::result::Convergence>
ScenarioRun::FindByFlows(const viaduct::result::Convergence& now)
{
    if (!m_reachability->HasUnknown())
    {
        return std::nullopt;
    }
    viaduct::result::Convergence found{.seconds = now.seconds};
    if (m_scenario.flows.empty())
    {
        // The number of routes that are still missing is unknown, so the routes count as converged
        // when no new pair of nodes has become reachable for SETTLED.
        const bool isNew = now.reachable != m_reached;
        m_reached = now.reachable;
        m_reachedAt = isNew ? Simulator::Now() : m_reachedAt;
        found.on_demand = true;
        return Simulator::Now() - m_reachedAt >= SETTLED ? std::optional(found) : std::nullopt;
    }
    const auto routes = m_reachability->AskForFlows();
    if (routes == Reachability::FlowRoutes::ON_DEMAND)
    {
        found.on_demand = true;
        return found;
    }
    found.reachable = found.pairs = m_reachability->CountFlowPairs();
    const bool isFound = routes == Reachability::FlowRoutes::FOUND && m_reachability->IsUndecided();
    return isFound ? std::optional(found) : std::nullopt;
}

void
ScenarioRun::Converged(const viaduct::result::Convergence& convergence)
{
    if (m_lab)
    {
        m_lab->Release();
        // The data planes are updated now, because ns-3's tables that are polled may have routes
        // that the data planes do not have yet.
        for (const auto& [name, offload] : m_lab->GetOffloads())
        {
            offload.routes->Update();
        }
    }
    // Begin() runs after the events that became late while the routes were read, so that their
    // lateness is not measured.
    const Time late = IsSimulate() ? Time(0) : ToTime(viaduct::MonotonicClock::Now() - m_look);
    AwaitDataPlanes([this, convergence, late] {
        late.IsZero() ? Begin(convergence)
                      : void(Simulator::Schedule(late, &ScenarioRun::Begin, this, convergence));
    });
}

void
ScenarioRun::AwaitDataPlanes(const std::function<void()>& then)
{
    if (!m_check)
    {
        return then();
    }
    m_check->AwaitAgreement([this, then](const auto& differences) {
        for (const std::string& line : differences)
        {
            m_control.Send(viaduct::scenario::RouteDifference{line});
        }
        then();
    });
}

void
ScenarioRun::End()
{
    // For a lab that stays up, routes are not compared at the end.
    if (!m_check || m_part.live || m_part.adopts)
    {
        return Simulator::Stop();
    }
    // The report is made before the comparison of routes, because the comparison makes events late.
    m_report = MakeReport(m_lab.get());
    AwaitDataPlanes([] { Simulator::Stop(); });
}

void
ScenarioRun::Begin(const viaduct::result::Convergence& convergence)
{
    m_control.Send(viaduct::scenario::Converged{convergence});
    if (m_scenario.routing.sample && m_reachability && !m_part.hub && !m_part.live)
    {
        SampleRoutes();
    }
    Ptr<ReactorSimulatorImpl> reactor = ReactorSimulatorImpl::Get();
    if (reactor && !m_hub) // a hub's statistics also cover the clients' traffic before convergence
    {
        reactor->ResetStatistics(); // lateness is measured only while the scenario's traffic runs
    }
    m_places = PlacesOf(m_scenario, m_network->GetNodes());
    if (!IsSimulate())
    {
        if (m_part.hub)
        {
            ReportTiming();
        }
        MoveAlongWaypoints(m_scenario, m_network->GetNodes());
        return;
    }
    if (!convergence.unreachable.empty() && m_scenario.convergence_required)
    {
        Simulator::Stop();
        return;
    }
    m_progress = viaduct::MonotonicClock::Now();
    m_traffic = std::make_unique<SimulatedTraffic>(m_scenario,
                                                   *m_network,
                                                   *m_files,
                                                   m_control,
                                                   m_hub ? SimulatedTraffic::Ending::OTHERS
                                                         : SimulatedTraffic::Ending::OWN);
    SchedulePauses();
}

void
ScenarioRun::PauseAt(viaduct::Duration at)
{
    if (!IsSimulate())
    {
        throw viaduct::UsageError(
            std::string("--pause-at: only mode simulate can be paused, not ") +
            viaduct::scenario::ModeName(m_scenario.mode));
    }
    if (at >= m_scenario.duration)
    {
        throw viaduct::UsageError("--pause-at: " + viaduct::FormatDuration(at) +
                                  " is not before the run's end (duration: " +
                                  viaduct::FormatDuration(m_scenario.duration) + ")");
    }
    m_pauses.push_back(at);
}

void
ScenarioRun::SampleRoutes()
{
    const viaduct::Duration interval = *m_scenario.routing.sample;
    const auto number = static_cast<int64_t>(m_samples.size());
    m_samples.push_back(m_reachability->Sample());
    m_samples.back().at = (interval * number).ToSeconds();
    if (interval * (number + 1) <= m_scenario.duration)
    {
        Simulator::Schedule(ToTime(interval), &ScenarioRun::SampleRoutes, this);
    }
}

void
ScenarioRun::SchedulePauses()
{
    if (m_pauses.empty())
    {
        return;
    }
    Ptr<KernelShell> shell = KernelShell::Get();
    shell->SetAttribute("Name", StringValue(m_scenario.name));
    shell->SetHandlers(
        [this] { Paused(); },
        [this] { m_control.Send(viaduct::scenario::Resumed{Simulator::Now().GetSeconds()}); });
    m_view = std::make_unique<PausedView>(m_scenario, *m_network, m_reachability.get(), *m_traffic);
    shell->SetView([this] {
        return KernelShell::View{m_view->GetNodes(),
                                 m_view->GetLinks(),
                                 [this](const auto& request) { return m_view->Answer(request); }};
    });
    shell->Watch(m_control.GetFd(), [this] { ServePaused(); });
    for (const viaduct::Duration at : m_pauses)
    {
        KernelShell::PauseAt(Simulator::Now() + ToTime(at));
    }
}

void
ScenarioRun::Paused()
{
    m_control.TakeResume(); // a Resume that was received before the pause is discarded
    m_control.Send(
        viaduct::scenario::Paused{Simulator::Now().GetSeconds(), KernelShell::GetNodeNames()});
}

void
ScenarioRun::ServePaused()
{
    if (m_control.StopRequested())
    {
        Simulator::Stop();
        return;
    }
    if (!m_control.TakeResume())
    {
        return;
    }
    try
    {
        KernelShell::Get()->Resume();
    }
    catch (const viaduct::UsageError& error)
    {
        m_control.Send(viaduct::scenario::Note{error.what()});
    }
}

void
ScenarioRun::SendReport() const
{
    viaduct::result::SimulatorReport report = m_report ? *m_report : MakeReport(m_lab.get());
    if (m_routeLog)
    {
        report.route_changes = m_routeLog->GetChanges();
        if (m_routeLog->GetOmitted() > 0)
        {
            report.route_changes_omitted = m_routeLog->GetOmitted();
        }
    }
    if (IsSimulate())
    {
        m_files->Describe(report);
        report.assumptions = m_simulated.assumptions;
    }
    report.positions = m_places;
    if (m_drops)
    {
        m_drops->Describe(report);
    }
    report.route_samples = m_samples;
    DescribeFrameNodes(*m_network, report);
    viaduct::scenario::SimulatorDone done{.ns3 = VersionOfNs3(),
                                          .build = BuildOfNs3(),
                                          .results = std::move(report),
                                          .links = MakeLinkReport(*m_network)};
    if (m_drops)
    {
        done.lost_at = m_drops->GetOfFlows();
    }
    m_control.Send(done);
}

} // namespace ns3::sim
