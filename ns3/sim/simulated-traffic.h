/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_SIMULATED_TRAFFIC_H
#define VIADUCT_SIM_SIMULATED_TRAFFIC_H

#include "ns3/sim/control-channel.h"
#include "ns3/sim/flows.h"
#include "ns3/sim/network.h"
#include "ns3/sim/programs.h"
#include "ns3/sim/simulated-files.h"

#include "ns3/nstime.h"

#include "scenario/scenario.h"

#include <memory>
#include <vector>

namespace ns3::sim
{

/**
 * Mode simulate: schedules flows, programs and link events, and ends the run. As in the real modes,
 * the run ends before the scenario's duration when all programs and flows have ended.
 */
class SimulatedTraffic
{
  public:
    /** Ways in which a simulation ends. */
    enum class Ending
    {
        /** SimulatedTraffic ends the simulation, when the duration is over or all traffic has
         * ended. */
        OWN,
        OTHERS, //!< another object ends the simulation
    };

    /** Schedules the flows, programs and link events; their times count from this call.
     * @param scenario the scenario; must outlive this object
     * @param network the nodes; must outlive this object
     * @param files the captures; must outlive this object
     * @param control the channel to which the programs' output and the results are sent; must
     * outlive this object
     * @param ending the way in which the simulation ends
     */
    SimulatedTraffic(const viaduct::scenario::Scenario& scenario,
                     Network& network,
                     SimulatedFiles& files,
                     ControlChannel& control,
                     Ending ending = Ending::OWN);
    SimulatedTraffic(const SimulatedTraffic&) = delete;
    SimulatedTraffic& operator=(const SimulatedTraffic&) = delete;

    /** @return whether the run has any flow or program */
    bool IsBusy() const;
    /** Takes a link down or up now, as an event of the scenario does; the results include the
     * change as an event.
     * @param link the link's name
     * @param up whether the link carries frames after this call
     */
    void SetLinkUp(const std::string& link, bool up);
    /** Sends the results of all flows and programs. */
    void SendResults() const;

  private:
    void Apply(const viaduct::scenario::LinkEvent& event);
    void StartPrograms();
    /** @return whether no more packets of the flows will arrive */
    bool FlowsOver() const;
    /** Waits until FlowsOver() is true; then ends the run if all programs have passed, too. */
    void AwaitFlows();
    bool AllPassed() const;
    void EndIfAllPassed();
    void End();
    void StopIfAllEnded();

    const viaduct::scenario::Scenario& m_scenario; //!< the scenario
    Network& m_network;                            //!< the nodes
    SimulatedFiles& m_files;                       //!< the captures
    const Time m_start;                            //!< time from which the scenario's times count
    ControlChannel& m_control; //!< channel to which output lines and results are sent
    std::vector<std::unique_ptr<SimulatedFlow>> m_flows;       //!< all flows
    std::vector<std::unique_ptr<SimulatedProgram>> m_programs; //!< all programs
    const Ending m_endedBy;    //!< the way in which the simulation ends
    Time m_trafficEnd;         //!< end of the last flow or link event
    bool m_ending{false};      //!< whether the programs were requested to end
    bool m_timeoutOver{false}; //!< whether the programs' timeout has passed
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_SIMULATED_TRAFFIC_H
