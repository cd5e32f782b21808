/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "simulated-files.h"

#include "time-conversion.h"

#include "ns3/kernel-stack-helper.h"
#include "ns3/pcap-file-wrapper.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/simulator.h"
#include "ns3/trace-helper.h"

#include <filesystem>

namespace ns3::sim
{

SimulatedFiles::SimulatedFiles(const viaduct::scenario::Scenario& scenario,
                               const Network& network,
                               const std::string& folder)
    : m_scenario(scenario), m_folder(folder)
{
    if (!scenario.captures.empty() || !scenario.state.empty())
    {
        std::filesystem::create_directories(folder);
    }
    for (const std::string& link : scenario.captures)
    {
        // Captured at the link's first node, as in the real modes.
        Capture(link, network.GetLink(link).devices.at(0));
    }
    for (const std::string& node : scenario.state)
    {
        KernelStackHelper::EnableStateCsv(
            folder + "/" + node, network.GetNode(node), ToTime(scenario.state_interval));
    }
}

void
SimulatedFiles::Capture(const std::string& link, Ptr<NetDevice> device)
{
    const auto type =
        DynamicCast<PointToPointNetDevice>(device) ? PcapHelper::DLT_PPP : PcapHelper::DLT_EN10MB;
    Ptr<PcapFileWrapper> pcap = PcapHelper().CreateFile(CaptureFile(link), std::ios::out, type);
    uint64_t& frames = m_frames[link];
    auto write = [pcap, &frames](Ptr<const Packet> packet) {
        pcap->Write(Simulator::Now(), packet);
        frames++;
    };
    device->TraceConnectWithoutContext("PromiscSniffer", Callback<void, Ptr<const Packet>>(write));
}

std::string
SimulatedFiles::CaptureFile(const std::string& link) const
{
    return m_folder + "/" + link + ".pcap";
}

void
SimulatedFiles::Describe(viaduct::result::SimulatorReport& report) const
{
    for (const std::string& link : m_scenario.captures)
    {
        report.captures.push_back({link, CaptureFile(link), m_frames.at(link), 0});
    }
    auto& state = report.state.emplace();
    for (const std::string& node : m_scenario.state)
    {
        const std::string start = m_folder + "/" + node;
        state.push_back({node, {start + "-tcp.csv", start + "-qdisc.csv", start + "-nstat.csv"}});
    }
}

} // namespace ns3::sim
