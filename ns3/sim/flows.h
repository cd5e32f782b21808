/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_FLOWS_H
#define VIADUCT_SIM_FLOWS_H

#include "ns3/sim/network.h"
#include "ns3/sim/udp-source.h"

#include "ns3/application.h"
#include "ns3/nstime.h"
#include "ns3/onoff-application.h"
#include "ns3/packet.h"
#include "ns3/ping.h"
#include "ns3/seq-ts-size-header.h"

#include "base/histogram.h"
#include "base/result/flow.h"
#include "base/sequence_window.h"
#include "base/time_series.h"
#include "scenario/drain.h"

#include <map>
#include <optional>
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
    /** Creates the applications; they start `flow.start` after this call.
     * @param scenario the scenario; must outlive this object
     * @param index the flow's number
     * @param network the nodes
     * @param stream another flow that consists of the same packets (scenario::StreamOf()); null:
     * none
     * @throw viaduct::UsageError if ns-3 cannot send it
     */
    SimulatedFlow(const viaduct::scenario::Scenario& scenario,
                  size_t index,
                  const Network& network,
                  const SimulatedFlow* stream);
    SimulatedFlow(const SimulatedFlow&) = delete;
    SimulatedFlow& operator=(const SimulatedFlow&) = delete;

    /**
     * @return whether the sender has ended, and all its packets have arrived or no more will arrive
     */
    bool IsOver() const;
    /** @return the measurements so far */
    viaduct::result::FlowResult Result() const;

  private:
    void MakeUdp(const Network& network, const SimulatedFlow* stream);
    void MakeTcp(const Network& network);
    void MakePing(const Network& network);
    Ptr<Application> MakeSink(const char* protocol);
    static Ptr<OnOffApplication> MakeConstantRate(int64_t rate, int size);
    void SendTo(Ptr<Application> source, const char* protocol);
    void StartAndStop(Ptr<Application> application, Ptr<Node> node, Time grace);
    /** Detects the end of the sender's connection; null: the sender has none. */
    void WatchConnection(Ptr<Socket> socket);
    void ConnectionClosed(Ptr<Socket> socket);
    void ReceivedTcp(Ptr<const Packet> packet, const Address& from);
    void ReceivedUdp(Ptr<const Packet> packet, const Address& from);
    void CountBytes(uint32_t bytes);
    /** @return the number of packets, including refused packets */
    uint64_t Offered() const;
    /** @return the number of packets in Offered() that the sender's socket refused */
    uint64_t Refused() const;
    /** @return the number of packets that the network accepted and that have not arrived */
    uint64_t UnderWayOrLost() const;
    /** @return the time at which the sender ends */
    Time End() const;
    /** @return whether packets were still arriving when the wait for them ended */
    bool IsCut() const;
    void PingSent(uint16_t sequence, Ptr<Packet> packet);
    void PingAnswered(uint16_t sequence, Time rtt);
    void LookForRoute(Ptr<Node> sender);
    /** @return the reason why there is no result, as a real program reports it; empty: none */
    std::string Trouble() const;
    int64_t RateOfLink(const Network& network) const;
    /** @return payload received, bit/s, over the duration that the real modes' programs use: UDP
     * from the first packet to the last, TCP from the start to the last byte, or the sender's end
     */
    std::optional<double> Rate() const;
    std::vector<std::pair<double, double>> Throughput() const;

    const viaduct::scenario::Flow& m_flow;          //!< the settings
    viaduct::wire::IpAddress m_to;                  //!< the receiver's address
    std::optional<viaduct::wire::IpAddress> m_from; //!< address that the sender must use
    uint16_t m_port;                                //!< the receiver's port
    Time m_begin;                                   //!< start of the flow
    viaduct::scenario::Drain m_drain;               //!< limits of the wait for packets under way
    Ptr<UdpSource> m_udp;                           //!< the sender (UDP)
    viaduct::SequenceWindow m_come;                 //!< packets that have arrived (UDP)
    Ptr<Ping> m_ping;                               //!< the ns-3 application (ping)
    /** The instant of each request and whether it was answered, by its sequence number (ping). */
    std::map<uint16_t, std::pair<Time, bool>> m_requests;
    bool m_hasRoute{true};        //!< whether the sender has one at the start
    Time m_firstArrival;          //!< the first packet (UDP, TCP)
    Time m_lastArrival;           //!< the last packet that is no duplicate
    std::optional<Time> m_broken; //!< end of a connection that ended early (TCP)
    uint64_t m_pings{0};          //!< number of requests to send
    Time m_lastRequest;           //!< instant of the latest request
    uint64_t m_sent{0};           //!< number of requests (ping)
    uint64_t m_received{0};       //!< number of packets
    uint64_t m_duplicates{0};     //!< packets that arrived again
    uint64_t m_bytes{0};          //!< payload received
    uint64_t m_firstBytes{0};     //!< payload received in the first packet
    viaduct::Histogram m_delay;   //!< one-way delay, ns (UDP)
    viaduct::Histogram m_rtt;     //!< round trip, ns (ping)
    /** Bytes received. */
    viaduct::TimeSeries m_series{viaduct::Duration::Seconds(1)};
    viaduct::result::Samples m_rtts;   //!< time, ms
    viaduct::result::GapFinder m_gaps; //!< numbers, s since the start (UDP, ping)
    uint64_t m_next{0};                //!< number after the latest answered request (ping)
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_FLOWS_H
