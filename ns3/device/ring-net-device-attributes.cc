/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

// The attributes, trace sources and counters of RingNetDevice.

#include "ns3/device/interface-port.h"
#include "ns3/device/ring-net-device.h"

#include "ns3/base/choice-value.h"
#include "ns3/boolean.h"
#include "ns3/net-device-queue-interface.h"
#include "ns3/node.h"
#include "ns3/queue-limits.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include "port/merged_port.h"

#include <array>
#include <ostream>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(RingNetDevice);

TypeId
RingNetDevice::GetTypeId()
{
    static TypeId tid =
        AddAttributes(TypeId("ns3::RingNetDevice")
                          .SetParent<EthernetNetDevice>()
                          .SetGroupName("Viaduct")
                          .AddConstructor<RingNetDevice>())
            .AddAttribute("BurstSize",
                          "How many frames are read from the port at once.",
                          UintegerValue(64),
                          MakeUintegerAccessor(&RingNetDevice::m_burstSize),
                          MakeUintegerChecker<uint32_t>(1, 1 << 16))
            .AddAttribute("TxQueueSize",
                          "How many frames may wait for the port to accept them.",
                          UintegerValue(256),
                          MakeUintegerAccessor(&RingNetDevice::m_txQueueSize),
                          MakeUintegerChecker<uint32_t>(1, 1 << 16))
            .AddAttribute("NeedsArp",
                          "Whether next hops must be resolved; false on control ports, where the "
                          "kernel does it.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&RingNetDevice::m_needsArp),
                          MakeBooleanChecker())
            .AddAttribute("Reassembled",
                          "Whether received packets may be longer than the MTU; true on control "
                          "ports, where the kernel has put fragments together.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&RingNetDevice::m_reassembled),
                          MakeBooleanChecker())
            .AddAttribute("CheckPackets",
                          "Whether received packets are dropped that ns-3's IP layer cannot read; "
                          "false on ports of an RBridge, which passes on what it does not read.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&RingNetDevice::m_checkPackets),
                          MakeBooleanChecker())
            .AddAttribute("FlowControl",
                          "Aggregate a NetDeviceQueueInterface, so that queue discs can be "
                          "installed. Costs time for every frame. To be set before the device "
                          "joins its node.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&RingNetDevice::m_flowControl),
                          MakeBooleanChecker())
            .AddAttribute("BytesInFlight",
                          "Bytes of frames that are queued in the device, and in the kernel or "
                          "driver below as far as the port can tell; with FlowControl only.",
                          TypeId::ATTR_GET,
                          UintegerValue(0),
                          MakeUintegerAccessor(&RingNetDevice::GetBytesInFlight),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("HeaderBytes",
                          "How many bytes of a received IP packet enter the simulation; the others "
                          "wait until it leaves (headers of IP and transport are never cut). 0: "
                          "packets are passed whole.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RingNetDevice::m_headerBytes),
                          MakeUintegerChecker<uint32_t>(0, 65535))
            .AddAttribute("HeldPayloads",
                          "With HeaderBytes: how many payloads may wait; further packets are "
                          "passed whole.",
                          UintegerValue(4096),
                          MakeUintegerAccessor(&RingNetDevice::m_heldPayloads),
                          MakeUintegerChecker<uint32_t>(1, 1 << 20))
            .AddAttribute("DepartureQueueSize",
                          "How many frames may wait for the time of their DepartureTag.",
                          UintegerValue(10000),
                          MakeUintegerAccessor(&RingNetDevice::m_departureQueueSize),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("QdiscBypass",
                          "Whether frames go past the queueing discipline of Interface: faster; "
                          "false if it is to shape them.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&RingNetDevice::m_qdiscBypass),
                          MakeBooleanChecker())
            .AddAttribute("RingBlocks",
                          "With AfPacket: the ring is of blocks of frames (TPACKET_V3), not of "
                          "slots (TPACKET_V2): room for more short frames, which come 1 to 2 ms "
                          "later.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&RingNetDevice::m_ringBlocks),
                          MakeBooleanChecker())
            .AddAttribute("Queues",
                          "With AfPacket: sockets that share the frames of Interface, a flow's by "
                          "the same one (fanout). With Tap: queues of the device. AF_XDP has all "
                          "queues of the interface.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&RingNetDevice::m_queues),
                          MakeUintegerChecker<uint32_t>(1, 256))
            .AddAttribute("Interface",
                          "The interface to open (as root) if no port was set.",
                          StringValue(""),
                          MakeStringAccessor(&RingNetDevice::m_interface),
                          MakeStringChecker())
            .AddAttribute("Namespace",
                          "The network namespace, name or path, that Interface is in; empty for "
                          "the process's own.",
                          StringValue(""),
                          MakeStringAccessor(&RingNetDevice::m_namespace),
                          MakeStringChecker())
            .AddAttribute(
                "Filter",
                "The filter of frames received from Interface, in tcpdump's syntax; empty for all.",
                StringValue(""),
                MakeStringAccessor(&RingNetDevice::m_filter),
                MakeStringChecker())
            .AddAttribute(
                "Port",
                "By what Interface is read and written: AF_PACKET, AF_XDP (which takes "
                "the frames from the kernel), DPDK (on the interface, or a device of its "
                "own: PCI address, or virtual device with its arguments) or netmap; an "
                "error where it cannot be had; Auto: AF_XDP where the driver has "
                "zero-copy, else AF_PACKET; or Tap: the node is at the other end of a "
                "TAP device of the kernel's, which is made if it is not there.",
                EnumValue(InterfacePortKind::PACKET),
                MakeEnumAccessor<InterfacePortKind>(&RingNetDevice::m_portKind),
                MakeChoiceChecker<InterfacePortKind>("Port of ns3::RingNetDevice",
                                                     {{InterfacePortKind::PACKET, "AfPacket"},
                                                      {InterfacePortKind::XDP, "AfXdp"},
                                                      {InterfacePortKind::DPDK, "Dpdk"},
                                                      {InterfacePortKind::NETMAP, "Netmap"},
                                                      {InterfacePortKind::AUTO, "Auto"},
                                                      {InterfacePortKind::TAP, "Tap"}}))
            .AddAttribute(
                "Timestamps",
                "When the lateness of a received frame starts: at the kernel's stamp "
                "(Software), or when the port was last seen empty (User).",
                EnumValue(InterfaceStamps::SOFTWARE),
                MakeEnumAccessor<InterfaceStamps>(&RingNetDevice::m_stamps),
                MakeChoiceChecker<InterfaceStamps>(
                    "Timestamps of ns3::RingNetDevice",
                    {{InterfaceStamps::SOFTWARE, "Software"}, {InterfaceStamps::USER, "User"}}))
            .AddAttribute("PortDescription",
                          "What the port is and how it works, for people.",
                          TypeId::ATTR_GET,
                          StringValue(""),
                          MakeStringAccessor(&RingNetDevice::GetPortDescription),
                          MakeStringChecker())
            .AddAttribute("Departures",
                          "What keeps the times of DepartureTags, and why, for people.",
                          TypeId::ATTR_GET,
                          StringValue(""),
                          MakeStringAccessor(&RingNetDevice::GetDepartures),
                          MakeStringChecker())
            .AddAttribute("ReceivedLateness",
                          "The lateness that 99% of received frames did not exceed: from the "
                          "kernel's stamp until they were processed. Under the reactor only.",
                          TypeId::ATTR_GET,
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&RingNetDevice::GetReceivedLateness),
                          MakeTimeChecker())
            .AddAttribute("SentLateness",
                          "The same of sent frames: from the simulated instant until the port had "
                          "taken them.",
                          TypeId::ATTR_GET,
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&RingNetDevice::GetSentLateness),
                          MakeTimeChecker())
            .AddTraceSource("ReceivedLate",
                            "A frame was processed: its lateness, at most.",
                            MakeTraceSourceAccessor(&RingNetDevice::m_receivedLate),
                            "ns3::Time::TracedCallback")
            .AddTraceSource("SentLate",
                            "The port has taken a frame: its lateness.",
                            MakeTraceSourceAccessor(&RingNetDevice::m_sentLate),
                            "ns3::Time::TracedCallback")
            .AddTraceSource("InFlight",
                            "The attribute BytesInFlight has changed.",
                            MakeTraceSourceAccessor(&RingNetDevice::m_inFlight),
                            "ns3::TracedValueCallback::Uint32")
            .AddTraceSource("MacTxDrop",
                            "A packet was not sent: packet without Ethernet header, reason.",
                            MakeTraceSourceAccessor(&RingNetDevice::m_txDrops),
                            "ns3::RingNetDevice::DropTracedCallback")
            .AddTraceSource("MacRxDrop",
                            "A received frame was dropped: frame, reason.",
                            MakeTraceSourceAccessor(&RingNetDevice::m_rxDrops),
                            "ns3::RingNetDevice::DropTracedCallback");
    return tid;
}

std::string
RingNetDevice::GetPortDescription() const
{
    if (!m_burst.GetPort())
    {
        return "";
    }
    const std::string reason = m_opened ? m_opened->reason : "";
    return m_burst.GetPort()->Description() + (reason.empty() ? "" : " (" + reason + ")");
}

std::string
RingNetDevice::GetDepartures() const
{
    return m_opened ? m_opened->departures : "by the simulator's clock";
}

Time
RingNetDevice::GetSentLateness() const
{
    viaduct::Histogram sent = GetTiming().sent;
    if (m_opened && m_opened->timed)
    {
        sent.Merge(m_opened->timed->lateness());
    }
    return NanoSeconds(sent.Quantile(0.99));
}

uint64_t
RingNetDevice::GetDrops(DropReason reason) const
{
    return m_rxDrops.Get(reason) + m_txDrops.Get(reason) +
           (reason == RX_QUEUE_FULL ? m_burst.GetReaderDrops() : 0);
}

uint64_t
RingNetDevice::GetTotalDrops() const
{
    return m_rxDrops.GetTotal() - m_rxDrops.Get(RX_NOT_FOR_ME) + m_txDrops.GetTotal() +
           m_burst.GetReaderDrops();
}

const char*
RingNetDevice::GetDropReasonName(DropReason reason)
{
    static constexpr std::array<const char*, N_DROP_REASONS> NAMES{"rx_runt",
                                                                   "rx_too_long",
                                                                   "rx_malformed",
                                                                   "rx_ip_options",
                                                                   "rx_super_frame",
                                                                   "rx_not_for_me",
                                                                   "rx_link_down",
                                                                   "rx_queue_full",
                                                                   "tx_link_down",
                                                                   "tx_too_long",
                                                                   "tx_queue_full",
                                                                   "tx_too_many_departures",
                                                                   "tx_payload_lost"};
    return NAMES.at(reason);
}

namespace
{

/** Prints the quantiles of a histogram of frames' lateness in nanoseconds. */
void
PrintLateness(std::ostream& os, const char* what, const viaduct::Histogram& lateness)
{
    const auto microseconds = [](int64_t ns) { return static_cast<double>(ns) / 1000; };
    os << "  " << what << ": " << lateness.Count() << " frames";
    if (lateness.Count() > 0)
    {
        os << ", p50 " << microseconds(lateness.Quantile(0.5)) << " us, p99 "
           << microseconds(lateness.Quantile(0.99)) << " us, max " << microseconds(lateness.Max())
           << " us late";
    }
    os << "\n";
}

/** Prints the outcome of the frames that a qdisc had to send at their times. */
void
PrintDepartures(std::ostream& os, const viaduct::io::TimedSender& timed)
{
    const auto& counters = timed.counters();
    PrintLateness(os, "sent by the qdisc", timed.lateness());
    os << "  given to the qdisc: " << counters.sent
       << " frames (missed their time: " << counters.missed
       << ", nothing heard of: " << counters.unheard + timed.Waiting() << ", at most "
       << static_cast<double>(timed.earliest().nanoseconds()) / 1000 << " us early)\n";
}

/** Prints the numbers of frames that a port could not receive or send. */
void
PrintLosses(std::ostream& os, const viaduct::io::PortCounters& counters)
{
    os << "  lost at the port: "
       << counters.rx_dropped_ring_full + counters.rx_dropped_truncated +
              counters.tx_dropped_error + counters.tx_dropped_unclaimed
       << " frames (no room: " << counters.rx_dropped_ring_full
       << ", received too long: " << counters.rx_dropped_truncated
       << ", not sent: " << counters.tx_dropped_error + counters.tx_dropped_unclaimed << ")\n";
}

} // namespace

void
RingNetDevice::PrintTiming(std::ostream& os) const
{
    os << "device " << GetIfIndex() << " of node " << (GetNode() ? GetNode()->GetId() : 0)
       << (m_interface.empty() ? "" : " (" + m_interface + ")") << ":\n";
    if (const std::string description = GetPortDescription(); !description.empty())
    {
        os << "  port: " << description << "\n";
    }
    if (m_departures.HasKept())
    {
        os << "  departures: " << GetDepartures() << "\n";
    }
    if (const size_t waiting = m_departures.Count(); waiting > 0)
    {
        os << "  waiting for their time: " << waiting << " frames\n";
    }
    PrintLateness(os, "received", GetTiming().received);
    if (const uint64_t waiting = m_burst.CountToReceive(); waiting > 0)
    {
        os << "  waiting to be received: " << waiting << " frames\n";
    }
    PrintLateness(os, "sent", GetTiming().sent);
    if (const uint32_t waiting = m_burst.CountToSend(); waiting > 0)
    {
        os << "  waiting to be sent: " << waiting << " frames\n";
    }
    if (m_opened && m_opened->timed && m_opened->timed->counters().sent > 0)
    {
        PrintDepartures(os, *m_opened->timed);
    }
    if (m_held)
    {
        const auto& counters = m_held->GetCounters();
        os << "  headers only: " << counters.held << " packets, whole: " << counters.whole
           << ", whole because too many wait: " << counters.poolFull
           << ", waiting: " << m_held->CountWaiting() << "\n";
    }
    os << "  dropped: " << GetTotalDrops() << " frames\n";
    if (m_burst.GetPort())
    {
        PrintLosses(os, m_burst.GetPort()->Counters());
    }
}

} // namespace ns3
