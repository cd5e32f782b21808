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
#include "result/flow.h"

#include <map>
#include <utility>
#include <vector>

namespace ns3::sim
{

/** A flow of mode simulate: ns-3 applications that send the same traffic as real programs would,
 * and its measurements.
 */
class SimulatedFlow
{
  public:
    /** Creates the applications; they start `flow.start` from now.
     * @param scenario the scenario; must outlive this object
     * @param index the flow's number
     * @param network the nodes
     * @throw viaduct::UsageError if ns-3 cannot send it
     */
    SimulatedFlow(const viaduct::scenario::Scenario& scenario,
                  size_t index,
                  const Network& network);
    SimulatedFlow(const SimulatedFlow&) = delete;
    SimulatedFlow& operator=(const SimulatedFlow&) = delete;

    /** @return the measurements so far */
    viaduct::result::FlowResult Result() const;

  private:
    void MakeUdp(const Network& network);
    void MakeTcp(const Network& network);
    void MakePing(const Network& network);
    Ptr<Application> MakeSink(const char* protocol);
    static Ptr<Application> MakeConstantRate(int64_t rate, int size);
    void SendTo(Ptr<Application> source, const char* protocol);
    void StartAndStop(Ptr<Application> application, Ptr<Node> node, Time grace);
    void Sent(Ptr<const Packet> packet);
    void Received(Ptr<const Packet> packet, const Address& from);
    void ReceivedStamped(Ptr<const Packet> packet,
                         const Address& from,
                         const Address& to,
                         const SeqTsSizeHeader& header);
    void PingSent(uint16_t sequence, Ptr<Packet> packet);
    void PingAnswered(uint16_t sequence, Time rtt);
    int64_t RateOfLink(const Network& network) const;
    double Elapsed() const;
    std::vector<std::pair<double, double>> Throughput() const;

    const viaduct::scenario::Flow& m_flow;         //!< its settings
    viaduct::wire::IpAddress m_to;                 //!< the receiver's
    uint16_t m_port;                               //!< the receiver's
    Time m_begin;                                  //!< when it starts
    Ptr<Application> m_ping;                       //!< the ns-3 application (ping)
    uint64_t m_pings{0};                           //!< number to send
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

} // namespace ns3::sim

#endif // VIADUCT_SIM_FLOWS_H
