/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "scenario-run.h"

#include "time-conversion.h"

#include "ns3/config.h"
#include "ns3/global-value.h"
#include "ns3/kernel-shell.h"
#include "ns3/kernel-stack-helper.h"
#include "ns3/path-seed.h"
#include "ns3/pcap-file-wrapper.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/reactor-simulator-impl.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/trace-helper.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/units.h"
#include "sys/process.h"

#include <algorithm>
#include <filesystem>
#include <sys/resource.h>

namespace ns3
{
namespace sim
{

using viaduct::scenario::Mode;

namespace
{

const Time LOOK_INTERVAL = MilliSeconds(200);   // at the routes, until they have converged
const Time COMMAND_INTERVAL = MilliSeconds(50); // at the control channel
const Time FLOW_GRACE = Seconds(1);             // for what of a flow is under way
const Time STOP_PATIENCE = Seconds(2);          // for programs to end after SIGTERM
// Of wall time, between two signs of life of a simulation.
constexpr viaduct::Duration PROGRESS_INTERVAL = viaduct::Duration::Seconds(2);

/** The asserts and logging of the ns-3 this was built against (ns-3's own build differs not). */
std::string
BuildOfNs3()
{
    std::string text;
#ifdef NS3_ASSERT_ENABLE
    text += "asserts on";
#else
    text += "asserts off";
#endif
#ifdef NS3_LOG_ENABLE
    text += ", logging on";
#else
    text += ", logging off";
#endif
    return text;
}

nlohmann::json
CountersOf(const viaduct::io::PortCounters& port)
{
    return {{"rx_frames", port.rx_frames},
            {"rx_bytes", port.rx_bytes},
            {"tx_frames", port.tx_frames},
            {"tx_bytes", port.tx_bytes},
            {"rx_dropped_ring_full", port.rx_dropped_ring_full},
            {"rx_dropped_truncated", port.rx_dropped_truncated},
            {"tx_dropped_error", port.tx_dropped_error},
            {"tx_dropped_unclaimed", port.tx_dropped_unclaimed}};
}

} // namespace

ScenarioRun::ScenarioRun(const viaduct::scenario::Scenario& scenario,
                         ControlChannel& control,
                         const std::string& captures)
    : m_scenario(scenario), m_control(control), m_captures(captures)
{
    m_simulated = AssumeRates(m_scenario);
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
    else if (!IsSimulate())
    {
        type = "ns3::ReactorSimulatorImpl";
        // ns-3's own emulation stays as it is: two threads of it would starve what it serves.
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
ScenarioRun::SeedRandom() const
{
    SetSeedAndRun(m_scenario.seed);
}

void
ScenarioRun::Run()
{
    ChooseSimulator();
    SeedRandom();
    m_network = std::make_unique<Network>(m_scenario, m_simulated.plain);
    m_reachability = std::make_unique<Reachability>(m_scenario, *m_network);
    if (IsSimulate())
    {
        EnableCaptures();
        EnableState();
    }
    else
    {
        BuildLab();
        m_control.Send({{"event", "lab"}, {"name", m_scenario.name}});
    }
    Simulator::Schedule(COMMAND_INTERVAL, &ScenarioRun::WatchCommands, this);
    Simulator::Schedule(LOOK_INTERVAL, &ScenarioRun::LookAtRoutes, this);
    Simulator::Run();
    for (const auto& flow : m_flows)
    {
        m_control.Send(flow->Result());
    }
    for (const auto& program : m_programs)
    {
        m_control.Send(program->Result());
    }
    m_control.Send(Report());
    m_flows.clear();
    m_programs.clear();
    Simulator::Destroy();
}

void
ScenarioRun::BuildLab()
{
    LabHelper::Mode mode = LabHelper::OFFLOAD;
    if (m_scenario.mode == Mode::kTraditional)
    {
        mode = LabHelper::TRADITIONAL;
    }
    else if (m_scenario.mode == Mode::kEmulate)
    {
        mode = LabHelper::EMULATE;
    }
    m_lab = std::make_unique<LabHelper>(mode);
    m_lab->SetLabName(m_scenario.name);
    for (const auto& settings : m_scenario.nodes)
    {
        Ptr<Node> node = m_network->GetNode(settings.name);
        if (settings.data_plane || settings.host)
        {
            m_lab->SetDataPlane(
                node, settings.data_plane ? *settings.data_plane : viaduct::fib::kKernelPlane);
        }
        for (const auto& [name, value] : settings.sysctls)
        {
            m_lab->SetSysctl(node, name, value);
        }
        for (const auto& interface : settings.physical_interfaces)
        {
            m_lab->AddPhysicalInterface(node, interface, nullptr);
        }
    }
    for (const NetworkLink& link : m_network->GetLinks())
    {
        m_lab->SetLinkName(link.channel, link.settings->name);
        m_lab->SetEmulator(link.channel, link.settings->emulator);
        for (size_t i = 0; i < link.devices.size(); i++)
        {
            m_lab->SetSpec(link.devices[i], Network::SpecOf(*link.settings, i));
        }
    }
    m_lab->InstallOrThrow(m_network->GetNodes());
}

void
ScenarioRun::EnableCaptures()
{
    if (m_scenario.captures.empty())
    {
        return;
    }
    std::filesystem::create_directories(m_captures);
    for (const std::string& name : m_scenario.captures)
    {
        // Seen from the link's first node, as in the real modes.
        Ptr<NetDevice> device = m_network->GetLink(name).devices.at(0);
        const auto type = DynamicCast<PointToPointNetDevice>(device) ? PcapHelper::DLT_PPP
                                                                     : PcapHelper::DLT_EN10MB;
        Ptr<PcapFileWrapper> pcap = PcapHelper().CreateFile(CaptureFile(name), std::ios::out, type);
        uint64_t& frames = m_captured[name];
        auto write = [pcap, &frames](Ptr<const Packet> packet) {
            pcap->Write(Simulator::Now(), packet);
            frames++;
        };
        device->TraceConnectWithoutContext("PromiscSniffer",
                                           Callback<void, Ptr<const Packet>>(write));
    }
}

void
ScenarioRun::EnableState() const
{
    if (m_scenario.state.empty())
    {
        return;
    }
    std::filesystem::create_directories(m_captures);
    for (const std::string& name : m_scenario.state)
    {
        KernelStackHelper::EnableStateCsv(
            m_captures + "/" + name, m_network->GetNode(name), ToTime(m_scenario.state_interval));
    }
}

nlohmann::json
ScenarioRun::StateFiles() const
{
    nlohmann::json list = nlohmann::json::array();
    for (const std::string& name : m_scenario.state)
    {
        nlohmann::json files = nlohmann::json::array();
        for (const char* kind : {"-tcp.csv", "-qdisc.csv", "-nstat.csv"})
        {
            files.push_back(m_captures + "/" + name + kind);
        }
        list.push_back({{"node", name}, {"files", files}});
    }
    return list;
}

std::string
ScenarioRun::CaptureFile(const std::string& link) const
{
    return m_captures + "/" + link + ".pcap";
}

nlohmann::json
ScenarioRun::Captured() const
{
    nlohmann::json list = nlohmann::json::array();
    for (const std::string& name : m_scenario.captures)
    {
        list.push_back({{"link", name},
                        {"file", CaptureFile(name)},
                        {"frames", m_captured.at(name)},
                        {"dropped", 0}});
    }
    return list;
}

void
ScenarioRun::WatchCommands()
{
    if (m_control.StopRequested())
    {
        Simulator::Stop();
        return;
    }
    if (!m_flows.empty() || !m_programs.empty())
    {
        ShowProgress();
    }
    Simulator::Schedule(COMMAND_INTERVAL, &ScenarioRun::WatchCommands, this);
}

void
ScenarioRun::ShowProgress()
{
    const viaduct::Instant now = viaduct::MonotonicClock::Now();
    if (now - m_progress >= PROGRESS_INTERVAL)
    {
        m_progress = now;
        m_control.Send({{"event", "progress"}, {"time", Simulator::Now().GetSeconds()}});
    }
}

void
ScenarioRun::LookAtRoutes()
{
    const Reachability::Result result = m_reachability->Look();
    const double now = Simulator::Now().GetSeconds();
    const bool late = Simulator::Now() >= ToTime(m_scenario.convergence_timeout);
    if (result.reachable == result.pairs || late)
    {
        Converged(result);
        return;
    }
    m_control.Send({{"event", "progress"},
                    {"time", now},
                    {"reachable", result.reachable},
                    {"pairs", result.pairs}});
    Simulator::Schedule(LOOK_INTERVAL, &ScenarioRun::LookAtRoutes, this);
}

void
ScenarioRun::Converged(const Reachability::Result& result)
{
    m_control.Send({{"event", "converged"},
                    {"seconds", Simulator::Now().GetSeconds()},
                    {"reachable", result.reachable},
                    {"pairs", result.pairs},
                    {"unreachable", result.unreachable}});
    if (Ptr<ReactorSimulatorImpl> reactor = ReactorSimulatorImpl::Get())
    {
        reactor->ResetStatistics(); // what counts is the time of the traffic
    }
    if (!IsSimulate())
    {
        return;
    }
    if (!result.unreachable.empty() && m_scenario.convergence_required)
    {
        Simulator::Stop();
        return;
    }
    StartTraffic();
}

void
ScenarioRun::StartTraffic()
{
    for (size_t i = 0; i < m_scenario.flows.size(); i++)
    {
        m_flows.push_back(std::make_unique<SimulatedFlow>(m_scenario.flows[i], i, *m_network));
    }
    m_progress = viaduct::MonotonicClock::Now();
    for (const auto& event : m_scenario.link_events)
    {
        Simulator::Schedule(ToTime(event.at),
                            [this, event]() { m_network->SetLinkUp(event.link, event.up); });
    }
    StartPrograms();
    SchedulePauses();
    Simulator::Schedule(ToTime(m_scenario.duration), &ScenarioRun::End, this);
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
    if (std::none_of(m_scenario.nodes.begin(), m_scenario.nodes.end(), [](const auto& node) {
            return node.kernel.has_value();
        }))
    {
        throw viaduct::UsageError("--pause-at: no node has a kernel, and shells need one; give "
                                  "stack: kernel");
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
        [this] {
            m_control.Send({{"event", "resumed"}, {"time", Simulator::Now().GetSeconds()}});
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
    m_control.TakeResume(); // said before there was anything to go on from
    m_control.Send({{"event", "paused"},
                    {"time", Simulator::Now().GetSeconds()},
                    {"nodes", KernelShell::GetNodeNames()}});
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
        m_control.Send({{"event", "note"}, {"message", error.what()}});
    }
}

void
ScenarioRun::StartPrograms()
{
    for (const auto& settings : m_scenario.programs)
    {
        m_programs.push_back(std::make_unique<SimulatedProgram>(
            settings,
            m_network->GetNode(settings.node),
            [this, name = settings.name](const std::string& line) {
                m_control.Send({{"event", "output"}, {"program", name}, {"line", line}});
            },
            [this] { EndIfAllPassed(); }));
    }
    m_trafficEnd = Simulator::Now();
    for (const auto& flow : m_scenario.flows)
    {
        const Time length = ToTime(flow.start + flow.duration);
        m_trafficEnd = std::max(m_trafficEnd, Simulator::Now() + length + FLOW_GRACE);
    }
    for (const auto& event : m_scenario.link_events)
    {
        m_trafficEnd = std::max(m_trafficEnd, Simulator::Now() + ToTime(event.at));
    }
    if (!m_programs.empty())
    {
        Simulator::Schedule(m_trafficEnd - Simulator::Now(), &ScenarioRun::EndIfAllPassed, this);
    }
}

bool
ScenarioRun::AllPassed() const
{
    return Simulator::Now() >= m_trafficEnd &&
           std::all_of(m_programs.begin(), m_programs.end(), [](const auto& program) {
               return program->HasPassed();
           });
}

// As in the real modes: programs that have all ended end the run before its time.
void
ScenarioRun::EndIfAllPassed()
{
    if (m_ending)
    {
        StopIfProgramsEnded();
    }
    else if (AllPassed())
    {
        End();
    }
}

void
ScenarioRun::End()
{
    if (std::exchange(m_ending, true))
    {
        return;
    }
    for (const auto& program : m_programs)
    {
        program->End();
    }
    StopIfProgramsEnded();
    if (!m_programs.empty())
    {
        Simulator::Stop(STOP_PATIENCE);
    }
}

void
ScenarioRun::StopIfProgramsEnded()
{
    if (std::all_of(m_programs.begin(), m_programs.end(), [](const auto& program) {
            return program->HasEnded();
        }))
    {
        Simulator::Stop();
    }
}

nlohmann::json
ScenarioRun::Counters() const
{
    nlohmann::json counters = nlohmann::json::object();
    if (!m_lab)
    {
        return counters;
    }
    for (const auto& attachment : m_lab->GetAttachments())
    {
        auto ring = DynamicCast<RingNetDevice>(attachment.device);
        if (!ring)
        {
            continue;
        }
        nlohmann::json entry = CountersOf(ring->GetPort()->Counters());
        for (int reason = 0; reason < RingNetDevice::N_DROP_REASONS; reason++)
        {
            const auto which = static_cast<RingNetDevice::DropReason>(reason);
            if (ring->GetDrops(which) > 0)
            {
                entry["drops"][RingNetDevice::GetDropReasonName(which)] = ring->GetDrops(which);
            }
        }
        counters[attachment.nodeName + "/" + attachment.interface] = entry;
    }
    for (const auto& [name, program] : m_lab->GetProgramPorts())
    {
        nlohmann::json entry = CountersOf(program->GetPort()->Counters());
        for (int reason = 0; reason < ProgramPort::N_DROP_REASONS; reason++)
        {
            const auto which = static_cast<ProgramPort::DropReason>(reason);
            if (program->GetDrops(which) > 0)
            {
                entry["drops"][ProgramPort::GetDropReasonName(which)] = program->GetDrops(which);
            }
        }
        counters[name + "/programs"] = entry;
    }
    return counters;
}

nlohmann::json
ScenarioRun::Routes() const
{
    nlohmann::json routes = nlohmann::json::object();
    if (m_lab)
    {
        for (const auto& [name, offload] : m_lab->GetOffloads())
        {
            const auto& c = offload.routes->GetCounters();
            routes[name] = c.added + c.replaced + c.removed;
        }
    }
    return routes;
}

void
ScenarioRun::AddTiming(nlohmann::json& report) const
{
    Ptr<ReactorSimulatorImpl> reactor = ReactorSimulatorImpl::Get();
    if (!reactor)
    {
        return;
    }
    const auto& late = reactor->GetLateness();
    report["timing"] = {{"events", late.Count()},
                        {"p50_ns", late.Quantile(0.5)},
                        {"p99_ns", late.Quantile(0.99)},
                        {"max_ns", late.Max()},
                        {"nice", getpriority(PRIO_PROCESS, 0)},
                        {"void", reactor->IsVoid()}};
    const auto breakdown = reactor->GetBreakdown();
    const char* const names[] = {"events", "reading", "writing", "sleeping", "spinning"};
    static_assert(std::size(names) == ReactorSimulatorImpl::N_PHASES);
    for (int phase = 0; phase < ReactorSimulatorImpl::N_PHASES; phase++)
    {
        report["loop"][names[phase]] = breakdown.time[phase].GetSeconds();
    }
}

nlohmann::json
ScenarioRun::Report() const
{
    nlohmann::json report = {{"event", "report"},
                             {"version", VIADUCT_VERSION},
                             {"ns3", VIADUCT_NS3_VERSION},
                             {"build", BuildOfNs3()},
                             {"seed", m_scenario.seed},
                             {"counters", Counters()},
                             {"routes", Routes()}};
    if (m_lab)
    {
        uint64_t batches = 0;
        uint64_t refused = 0;
        int64_t nanoseconds = 0;
        nlohmann::json unsupported = nlohmann::json::array();
        for (const auto& [name, offload] : m_lab->GetOffloads())
        {
            batches += offload.routes->GetCounters().batches;
            refused += offload.routes->GetCounters().refused;
            nanoseconds += offload.routes->GetCounters().nanoseconds;
            for (const std::string& line : offload.control->GetUnsupported())
            {
                unsupported.push_back(name + " " + line);
            }
        }
        report["route_pushes"] = {
            {"batches", batches}, {"refused", refused}, {"seconds", nanoseconds / 1e9}};
        report["unsupported"] = unsupported;
    }
    if (IsSimulate())
    {
        report["captures"] = Captured();
        report["state"] = StateFiles();
        report["assumptions"] = m_simulated.assumptions;
    }
    AddTiming(report);
    return report;
}

} // namespace sim
} // namespace ns3
