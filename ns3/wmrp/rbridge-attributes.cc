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
                "Between two Hellos of a port, s. TRILL's default is 10 s; ad hoc networks "
                "change faster.",
                TimeValue(Seconds(1)),
                MakeTimeAccessor(&RBridge::m_helloInterval),
                MakeTimeChecker(MilliSeconds(1)))
            .AddAttribute("LspInterval",
                          "The shortest time between two changes of this RBridge's own LSPs, s.",
                          TimeValue(MilliSeconds(100)),
                          MakeTimeAccessor(&RBridge::m_lspInterval),
                          MakeTimeChecker(Time(0)))
            .AddAttribute(
                "CsnpInterval",
                "Between two complete sequence numbers PDUs of a designated RBridge, by which "
                "lost LSPs are found, s (ISO 10589: 10 s).",
                TimeValue(Seconds(2)),
                MakeTimeAccessor(&RBridge::m_csnpInterval),
                MakeTimeChecker(MilliSeconds(1)))
            .AddAttribute("LspLifetime",
                          "How long an LSP counts after its origination, whole s.",
                          TimeValue(Seconds(1200)),
                          MakeTimeAccessor(&RBridge::m_lspLifetime),
                          MakeTimeChecker(Seconds(2), Seconds(65535)))
            .AddAttribute("LspRefresh",
                          "After how long own LSPs are originated again, s; less than LspLifetime.",
                          TimeValue(Seconds(900)),
                          MakeTimeAccessor(&RBridge::m_lspRefresh),
                          MakeTimeChecker(Seconds(1), Seconds(65534)))
            .AddAttribute("HoldMultiplier",
                          "After how many Hello intervals a silent neighbour is gone; the time is "
                          "rounded up to whole seconds.",
                          UintegerValue(3),
                          MakeUintegerAccessor(&RBridge::m_holdMultiplier),
                          MakeUintegerChecker<uint32_t>(1, 100))
            .AddAttribute("Inhibition",
                          "How long a port waits, from when it becomes the designated RBridge of "
                          "its link, until it serves terminals, s: two that serve one link make a "
                          "loop.",
                          TimeValue(Seconds(3)),
                          MakeTimeAccessor(&RBridge::m_inhibition),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("TerminalAge",
                          "How long a silent terminal of an own link is remembered, s.",
                          TimeValue(Seconds(300)),
                          MakeTimeAccessor(&RBridge::m_terminalAge),
                          MakeTimeChecker(MilliSeconds(10)))
            .AddAttribute("Priority",
                          "To become the designated RBridge of a link; the highest does.",
                          UintegerValue(64),
                          MakeUintegerAccessor(&RBridge::m_priority),
                          MakeUintegerChecker<uint8_t>(0, 127))
            .AddAttribute("Nickname",
                          "The wanted nickname, 1 to 65471 (0xffbf); 0: one is chosen, from the "
                          "identifier.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RBridge::m_wantedNickname),
                          MakeUintegerChecker<uint16_t>(0, 0xffbf))
            .AddAttribute("NicknamePriority",
                          "To keep a nickname that another RBridge wants too; 128 more if it was "
                          "given by the attribute Nickname.",
                          UintegerValue(64),
                          MakeUintegerAccessor(&RBridge::m_nicknamePriority),
                          MakeUintegerChecker<uint8_t>(0, 127))
            .AddAttribute("RootPriority",
                          "To be the root of a distribution tree; 0: never.",
                          UintegerValue(0x8000),
                          MakeUintegerAccessor(&RBridge::m_rootPriority),
                          MakeUintegerChecker<uint16_t>())
            .AddAttribute("Trees",
                          "How many distribution trees all RBridges compute, if this one is the "
                          "root of the first.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&RBridge::m_trees),
                          MakeUintegerChecker<uint16_t>(1, viaduct::rbridge::kMaxTrees))
            .AddAttribute("Metric",
                          "The cost of this RBridge's links; TRILL's default is 2e13 divided by "
                          "the bit/s.",
                          UintegerValue(20000),
                          MakeUintegerAccessor(&RBridge::m_metric),
                          MakeUintegerChecker<uint32_t>(1, 0xfffffd))
            .AddAttribute("HopCount",
                          "How many RBridges a frame that enters here may pass.",
                          UintegerValue(viaduct::rbridge::TrillHeader::kMaxHops),
                          MakeUintegerAccessor(&RBridge::m_hopCount),
                          MakeUintegerChecker<uint8_t>(1, viaduct::rbridge::TrillHeader::kMaxHops))
            .AddTraceSource("Frame",
                            "A frame came in, and what became of it.",
                            MakeTraceSourceAccessor(&RBridge::m_frameTrace),
                            "ns3::RBridge::FrameTracedCallback")
            .AddTraceSource("Adjacency",
                            "A neighbour is there, or is gone.",
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
