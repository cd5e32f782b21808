/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_FLOWS_H
#define VIADUCT_SIM_FLOWS_H

#include "network.h"

#include "ns3/application.h"
#include "ns3/nstime.h"
#include "ns3/packet.h"
#include "ns3/seq-ts-size-header.h"

#include "base/histogram.h"

#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace sim
{

/**
 * A flow of mode simulate: ns-3 applications that send what real programs would, and what was
 * measured, with the same members as a real flow's result (src/run/traffic.h).
 */
class SimulatedFlow
{
  public:
    /**
     * Makes the applications; they start `flow.start` from now.
     * @param flow what was asked for
     * @param index its number, for the port
     * @param network the nodes
     * @throw viaduct::UsageError if ns-3 cannot send it
     */
    SimulatedFlow(const viaduct::scenario::Flow& flow, size_t index, const Network& network);
    SimulatedFlow(const SimulatedFlow&) = delete;
    SimulatedFlow& operator=(const SimulatedFlow&) = delete;

    /** @return the event to be sent */
    nlohmann::json Result() const;

  private:
    void MakeUdp(size_t index, const Network& network);
    void MakeTcp(size_t index, const Network& network);
    void MakePing(const Network& network);
    void StartAndStop(Ptr<Application> application, Ptr<Node> node, Time grace);
    void Sent(Ptr<const Packet> packet);
    void Received(Ptr<const Packet> packet, const Address& from);
    void ReceivedStamped(Ptr<const Packet> packet,
                         const Address& from,
                         const Address& to,
                         const SeqTsSizeHeader& header);
    void PingSent(uint16_t sequence, Ptr<Packet> packet);
    void PingAnswered(uint16_t sequence, Time rtt);
    static int64_t RateOf(const viaduct::scenario::Flow& flow, const Network& network);
    double Elapsed() const;

    viaduct::scenario::Flow m_flow;                //!< what was asked for
    Time m_begin;                                  //!< when it starts
    Ptr<Application> m_ping;                       //!< the ns-3 application (ping)
    uint64_t m_pings{0};                           //!< to send
    uint64_t m_sent{0};                            //!< packets
    uint64_t m_received{0};                        //!< packets
    uint64_t m_bytes{0};                           //!< payload received
    viaduct::Histogram m_delay;                    //!< one-way delay, ns (UDP)
    viaduct::Histogram m_rtt;                      //!< round trip, ns (ping)
    int64_t m_rttMin{0};                           //!< ns
    double m_rttSum{0};                            //!< ms
    std::map<uint64_t, uint64_t> m_perSecond;      //!< bytes received in each second
    std::vector<std::pair<double, double>> m_rtts; //!< time, ms
};

} // namespace sim
} // namespace ns3

#endif // VIADUCT_SIM_FLOWS_H
