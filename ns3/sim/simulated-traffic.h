/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_SIMULATED_TRAFFIC_H
#define VIADUCT_SIM_SIMULATED_TRAFFIC_H

#include "control-channel.h"
#include "flows.h"
#include "network.h"
#include "programs.h"
#include "simulated-files.h"

#include "ns3/nstime.h"

#include "scenario/scenario.h"

#include <memory>
#include <vector>

namespace ns3::sim
{

/**
 * Mode simulate: flows, programs and link events at their times, and the end of the run. As in the
 * real modes, the run ends before its time when all programs have ended.
 */
class SimulatedTraffic
{
  public:
    /** Ways in which a simulation ends. */
    enum class Ending
    {
        OWN,    //!< by the end of the scenario's time, or of its programs
        OTHERS, //!< by whoever else uses the network
    };

    /** Schedules everything; times count from now.
     * @param scenario the scenario; must outlive this object
     * @param network the nodes; must outlive this
     * @param files with the captures; must outlive this
     * @param control receives the programs' output; must outlive this object
     * @param ending what ends the simulation
     */
    SimulatedTraffic(const viaduct::scenario::Scenario& scenario,
                     Network& network,
                     SimulatedFiles& files,
                     ControlChannel& control,
                     Ending ending = Ending::OWN);
    SimulatedTraffic(const SimulatedTraffic&) = delete;
    SimulatedTraffic& operator=(const SimulatedTraffic&) = delete;

    /** @return whether the run has anything to carry */
    bool IsBusy() const;
    /** Takes a link down or up now, as an event of the scenario does; the results have it.
     * @param link its name
     * @param up whether it carries frames from now on
     */
    void SetLinkUp(const std::string& link, bool up);
    /** Sends the results of all flows and programs. */
    void SendResults() const;

  private:
    void Apply(const viaduct::scenario::LinkEvent& event);
    void StartPrograms();
    /** @return whether nothing more of the flows' packets will come */
    bool FlowsOver() const;
    /** Ends the run, if nothing else keeps it, when FlowsOver(). */
    void AwaitFlows();
    bool AllPassed() const;
    void EndIfAllPassed();
    void End();
    void StopIfAllEnded();

    const viaduct::scenario::Scenario& m_scenario;             //!< the scenario
    Network& m_network;                                        //!< the nodes
    SimulatedFiles& m_files;                                   //!< with the captures
    const Time m_start;                                        //!< when times begin to count
    ControlChannel& m_control;                                 //!< takes lines and results
    std::vector<std::unique_ptr<SimulatedFlow>> m_flows;       //!< all
    std::vector<std::unique_ptr<SimulatedProgram>> m_programs; //!< all
    const Ending m_endedBy;                                    //!< what ends the simulation
    Time m_trafficEnd;                                         //!< of flows and link events
    bool m_ending{false};                                      //!< programs were told to end
    bool m_timeoutOver{false};                                 //!< with those that did not
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_SIMULATED_TRAFFIC_H
