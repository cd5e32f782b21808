/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/run-report.h"

#include "ns3/arp-l3-protocol.h"
#include "ns3/base/ns3-access.h"
#include "ns3/device/lab-fd-net-device.h"
#include "ns3/device/ring-net-device.h"
#include "ns3/frames/frame-forwarder.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/kernel/kernel-node.h"
#include "ns3/node-list.h"
#include "ns3/offload/program-port.h"
#include "ns3/path/path-channel.h"
#include "ns3/reactor/reactor-simulator-impl.h"
#include "ns3/wmrp/rbridge.h"

#include "path/engine/describe.h"

#include <algorithm>
#include <array>
#include <iomanip>
#include <set>
#include <sstream>
#include <sys/resource.h>
#include <tuple>

namespace ns3::sim
{

namespace
{

/** @return the counters of a RingNetDevice or a ProgramPort; both classes have the same functions
 * for counters */
template <class Device>
viaduct::result::DeviceCounters
CountersOf(const Device& device)
{
    const viaduct::io::PortCounters port =
        device.GetPort() ? device.GetPort()->Counters() : viaduct::io::PortCounters();
    viaduct::result::DeviceCounters counters;
    counters.frames = viaduct::engine::DescribeCounters(port);
    counters.tx_dropped_unclaimed = port.tx_dropped_unclaimed;
    for (int reason = 0; reason < Device::N_DROP_REASONS; reason++)
    {
        const auto which = static_cast<typename Device::DropReason>(reason);
        if (device.GetDrops(which) > 0)
        {
            counters.drops[Device::GetDropReasonName(which)] = device.GetDrops(which);
        }
    }
    return counters;
}

void
AddUpcalls(const std::string& node,
           const UpcallPort& port,
           viaduct::result::SimulatorReport& report)
{
    const UpcallPort::Counters& upcalls = port.GetCounters();
    auto& missed = report.counters[node + "/upcalls"] = CountersOf(port);
    missed.frames.rx_frames = upcalls.missed.packets;
    missed.frames.rx_bytes = upcalls.missed.bytes;
    missed.frames.tx_frames = upcalls.sent.packets;
    missed.frames.tx_bytes = upcalls.sent.bytes;
    if (port.GetKept() > 0)
    {
        missed.drops["kept"] = port.GetKept();
    }
    auto& copies = report.counters[node + "/copies"];
    copies.frames.rx_frames = upcalls.copies.packets;
    copies.frames.rx_bytes = upcalls.copies.bytes;
}

void
AddChanged(const std::string& node,
           const UpcallPort& port,
           const std::string& instead,
           viaduct::result::SimulatorReport& report)
{
    if (const uint64_t changed = port.GetCounters().changed; changed > 0)
    {
        report.refused.push_back(
            node + ": the routing protocol changed " + std::to_string(changed) +
            " data packets, and the kernels that receive the packets cannot undo the changes; " +
            instead);
    }
    if (const std::string& dependence = port.GetDependence(); !dependence.empty())
    {
        report.refused.push_back(
            node +
            ": the routing protocol's next hop depends on more than a packet's destination, but "
            "the data plane only considers the destination: " +
            dependence + "; " + instead);
    }
}

void
AddFdDevice(const std::string& node,
            const std::string& interface,
            LabFdNetDevice& device,
            viaduct::result::SimulatorReport& report)
{
    // Frames that the kernel refused are counted under the same name as in a lab's data planes, if
    // the node forwards frames.
    const char* const forwarder = device.GetNode()->GetObject<FrameForwarder>() ? "/program"
                                  : device.GetNode()->GetObject<RBridge>()      ? "/rbridge"
                                                                                : nullptr;
    if (forwarder && device.GetRefused() > 0)
    {
        report.counters[node + forwarder].drops["not_sent"] += device.GetRefused();
    }
    const uint64_t refused = forwarder ? 0 : device.GetRefused();
    const uint64_t unread = device.GetKernelDrops();
    const std::array<std::pair<const char*, uint64_t>, 2> drops{
        {{"tx_too_long", device.GetTooLong()}, {"rx_queue_full", device.GetQueueDrops()}}};
    if (refused + unread + drops[0].second + drops[1].second == 0)
    {
        return;
    }
    auto& counters = report.counters[node + "/" + interface];
    counters.frames.tx_dropped_error = refused;
    counters.frames.rx_dropped_ring_full = unread;
    for (const auto& [reason, frames] : drops)
    {
        if (frames > 0)
        {
            counters.drops[reason] = frames;
        }
    }
}

/**
 * @return the EtherTypes whose handlers in ns-3 (packet sockets, protocols below IP) receive no
 * packets, on a node whose stack is a kernel; 0: all EtherTypes. The EtherTypes of IPv4, IPv6 and
 * ARP are left out: their handlers are ns-3's own layers.
 */
std::set<uint16_t>
UnheardOf(const Node& node, const KernelNode& kernel)
{
    const std::set<uint16_t> own{
        Ipv4L3Protocol::PROT_NUMBER, Ipv6L3Protocol::PROT_NUMBER, ArpL3Protocol::PROT_NUMBER};
    std::set<uint16_t> unheard;
    for (const auto& each : ns3access::ProtocolHandlers(node))
    {
        if (!own.contains(each.protocol) && (!each.device || kernel.GetBridge(each.device)))
        {
            unheard.insert(each.protocol);
        }
    }
    return unheard;
}

void
AddUnheard(const Node& node, const KernelNode& kernel, viaduct::result::SimulatorReport& report)
{
    for (const uint16_t type : UnheardOf(node, kernel))
    {
        std::ostringstream words;
        words << kernel.GetName() << ": a protocol on the node listens to frames of ";
        if (type == 0)
        {
            words << "all EtherTypes";
        }
        else
        {
            words << "EtherType 0x" << std::hex << std::setfill('0') << std::setw(4) << type;
        }
        words << " (packet sockets, protocol handlers), but the node's kernel does not pass these "
                 "frames to the protocol; use stack: ns3";
        report.refused.push_back(words.str());
    }
}

void
AddDevices(const LabHelper& lab, viaduct::result::SimulatorReport& report)
{
    for (const auto& attachment : lab.GetAttachments())
    {
        if (auto ring = DynamicCast<RingNetDevice>(attachment.device))
        {
            report.counters[attachment.nodeName + "/" + attachment.interface] = CountersOf(*ring);
        }
        if (const auto fd = DynamicCast<LabFdNetDevice>(attachment.device))
        {
            AddFdDevice(attachment.nodeName, attachment.interface, *fd, report);
        }
    }
    for (const auto& [name, program] : lab.GetProgramPorts())
    {
        report.counters[name + "/programs"] = CountersOf(*program);
    }
    for (const auto& [name, offload] : lab.GetOffloads())
    {
        if (offload.upcalls->IsOpen())
        {
            AddUpcalls(name, *offload.upcalls, report);
        }
        if (offload.multicast->IsOpen())
        {
            const MulticastMirror::Counters flows = offload.multicast->GetCounters();
            auto& multicast = report.counters[name + "/multicast"];
            multicast.frames.rx_frames = flows.asked;
            if (flows.refused > 0)
            {
                multicast.drops["refused"] = flows.refused;
            }
        }
    }
    for (const auto& [name, guard] : lab.GetTransportGuards())
    {
        if (guard->GetDrops() > 0)
        {
            report.counters[name + "/protocols"].drops["malformed_datagrams"] = guard->GetDrops();
        }
    }
}

void
AddPolls(const RouteSource::Counters& counters, viaduct::result::SimulatorReport& report)
{
    if (counters.polls == 0)
    {
        return;
    }
    auto& polls = report.route_polls ? *report.route_polls : report.route_polls.emplace();
    polls.polls += counters.polls;
    polls.seconds += counters.pollCost.nanoseconds() / 1e9;
    polls.interval = std::max(polls.interval, counters.pollIntervals.GetSeconds() / counters.polls);
}

void
AddReadings(const std::string& node,
            const RouteSource& routes,
            std::vector<viaduct::result::RouteReading>& readings)
{
    for (const auto& reading : routes.GetReadings())
    {
        const auto same = [&](const auto& known) {
            return known.protocol == reading.protocol && known.method == reading.method &&
                   known.reason == reading.reason;
        };
        auto found = std::find_if(readings.begin(), readings.end(), same);
        if (found == readings.end())
        {
            found = readings.insert(readings.end(),
                                    {reading.protocol, reading.method, reading.reason, {}});
        }
        if (found->nodes.empty() || found->nodes.back() != node)
        {
            found->nodes.push_back(node);
        }
    }
}

void
AddRoutes(const LabHelper& lab, viaduct::result::SimulatorReport& report)
{
    auto& pushes = report.route_pushes.emplace();
    auto& unsupported = report.unsupported.emplace();
    int64_t nanoseconds = 0;
    for (const auto& [name, offload] : lab.GetOffloads())
    {
        const auto& counters = offload.routes->GetCounters();
        AddPolls(counters, report);
        AddReadings(name, *offload.routes, report.route_readings);
        report.routes[name] = counters.added + counters.replaced + counters.removed;
        pushes.batches += counters.batches;
        pushes.refused += counters.refused;
        pushes.missing += counters.missing;
        for (const auto& reading : offload.routes->GetReadings())
        {
            if (!reading.reason.empty() && !offload.upcalls->IsOpen())
            {
                report.refused.push_back(name + ": the routes of " + reading.protocol +
                                         " cannot be determined: " + reading.reason +
                                         "; use data_plane: kernel");
            }
        }
        AddChanged(name, *offload.upcalls, "use mode emulate", report);
        if (const std::string& refusal = offload.routes->GetRefusal(); !refusal.empty())
        {
            report.refused.push_back(name + ": " + refusal);
        }
        nanoseconds += counters.nanoseconds;
        for (const std::string& line : offload.control->GetUnsupported())
        {
            unsupported.push_back(name + " " + line);
        }
        for (const std::string& line : offload.interfaces->GetRefused())
        {
            report.refused.push_back(name + " " + line);
        }
    }
    pushes.seconds = nanoseconds / 1e9;
}

void
AddTiming(const ReactorSimulatorImpl& reactor, viaduct::result::SimulatorReport& report)
{
    report.timing = viaduct::result::Summarize(reactor.GetLateness());
    report.timing->nice = getpriority(PRIO_PROCESS, 0);
    report.timing->over_limit = reactor.IsVoid();
    if (reactor.GetPortLateness().Count() > 0)
    {
        report.port_timing = viaduct::result::Summarize(reactor.GetPortLateness());
    }
    report.loop = LoopTimes(reactor);
}

viaduct::engine::PipelineStatistics
StatisticsOf(const PathChannel& channel, std::size_t device, std::size_t group)
{
    using viaduct::engine::Direction;
    viaduct::engine::PipelineStatistics statistics;
    statistics.pair = channel.GetPairName(device);
    statistics.class_name = group == 0 ? "" : channel.GetClasses()[group - 1].name;
    statistics.direction = channel.IsDown(device) ? Direction::kDown : Direction::kUp;
    statistics.spec = channel.GetSpec(device, group);
    statistics.counters = channel.GetCounters(device, group);
    std::tie(statistics.waiting, statistics.waiting_bytes) = channel.GetWaiting(device, group);
    return statistics;
}

} // namespace

std::string
VersionOfNs3()
{
    std::ostringstream text;
    text << VIADUCT_NS3_VERSION;
    return text.str();
}

std::string
BuildOfNs3()
{
    std::string text;
#ifdef NS3_ASSERT_ENABLE
    text += "asserts on";
#else
    text += "asserts off";
#endif
#ifdef NS3_LOG_ENABLE
    text += ", logging on";
#else
    text += ", logging off";
#endif
    return text;
}

std::map<std::string, double>
LoopTimes(const ReactorSimulatorImpl& reactor)
{
    const auto breakdown = reactor.GetBreakdown();
    const char* const names[] = {"events", "reading", "writing", "sleeping", "spinning"};
    static_assert(std::size(names) == ReactorSimulatorImpl::N_PHASES);
    std::map<std::string, double> times;
    for (int phase = 0; phase < ReactorSimulatorImpl::N_PHASES; phase++)
    {
        times[names[phase]] = breakdown.time[phase].GetSeconds();
    }
    return times;
}

viaduct::result::SimulatorReport
MakeReport(const LabHelper* lab)
{
    viaduct::result::SimulatorReport report;
    if (lab)
    {
        AddDevices(*lab, report);
        AddRoutes(*lab, report);
        report.exceeded = lab->GetExceededLimits();
    }
    for (auto node = NodeList::Begin(); node != NodeList::End(); ++node)
    {
        const auto kernel = (*node)->GetObject<KernelNode>();
        const auto upcalls = kernel ? kernel->GetUpcalls() : nullptr;
        if (upcalls && upcalls->IsOpen())
        {
            AddUpcalls(kernel->GetName(), *upcalls, report);
            AddChanged(kernel->GetName(), *upcalls, "use stack: ns3", report);
        }
        if (kernel)
        {
            AddUnheard(**node, *kernel, report);
        }
    }
    if (Ptr<ReactorSimulatorImpl> reactor = ReactorSimulatorImpl::Get())
    {
        AddTiming(*reactor, report);
    }
    return report;
}

std::optional<viaduct::result::EngineResult>
MakeLinkReport(const Network& network)
{
    viaduct::engine::Statistics statistics;
    for (const NetworkLink& link : network.GetLinks())
    {
        const auto channel = DynamicCast<PathChannel>(link.channel);
        for (std::size_t device = 0; channel && device < channel->GetNDevices(); device++)
        {
            for (std::size_t group = 0; group <= channel->GetClasses().size(); group++)
            {
                statistics.pipelines.push_back(StatisticsOf(*channel, device, group));
            }
        }
    }
    return statistics.pipelines.empty()
               ? std::nullopt
               : std::optional(viaduct::engine::DescribeStatistics(statistics, std::nullopt));
}

} // namespace ns3::sim
