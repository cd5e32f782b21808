/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/wmrp/rbridge.h"

#include "ns3/uinteger.h"

namespace ns3
{

TypeId
RBridge::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RBridge")
            .SetParent<Object>()
            .SetGroupName("Viaduct")
            .AddConstructor<RBridge>()
            .AddAttribute(
                "HelloInterval",
                "The time between two Hellos of a port, in seconds. TRILL's default is 10 s; ad "
                "hoc networks change faster.",
                TimeValue(Seconds(1)),
                MakeTimeAccessor(&RBridge::m_helloInterval),
                MakeTimeChecker(MilliSeconds(1)))
            .AddAttribute("LspInterval",
                          "The minimum time between two changes of this RBridge's own LSPs, in "
                          "seconds.",
                          TimeValue(MilliSeconds(100)),
                          MakeTimeAccessor(&RBridge::m_lspInterval),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("CsnpInterval",
                          "The time between two complete sequence numbers PDUs (CSNPs) of a "
                          "designated RBridge, which show other RBridges which LSPs were lost, in "
                          "seconds (ISO 10589: 10 s).",
                          TimeValue(Seconds(2)),
                          MakeTimeAccessor(&RBridge::m_csnpInterval),
                          MakeTimeChecker(MilliSeconds(1)))
            .AddAttribute("LspLifetime",
                          "The time for which an LSP is valid after its origination, in whole "
                          "seconds.",
                          TimeValue(Seconds(1200)),
                          MakeTimeAccessor(&RBridge::m_lspLifetime),
                          MakeTimeChecker(Seconds(2), Seconds(65535)))
            .AddAttribute("LspRefresh",
                          "The time after which this RBridge's own LSPs are originated again, in "
                          "seconds; less than LspLifetime.",
                          TimeValue(Seconds(900)),
                          MakeTimeAccessor(&RBridge::m_lspRefresh),
                          MakeTimeChecker(Seconds(1), Seconds(65534)))
            .AddAttribute(
                "HoldMultiplier",
                "The number of Hello intervals after which a neighbour from which no Hello was "
                "received is considered lost; the time is rounded up to full seconds.",
                UintegerValue(3),
                MakeUintegerAccessor(&RBridge::m_holdMultiplier),
                MakeUintegerChecker<uint32_t>(1, 100))
            .AddAttribute(
                "Inhibition",
                "The time in seconds that a port waits before it serves terminals, after this "
                "RBridge has become the designated RBridge of the port's link. The wait prevents a "
                "loop, because two RBridges that serve the same link create a loop.",
                TimeValue(Seconds(3)),
                MakeTimeAccessor(&RBridge::m_inhibition),
                MakeTimeChecker(Time(0)))
            .AddAttribute("TerminalAge",
                          "The time in seconds after which a terminal on a link of this RBridge is "
                          "forgotten if the terminal sends no frames.",
                          TimeValue(Seconds(300)),
                          MakeTimeAccessor(&RBridge::m_terminalAge),
                          MakeTimeChecker(MilliSeconds(10)))
            .AddAttribute("Priority",
                          "The priority for becoming the designated RBridge of a link; the highest "
                          "priority wins.",
                          UintegerValue(64),
                          MakeUintegerAccessor(&RBridge::m_priority),
                          MakeUintegerChecker<uint8_t>(0, 127))
            .AddAttribute("Nickname",
                          "The requested nickname, 1 to 65471 (0xffbf); 0: the nickname is derived "
                          "from this RBridge's identifier.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RBridge::m_wantedNickname),
                          MakeUintegerChecker<uint16_t>(0, 0xffbf))
            .AddAttribute("NicknamePriority",
                          "The priority for keeping a nickname that another RBridge also requests; "
                          "128 is added if the nickname was set with the attribute Nickname.",
                          UintegerValue(64),
                          MakeUintegerAccessor(&RBridge::m_nicknamePriority),
                          MakeUintegerChecker<uint8_t>(0, 127))
            .AddAttribute("RootPriority",
                          "The priority for being the root of a distribution tree; 0: never the "
                          "root.",
                          UintegerValue(0x8000),
                          MakeUintegerAccessor(&RBridge::m_rootPriority),
                          MakeUintegerChecker<uint16_t>())
            .AddAttribute("Trees",
                          "The number of distribution trees that all RBridges compute if this "
                          "RBridge is the root of the first tree.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&RBridge::m_trees),
                          MakeUintegerChecker<uint16_t>(1, viaduct::rbridge::kMaxTrees))
            .AddAttribute("Metric",
                          "The cost of this RBridge's links; TRILL's default is 2e13 divided by "
                          "the rate in bit/s.",
                          UintegerValue(20000),
                          MakeUintegerAccessor(&RBridge::m_metric),
                          MakeUintegerChecker<uint32_t>(1, 0xfffffd))
            .AddAttribute("HopCount",
                          "The maximum number of RBridges that a frame may pass after the frame "
                          "has entered the network at this RBridge.",
                          UintegerValue(viaduct::rbridge::TrillHeader::kMaxHops),
                          MakeUintegerAccessor(&RBridge::m_hopCount),
                          MakeUintegerChecker<uint8_t>(1, viaduct::rbridge::TrillHeader::kMaxHops))
            .AddTraceSource("Frame",
                            "A frame has arrived. Arguments: the packet after the Ethernet header, "
                            "the port, the outcome.",
                            MakeTraceSourceAccessor(&RBridge::m_frameTrace),
                            "ns3::RBridge::FrameTracedCallback")
            .AddTraceSource("Adjacency",
                            "A neighbour has appeared or was lost. Arguments: the port, true if "
                            "the neighbour has appeared.",
                            MakeTraceSourceAccessor(&RBridge::m_adjacencyTrace),
                            "ns3::RBridge::AdjacencyTracedCallback")
            .AddTraceSource("Routes",
                            "Routes were computed.",
                            MakeTraceSourceAccessor(&RBridge::m_routesTrace),
                            "ns3::RBridge::RoutesTracedCallback")
            .AddTraceSource("Nickname",
                            "The nickname has changed.",
                            MakeTraceSourceAccessor(&RBridge::m_nickname),
                            "ns3::TracedValueCallback::Uint16");
    return tid;
}

} // namespace ns3
