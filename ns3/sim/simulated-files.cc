/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/simulated-files.h"

#include "ns3/sim/time-conversion.h"
#include "ns3/sim/wireless.h"

#include "ns3/kernel/kernel-stack-helper.h"
#include "ns3/pcap-file-wrapper.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/simulator.h"
#include "ns3/trace-helper.h"

#include "port/pcap_writer.h"
#include "scenario/events.h"

#include <algorithm>
#include <filesystem>

namespace ns3::sim
{

SimulatedFiles::SimulatedFiles(const viaduct::scenario::Scenario& scenario,
                               const Network& network,
                               const std::string& folder)
    : m_scenario(scenario), m_folder(folder)
{
    const auto captured = viaduct::scenario::CapturedLinks(scenario);
    if (!captured.empty() || !scenario.state.empty())
    {
        std::filesystem::create_directories(folder);
    }
    for (const std::string& link : captured)
    {
        // Frames are captured at the link's first node, in both directions.
        Capture(network.GetLink(link));
    }
    for (const std::string& link : scenario.captures)
    {
        SetCapturing(link, true);
    }
    for (const std::string& node : scenario.state)
    {
        KernelStackHelper::EnableStateCsv(
            folder + "/" + node, network.GetNode(node), ToTime(scenario.state_interval));
    }
}

void
SimulatedFiles::Capture(const NetworkLink& captured)
{
    const std::string& link = captured.settings->name;
    const bool wifi = viaduct::scenario::IsWifi(*captured.settings);
    Ptr<NetDevice> device = captured.devices.at(0);
    const auto type = wifi                                         ? PcapHelper::DLT_IEEE802_11
                      : DynamicCast<PointToPointNetDevice>(device) ? PcapHelper::DLT_PPP
                                                                   : PcapHelper::DLT_EN10MB;
    Ptr<PcapFileWrapper> pcap = PcapHelper().CreateFile(CaptureFile(link), std::ios::out, type);
    LinkCapture& capture = m_captures[link];
    capture.result.link = link;
    capture.result.file = CaptureFile(link);
    capture.pcap = pcap;
    auto write = [&capture](Ptr<const Packet> packet) { capture.Write(packet); };
    if (SniffWifi(device, write))
    {
        return;
    }
    device->TraceConnectWithoutContext("PromiscSniffer", Callback<void, Ptr<const Packet>>(write));
}

void
SimulatedFiles::SetCapturing(const std::string& link, bool on)
{
    m_captures.at(link).on = on;
}

void
SimulatedFiles::LinkCapture::Write(Ptr<const Packet> packet)
{
    if (!on)
    {
        return;
    }
    // After a write error no more frames are written: a full disk must not end the simulation, and
    // PcapFile asserts that it can write.
    if (result.error.empty())
    {
        pcap->Write(Simulator::Now(), packet);
        Check();
    }
    (result.error.empty() ? result.frames : result.dropped)++;
}

void
SimulatedFiles::LinkCapture::Check()
{
    if (pcap->Fail())
    {
        result.error = "the file cannot be written; is the disk full?";
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
    for (const std::string& link : viaduct::scenario::CapturedLinks(m_scenario))
    {
        LinkCapture& capture = m_captures.at(link);
        capture.pcap->Close();
        capture.Check();
        if (!capture.result.error.empty())
        {
            const uint64_t whole = viaduct::io::KeepWholeFrames(capture.result.file);
            capture.result.dropped +=
                capture.result.frames - std::min(whole, capture.result.frames);
            capture.result.frames = std::min(whole, capture.result.frames);
        }
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
