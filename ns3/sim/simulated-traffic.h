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
 * Mode simulate: flows, programs and link events at their times, and the end of the run. As in the
 * real modes, the run ends before its time when all programs have ended.
 */
class SimulatedTraffic
{
  public:
    /** Ways in which a simulation ends. */
    enum class Ending
    {
        OWN,    //!< ends with the scenario's time or programs
        OTHERS, //!< another user of the network ends it
    };

    /** Schedules everything; times count from this call.
     * @param scenario the scenario; must outlive this object
     * @param network the nodes; must outlive this object
     * @param files the captures; must outlive this object
     * @param control receives the programs' output; must outlive this object
     * @param ending ends the simulation
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
    /** Takes a link down or up now, as an event of the scenario does; the results include it.
     * @param link the link's name
     * @param up whether it carries frames after this call
     */
    void SetLinkUp(const std::string& link, bool up);
    /** Sends the results of all flows and programs. */
    void SendResults() const;

  private:
    void Apply(const viaduct::scenario::LinkEvent& event);
    void StartPrograms();
    /** @return whether no more packets of the flows will arrive */
    bool FlowsOver() const;
    /** Ends the run when FlowsOver(), unless something else still needs it. */
    void AwaitFlows();
    bool AllPassed() const;
    void EndIfAllPassed();
    void End();
    void StopIfAllEnded();

    const viaduct::scenario::Scenario& m_scenario;             //!< the scenario
    Network& m_network;                                        //!< the nodes
    SimulatedFiles& m_files;                                   //!< the captures
    const Time m_start;                                        //!< instant from which times count
    ControlChannel& m_control;                                 //!< takes lines and results
    std::vector<std::unique_ptr<SimulatedFlow>> m_flows;       //!< all flows
    std::vector<std::unique_ptr<SimulatedProgram>> m_programs; //!< all programs
    const Ending m_endedBy;                                    //!< ends the simulation
    Time m_trafficEnd;                                         //!< end of flows and link events
    bool m_ending{false};                                      //!< programs were requested to end
    bool m_timeoutOver{false};                                 //!< the programs' timeout is over
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_SIMULATED_TRAFFIC_H
