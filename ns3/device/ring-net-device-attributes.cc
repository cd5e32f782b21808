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
                          "The maximum number of frames that are read from the port in one burst.",
                          UintegerValue(64),
                          MakeUintegerAccessor(&RingNetDevice::m_burstSize),
                          MakeUintegerChecker<uint32_t>(1, 1 << 16))
            .AddAttribute("TxQueueSize",
                          "The maximum number of frames that are queued until the port accepts "
                          "them.",
                          UintegerValue(256),
                          MakeUintegerAccessor(&RingNetDevice::m_txQueueSize),
                          MakeUintegerChecker<uint32_t>(1, 1 << 16))
            .AddAttribute("NeedsArp",
                          "Whether ns-3 must resolve the MAC addresses of next hops; false on "
                          "control ports, where the kernel resolves the addresses.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&RingNetDevice::m_needsArp),
                          MakeBooleanChecker())
            .AddAttribute("Reassembled",
                          "Whether received packets may be longer than the MTU; true on control "
                          "ports, where the kernel has reassembled fragments.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&RingNetDevice::m_reassembled),
                          MakeBooleanChecker())
            .AddAttribute("CheckPackets",
                          "Whether received packets that ns-3's IP layer cannot parse are dropped; "
                          "false on ports of an RBridge, which also forwards packets that it "
                          "cannot parse.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&RingNetDevice::m_checkPackets),
                          MakeBooleanChecker())
            .AddAttribute("FlowControl",
                          "Whether a NetDeviceQueueInterface is aggregated, so that queue discs "
                          "can be installed. This costs time for every frame. Must be set before "
                          "the device is added to its node.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&RingNetDevice::m_flowControl),
                          MakeBooleanChecker())
            .AddAttribute(
                "BytesInFlight",
                "The number of bytes of the frames that are queued in the device and, as far as "
                "the port can determine, in the kernel or driver; 0 if FlowControl is false.",
                TypeId::ATTR_GET,
                UintegerValue(0),
                MakeUintegerAccessor(&RingNetDevice::GetBytesInFlight),
                MakeUintegerChecker<uint32_t>())
            .AddAttribute("HeaderBytes",
                          "The number of bytes of each received IP packet that enter the "
                          "simulation, at least the IP and transport headers; the other bytes are "
                          "stored outside the simulation until the packet leaves the simulation. "
                          "0: complete packets enter the simulation.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RingNetDevice::m_headerBytes),
                          MakeUintegerChecker<uint32_t>(0, 65535))
            .AddAttribute("HeldPayloads",
                          "The maximum number of payloads that are stored outside the simulation "
                          "if HeaderBytes is greater than 0; packets beyond this number enter the "
                          "simulation completely.",
                          UintegerValue(4096),
                          MakeUintegerAccessor(&RingNetDevice::m_heldPayloads),
                          MakeUintegerChecker<uint32_t>(1, 1 << 20))
            .AddAttribute("DepartureQueueSize",
                          "The maximum number of frames that are queued until the time of their "
                          "DepartureTag.",
                          UintegerValue(10000),
                          MakeUintegerAccessor(&RingNetDevice::m_departureQueueSize),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("QdiscBypass",
                          "Whether frames bypass the queueing discipline of Interface, which is "
                          "faster; false if the queueing discipline is to shape the frames.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&RingNetDevice::m_qdiscBypass),
                          MakeBooleanChecker())
            .AddAttribute("RingBlocks",
                          "With AfPacket: whether the ring consists of blocks of frames "
                          "(TPACKET_V3) instead of slots (TPACKET_V2). A ring of blocks has space "
                          "for more short frames, but delivers frames 1 to 2 ms later.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&RingNetDevice::m_ringBlocks),
                          MakeBooleanChecker())
            .AddAttribute("Queues",
                          "With AfPacket: the number of sockets that share the frames of "
                          "Interface; all frames of a flow use the same socket (fanout). With Tap: "
                          "the number of queues of the device. AF_XDP uses all queues of the "
                          "interface.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&RingNetDevice::m_queues),
                          MakeUintegerChecker<uint32_t>(1, 256))
            .AddAttribute("Interface",
                          "The name of the interface that the device opens, which requires root; "
                          "ignored if SetPort() was called.",
                          StringValue(""),
                          MakeStringAccessor(&RingNetDevice::m_interface),
                          MakeStringChecker())
            .AddAttribute("Namespace",
                          "The network namespace of Interface, as a name or path; empty for the "
                          "namespace of the process.",
                          StringValue(""),
                          MakeStringAccessor(&RingNetDevice::m_namespace),
                          MakeStringChecker())
            .AddAttribute(
                "Filter",
                "The filter for frames received from Interface, in tcpdump's syntax; empty for all "
                "frames.",
                StringValue(""),
                MakeStringAccessor(&RingNetDevice::m_filter),
                MakeStringChecker())
            .AddAttribute(
                "Port",
                "The technique with which frames are received from and sent to Interface: "
                "AF_PACKET, AF_XDP (the kernel's network stack then does not receive the frames), "
                "DPDK (on the interface or on a separate device: a PCI address, or a virtual "
                "device with its arguments) or netmap; it is an error if the technique is not "
                "available. Auto: AF_XDP if the driver supports zero-copy, otherwise AF_PACKET. "
                "Tap: Interface is a TAP device, which is created if it does not exist; the node "
                "receives what the kernel sends to the TAP device, and vice versa.",
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
                "The time from which the lateness of a received frame is measured: the kernel's "
                "timestamp of the frame (Software), or the last time at which the simulator found "
                "the port empty (User).",
                EnumValue(InterfaceStamps::SOFTWARE),
                MakeEnumAccessor<InterfaceStamps>(&RingNetDevice::m_stamps),
                MakeChoiceChecker<InterfaceStamps>(
                    "Timestamps of ns3::RingNetDevice",
                    {{InterfaceStamps::SOFTWARE, "Software"}, {InterfaceStamps::USER, "User"}}))
            .AddAttribute("PortDescription",
                          "A readable description of the port: the technique and its settings, and "
                          "with Port=Auto the reason for the choice.",
                          TypeId::ATTR_GET,
                          StringValue(""),
                          MakeStringAccessor(&RingNetDevice::GetPortDescription),
                          MakeStringChecker())
            .AddAttribute("Departures",
                          "Whether the interface's queueing discipline or the simulator's clock "
                          "sends frames at the times of their DepartureTags, and why, as text.",
                          TypeId::ATTR_GET,
                          StringValue(""),
                          MakeStringAccessor(&RingNetDevice::GetDepartures),
                          MakeStringChecker())
            .AddAttribute("ReceivedLateness",
                          "The lateness that 99% of received frames did not exceed, measured from "
                          "the time that Timestamps selects until the frame was processed. Only "
                          "with ns3::ReactorSimulatorImpl.",
                          TypeId::ATTR_GET,
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&RingNetDevice::GetReceivedLateness),
                          MakeTimeChecker())
            .AddAttribute("SentLateness",
                          "The lateness that 99% of sent frames did not exceed, measured from the "
                          "virtual time of sending until the port accepted the frame. Only with "
                          "ns3::ReactorSimulatorImpl.",
                          TypeId::ATTR_GET,
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&RingNetDevice::GetSentLateness),
                          MakeTimeChecker())
            .AddTraceSource(
                "ReceivedLate",
                "A received frame was processed. Argument: the lateness of the frame, or the "
                "maximum possible lateness if the kernel's timestamp of the frame is not used.",
                MakeTraceSourceAccessor(&RingNetDevice::m_receivedLate),
                "ns3::Time::TracedCallback")
            .AddTraceSource("SentLate",
                            "The port has accepted a frame. Argument: the lateness of the frame.",
                            MakeTraceSourceAccessor(&RingNetDevice::m_sentLate),
                            "ns3::Time::TracedCallback")
            .AddTraceSource("InFlight",
                            "The attribute BytesInFlight has changed.",
                            MakeTraceSourceAccessor(&RingNetDevice::m_inFlight),
                            "ns3::TracedValueCallback::Uint32")
            .AddTraceSource("MacTxDrop",
                            "A packet was not sent. Arguments: the packet without its Ethernet "
                            "header, the reason.",
                            MakeTraceSourceAccessor(&RingNetDevice::m_txDrops),
                            "ns3::RingNetDevice::DropTracedCallback")
            .AddTraceSource("MacRxDrop",
                            "A received frame was dropped. Arguments: the frame, the reason.",
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
    return m_opened ? m_opened->departures : "timed by the simulator's clock";
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

/** Prints the results for the frames that were passed to a qdisc to be sent at their departure
 * times. */
void
PrintDepartures(std::ostream& os, const viaduct::io::TimedSender& timed)
{
    const auto& counters = timed.counters();
    PrintLateness(os, "sent by the qdisc", timed.lateness());
    os << "  passed to the qdisc: " << counters.sent
       << " frames (missed their departure time: " << counters.missed
       << ", without a report: " << counters.unheard + timed.Waiting() << ", sent up to "
       << static_cast<double>(timed.earliest().nanoseconds()) / 1000 << " us early)\n";
}

/** Prints the numbers of frames that a port could not receive or send. */
void
PrintLosses(std::ostream& os, const viaduct::io::PortCounters& counters)
{
    os << "  lost at the port: "
       << counters.rx_dropped_ring_full + counters.rx_dropped_truncated +
              counters.tx_dropped_error + counters.tx_dropped_unclaimed
       << " frames (no space: " << counters.rx_dropped_ring_full
       << ", received but too long: " << counters.rx_dropped_truncated
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
        os << "  waiting for their departure time: " << waiting << " frames\n";
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
        os << "  headers only: " << counters.held << " packets, complete: " << counters.whole
           << ", complete because too many payloads were stored: " << counters.poolFull
           << ", payloads still stored: " << m_held->CountWaiting() << "\n";
    }
    os << "  dropped: " << GetTotalDrops() << " frames\n";
    if (m_burst.GetPort())
    {
        PrintLosses(os, m_burst.GetPort()->Counters());
    }
}

} // namespace ns3
