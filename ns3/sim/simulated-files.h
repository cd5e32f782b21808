/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_SIMULATED_FILES_H
#define VIADUCT_SIM_SIMULATED_FILES_H

#include "network.h"

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
    /** Opens the files; they are written from now on.
     * @param scenario determines the files; must outlive this object
     * @param network the nodes
     * @param folder the folder; created if there is anything to write
     */
    SimulatedFiles(const viaduct::scenario::Scenario& scenario,
                   const Network& network,
                   const std::string& folder);
    SimulatedFiles(const SimulatedFiles&) = delete;
    SimulatedFiles& operator=(const SimulatedFiles&) = delete;

    /** Starts or stops the capture of a link, which some event of the scenario starts or stops.
     * @param link its name
     * @param on whether its frames are captured from now on
     */
    void SetCapturing(const std::string& link, bool on);
    /** Closes the captures. @param report gets the files' names, and how many frames each has */
    void Describe(viaduct::result::SimulatorReport& report);

  private:
    /** A capture, as it is reported, and its file. */
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
    std::string m_folder;                          //!< where the files are
    std::map<std::string, LinkCapture> m_captures; //!< by link
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_SIMULATED_FILES_H
