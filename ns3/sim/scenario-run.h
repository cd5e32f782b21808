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
 * One run of a scenario, from the nodes to the report.
 */
class ScenarioRun
{
  public:
    /**
     * @param scenario the scenario to run
     * @param control sends events and receives commands
     * @param captures directory for mode simulate's packet captures
     */
    ScenarioRun(const viaduct::scenario::Scenario& scenario,
                ControlChannel& control,
                const std::string& captures);

    /**
     * Mode simulate: pauses the run, for inspection and for shells on kernel nodes (KernelShell).
     * @param at duration after convergence
     * @throw viaduct::UsageError in another mode, or if the run has ended by then
     */
    void PauseAt(viaduct::Duration at);

    /** Real modes: the SPECs of emulated links may change at any time. */
    void KeepSpecsLive()
    {
        m_part.live = true;
    }

    /** Real modes: takes over the lab of a failed simulator. */
    void AdoptLab()
    {
        m_part.adopts = true;
    }

    /** Real modes: builds the part of the lab that is on one of the scenario's hosts. The routes of
     * all machines have converged when the other machines report it ("go").
     * @param host the host's name
     */
    void BuildPart(const std::string& host)
    {
        m_part.host = host;
    }

    /** Mode simulate: runs in real time, and serves the clients of remote nodes until it is
     * stopped.
     * @param options the address to which clients send
     */
    void ServeHub(const HubOptions& options)
    {
        m_part.hub = options;
    }

    /**
     * Runs to the end and sends the report.
     * @throw viaduct::Error
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

    viaduct::scenario::Scenario m_scenario;       //!< the scenario to run
    SimulatedLinks m_simulated;                   //!< mode simulate: simulated links
    ControlChannel& m_control;                    //!< events and commands
    std::string m_captures;                       //!< directory
    LabPart m_part;                               //!< options of the lab; `viaduct hub`
    std::optional<viaduct::scenario::Go> m_go;    //!< whether all machines' routes have converged
    std::unique_ptr<Network> m_network;           //!< the nodes
    std::unique_ptr<LabHelper> m_lab;             //!< real modes
    std::unique_ptr<RouteLog> m_routeLog;         //!< real modes: route changes
    std::unique_ptr<Reachability> m_reachability; //!< reachability by IP
    std::unique_ptr<FrameReachability> m_bridged; //!< reachability by frames
    std::unique_ptr<SimulatedFiles> m_files;      //!< mode simulate
    std::unique_ptr<SimulatedTraffic> m_traffic;  //!< mode simulate, after convergence
    std::unique_ptr<StackDrops> m_drops;          //!< drops, where ns-3 forwards
    std::unique_ptr<HubService> m_hub;            //!< `viaduct hub` of a simulation
    std::map<std::string, std::vector<double>> m_places; //!< at the traffic's start, m, by node
    std::vector<viaduct::Duration> m_pauses;             //!< since convergence
    std::unique_ptr<PausedView> m_view;                  //!< if there are pauses
    std::vector<viaduct::result::RouteSample> m_samples; //!< samples of routes, if requested
    std::unique_ptr<RouteCheck> m_check;                 //!< checks data planes; mode offload
    std::optional<viaduct::result::SimulatorReport> m_report; //!< made when traffic ends
    viaduct::Instant m_look;     //!< start of the last read of the routes, wall clock
    uint32_t m_reached{0};       //!< reachable pairs, at the last read
    Time m_reachedAt;            //!< time since when m_reached is this
    viaduct::Instant m_progress; //!< time of the last progress report, wall clock
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_SCENARIO_RUN_H
