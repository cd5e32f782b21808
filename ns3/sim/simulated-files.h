/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_SIMULATED_FILES_H
#define VIADUCT_SIM_SIMULATED_FILES_H

#include "ns3/sim/network.h"

#include "ns3/pcap-file-wrapper.h"

#include "base/result/run.h"
#include "scenario/scenario.h"

#include <map>
#include <string>

namespace ns3::sim
{

/**
 * The files that mode simulate writes while it runs: packet captures of links and states of
 * kernels.
 */
class SimulatedFiles
{
  public:
    /** Opens the files, which are written from this call on.
     * @param scenario the scenario, which specifies the files; must outlive this object
     * @param network the nodes
     * @param folder the folder of the files; created if there is any file
     */
    SimulatedFiles(const viaduct::scenario::Scenario& scenario,
                   const Network& network,
                   const std::string& folder);
    SimulatedFiles(const SimulatedFiles&) = delete;
    SimulatedFiles& operator=(const SimulatedFiles&) = delete;

    /** Starts or stops the capture of a link, at an event of the scenario.
     * @param link the link's name
     * @param on whether the link's frames are captured after this call
     */
    void SetCapturing(const std::string& link, bool on);
    /** Closes the captures.
     * @param [in,out] report gets the files' names, and the number of frames in each capture
     */
    void Describe(viaduct::result::SimulatorReport& report);

  private:
    /** A capture of a link: its result for the report, and its file. */
    struct LinkCapture
    {
        viaduct::result::Capture result;
        Ptr<PcapFileWrapper> pcap;
        bool on = false;
        void Check();
        void Write(Ptr<const Packet> packet);
    };

    void Capture(const NetworkLink& captured);
    std::string CaptureFile(const std::string& link) const;

    const viaduct::scenario::Scenario& m_scenario; //!< the scenario
    std::string m_folder;                          //!< the folder of the files
    std::map<std::string, LinkCapture> m_captures; //!< the captures, by the link's name
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_SIMULATED_FILES_H
