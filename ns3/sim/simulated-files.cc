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
    LinkCapture& capture = m_captures[link];
    capture.result.link = link;
    capture.result.file = CaptureFile(link);
    capture.pcap = pcap;
    auto write = [&capture](Ptr<const Packet> packet) {
        // A full disk must not end the simulation, and PcapFile asserts that it can write.
        if (capture.result.error.empty())
        {
            capture.pcap->Write(Simulator::Now(), packet);
            capture.Check();
        }
        auto& [link, file, frames, dropped, error] = capture.result;
        (error.empty() ? frames : dropped)++;
    };
    device->TraceConnectWithoutContext("PromiscSniffer", Callback<void, Ptr<const Packet>>(write));
}

void
SimulatedFiles::LinkCapture::Check()
{
    if (pcap->Fail())
    {
        result.error = "cannot be written; is the disk full?";
    }
}

std::string
SimulatedFiles::CaptureFile(const std::string& link) const
{
    return m_folder + "/" + link + ".pcap";
}

void
SimulatedFiles::Describe(viaduct::result::SimulatorReport& report)
{
    for (const std::string& link : m_scenario.captures)
    {
        LinkCapture& capture = m_captures.at(link);
        capture.pcap->Close();
        capture.Check();
        report.captures.push_back(capture.result);
    }
    auto& state = report.state.emplace();
    for (const std::string& node : m_scenario.state)
    {
        const std::string start = m_folder + "/" + node;
        state.push_back({node, {start + "-tcp.csv", start + "-qdisc.csv", start + "-nstat.csv"}});
    }
}

} // namespace ns3::sim
