/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_SCENARIO_RUN_H
#define VIADUCT_SIM_SCENARIO_RUN_H

#include "control-channel.h"
#include "flows.h"
#include "network.h"
#include "programs.h"
#include "reachability.h"
#include "simulated-links.h"

#include "ns3/lab-helper.h"

#include "base/time.h"
#include "scenario/scenario.h"

#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace sim
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
     * Mode simulate: pauses the run for shells on its kernel nodes (KernelShell).
     * @param at how long after convergence
     * @throw viaduct::UsageError where there is nothing to pause for
     */
    void PauseAt(viaduct::Duration at);

    /**
     * Runs to the end and sends the report.
     * @throw viaduct::Error
     */
    void Run();

  private:
    bool IsSimulate() const;
    void ChooseSimulator() const;
    void SeedRandom() const;
    void BuildLab();
    void EnableCaptures();
    void EnableState() const;
    nlohmann::json StateFiles() const;
    std::string CaptureFile(const std::string& link) const;
    nlohmann::json Captured() const;
    void WatchCommands();
    void LookAtRoutes();
    void Converged(const Reachability::Result& result);
    void StartTraffic();
    void SchedulePauses();
    void Paused();
    void ServePaused();
    void StartPrograms();
    bool AllPassed() const;
    void EndIfAllPassed();
    void End();
    void StopIfProgramsEnded();
    void ShowProgress();
    nlohmann::json Report() const;
    nlohmann::json Counters() const;
    void AddTiming(nlohmann::json& report) const;
    nlohmann::json Routes() const;

    viaduct::scenario::Scenario m_scenario;                    //!< what to run
    SimulatedLinks m_simulated;                                //!< mode simulate: what links became
    ControlChannel& m_control;                                 //!< events and commands
    std::string m_captures;                                    //!< directory
    std::map<std::string, uint64_t> m_captured;                //!< frames written, by link
    std::unique_ptr<Network> m_network;                        //!< the nodes
    std::unique_ptr<LabHelper> m_lab;                          //!< real modes
    std::unique_ptr<Reachability> m_reachability;              //!< who reaches whom
    std::vector<std::unique_ptr<SimulatedFlow>> m_flows;       //!< mode simulate
    std::vector<std::unique_ptr<SimulatedProgram>> m_programs; //!< mode simulate
    Time m_trafficEnd;                       //!< the last flow's, the last link event
    std::vector<viaduct::Duration> m_pauses; //!< since convergence
    bool m_ending{false};                    //!< what still runs was told to end
    viaduct::Instant m_progress;             //!< when it was last shown, wall clock
};

} // namespace sim
} // namespace ns3

#endif // VIADUCT_SIM_SCENARIO_RUN_H
