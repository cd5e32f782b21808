/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_SCENARIO_RUN_H
#define VIADUCT_SIM_SCENARIO_RUN_H

#include "ns3/sim/control-channel.h"
#include "ns3/sim/frame-nodes.h"
#include "ns3/sim/hub-service.h"
#include "ns3/sim/network.h"
#include "ns3/sim/paused-view.h"
#include "ns3/sim/reachability.h"
#include "ns3/sim/route-check.h"
#include "ns3/sim/route-log.h"
#include "ns3/sim/scenario-lab.h"
#include "ns3/sim/simulated-files.h"
#include "ns3/sim/simulated-links.h"
#include "ns3/sim/simulated-traffic.h"
#include "ns3/sim/stack-drops.h"

#include "ns3/offload/lab-helper.h"

#include "base/time.h"
#include "scenario/scenario.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::sim
{

/**
 * One run of a scenario, from the creation of the nodes to the report.
 */
class ScenarioRun
{
  public:
    /**
     * @param scenario the scenario to run
     * @param control the channel on which events are sent and commands are received
     * @param captures the directory for packet captures of mode simulate
     */
    ScenarioRun(const viaduct::scenario::Scenario& scenario,
                ControlChannel& control,
                const std::string& captures);

    /**
     * Mode simulate: pauses the run, for inspection and for shells on kernel nodes (KernelShell).
     * @param at the time of the pause, counted from convergence
     * @throw viaduct::UsageError if the mode is not simulate, or the run ends before the pause
     */
    void PauseAt(viaduct::Duration at);

    /** Real modes: prepares emulated links for changes of their SPECs at any time. */
    void KeepSpecsLive()
    {
        m_part.live = true;
    }

    /** Real modes: makes Run() take over the lab of a failed simulator. */
    void AdoptLab()
    {
        m_part.adopts = true;
    }

    /** Real modes: makes Run() build only the part of the lab that is on one of the scenario's
     * machines. The traffic begins after the command Go, which is received when the routes of all
     * machines have converged or timed out.
     * @param host the machine's name
     */
    void BuildPart(const std::string& host)
    {
        m_part.host = host;
    }

    /** Mode simulate: makes Run() run in real time, and serve the clients of remote nodes until it
     * is stopped.
     * @param options the address and port to which clients send
     */
    void ServeHub(const HubOptions& options)
    {
        m_part.hub = options;
    }

    /**
     * Runs the scenario to its end and sends the report.
     * @throw viaduct::Error if the run fails
     */
    void Run();

  private:
    bool IsSimulate() const;
    void ChooseSimulator() const;
    void ReportPassages(bool late);
    viaduct::result::Convergence AcrossHosts(viaduct::result::Convergence here) const;
    void WatchCommands();
    void Obey(const viaduct::scenario::SimulatorCommand& command);
    void ShowProgress();
    void LookAtRoutes();
    void AwaitDataPlanes(const std::function<void()>& then);
    void End();
    void Begin(const viaduct::result::Convergence& convergence);
    std::optional<viaduct::result::Convergence> FindByFlows(
        const viaduct::result::Convergence& now);
    void Converged(const viaduct::result::Convergence& convergence);
    void SampleRoutes();
    void SchedulePauses();
    void Paused();
    void ServePaused();
    void SendReport() const;
    void RunHub();
    void ReportHub();
    void ReportTiming();
    void SendStatistics(std::size_t from);

    viaduct::scenario::Scenario m_scenario; //!< the scenario to run
    /** Mode simulate: the assumed rates of links, and the links that are ns-3's own channels. */
    SimulatedLinks m_simulated;
    ControlChannel& m_control; //!< the channel for events and commands
    std::string m_captures;    //!< directory of packet captures
    LabPart m_part;            //!< options of the lab, and of `viaduct hub`
    /** The command Go, received when the routes of all machines have converged or timed out. */
    std::optional<viaduct::scenario::Go> m_go;
    std::unique_ptr<Network> m_network;   //!< the nodes
    std::unique_ptr<LabHelper> m_lab;     //!< real modes: the lab
    std::unique_ptr<RouteLog> m_routeLog; //!< real modes: records route changes
    /** Reachability by IP routes; null: the nodes forward frames. */
    std::unique_ptr<Reachability> m_reachability;
    /** Reachability of nodes that forward frames; null: the nodes route IP packets. */
    std::unique_ptr<FrameReachability> m_bridged;
    std::unique_ptr<SimulatedFiles> m_files; //!< mode simulate: writes captures and other files
    /** Mode simulate: the traffic, which starts when the routes have converged. */
    std::unique_ptr<SimulatedTraffic> m_traffic;
    /** Counts packets dropped by ns-3's stacks; null: mode offload, or a hub without flows. */
    std::unique_ptr<StackDrops> m_drops;
    std::unique_ptr<HubService> m_hub; //!< the service of `viaduct hub`; null: not a hub
    /** Places of nodes at the traffic's start, m, by node. */
    std::map<std::string, std::vector<double>> m_places;
    std::vector<viaduct::Duration> m_pauses; //!< times of the pauses, counted from convergence
    std::unique_ptr<PausedView> m_view;      //!< state of a paused run; null: the run has no pauses
    std::vector<viaduct::result::RouteSample> m_samples; //!< samples of routes, if requested
    /** Mode offload: compares the data planes' routes with the protocols'. */
    std::unique_ptr<RouteCheck> m_check;
    /** The report that is made at the end of the traffic; empty if no routes are compared
     * afterwards. */
    std::optional<viaduct::result::SimulatorReport> m_report;
    viaduct::Instant m_look;     //!< wall-clock time at which the last read of the routes started
    uint32_t m_reached{0};       //!< number of reachable pairs at the last read of the routes
    Time m_reachedAt;            //!< time of the last change of m_reached
    viaduct::Instant m_progress; //!< wall-clock time of the last progress message
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_SCENARIO_RUN_H
