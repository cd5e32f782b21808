/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_SCENARIO_RUN_H
#define VIADUCT_SIM_SCENARIO_RUN_H

#include "control-channel.h"
#include "frame-nodes.h"
#include "hub-service.h"
#include "network.h"
#include "paused-view.h"
#include "reachability.h"
#include "route-check.h"
#include "route-log.h"
#include "scenario-lab.h"
#include "simulated-files.h"
#include "simulated-links.h"
#include "simulated-traffic.h"
#include "stack-drops.h"

#include "ns3/lab-helper.h"

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
     * @param scenario what to run
     * @param control where events go and commands come from
     * @param captures directory for mode simulate's packet captures
     */
    ScenarioRun(const viaduct::scenario::Scenario& scenario,
                ControlChannel& control,
                const std::string& captures);

    /**
     * Mode simulate: pauses the run, to be looked at, and for shells on kernel nodes (KernelShell).
     * @param at how long after convergence
     * @throw viaduct::UsageError if the mode is another, or the run has ended then
     */
    void PauseAt(viaduct::Duration at);

    /** Real modes: the SPECs of emulated links may change at any time. */
    void KeepSpecsLive()
    {
        m_part.live = true;
    }

    /** Real modes: takes over the lab of a simulator that has died. */
    void AdoptLab()
    {
        m_part.adopts = true;
    }

    /** Real modes: builds the part of the lab that is on one of the scenario's hosts. The routes of
     * all hosts have converged when the others say so ("go").
     * @param host its name
     */
    void BuildPart(const std::string& host)
    {
        m_part.host = host;
    }

    /** Mode simulate: runs in real time, and serves the clients of remote nodes until it is
     * stopped.
     * @param options where clients send to
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

    viaduct::scenario::Scenario m_scenario;       //!< what to run
    SimulatedLinks m_simulated;                   //!< mode simulate: how links are simulated
    ControlChannel& m_control;                    //!< events and commands
    std::string m_captures;                       //!< directory
    LabPart m_part;                               //!< what is built of the lab; `viaduct hub`
    std::optional<viaduct::scenario::Go> m_go;    //!< routes of all machines have converged, or not
    std::unique_ptr<Network> m_network;           //!< the nodes
    std::unique_ptr<LabHelper> m_lab;             //!< real modes
    std::unique_ptr<RouteLog> m_routeLog;         //!< of a run in a real mode
    std::unique_ptr<Reachability> m_reachability; //!< which nodes reach which, by IP
    std::unique_ptr<FrameReachability> m_bridged; //!< the same, if nodes forward frames
    std::unique_ptr<SimulatedFiles> m_files;      //!< mode simulate
    std::unique_ptr<SimulatedTraffic> m_traffic;  //!< mode simulate, after convergence
    std::unique_ptr<StackDrops> m_drops;          //!< where ns-3 forwards
    std::unique_ptr<HubService> m_hub;            //!< `viaduct hub` of a simulation
    std::map<std::string, std::vector<double>> m_places; //!< at the traffic's start, m, by node
    std::vector<viaduct::Duration> m_pauses;             //!< since convergence
    std::unique_ptr<PausedView> m_view;                  //!< if there are any
    std::vector<viaduct::result::RouteSample> m_samples; //!< of the routes, if asked for
    std::unique_ptr<RouteCheck> m_check;                 //!< of the data planes; mode offload
    std::optional<viaduct::result::SimulatorReport> m_report; //!< when the traffic was over
    viaduct::Instant m_look;     //!< when the last look at the routes began, wall clock
    uint32_t m_reached{0};       //!< pairs, at the last look
    Time m_reachedAt;            //!< when they became so many
    viaduct::Instant m_progress; //!< when it was last shown, wall clock
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_SCENARIO_RUN_H
