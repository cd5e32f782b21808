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
    /** Creates the flow's applications, which start at the time `start` of the flow's settings,
     * counted from this call.
     * @param scenario the scenario; must outlive this object
     * @param index the flow's index in scenario.flows
     * @param network the nodes
     * @param stream another flow, whose sender's packets this flow counts at its own receiver
     * (scenario::StreamOf()); null: none
     * @throw viaduct::UsageError if ns-3 cannot send the flow
     */
    SimulatedFlow(const viaduct::scenario::Scenario& scenario,
                  size_t index,
                  const Network& network,
                  const SimulatedFlow* stream);
    SimulatedFlow(const SimulatedFlow&) = delete;
    SimulatedFlow& operator=(const SimulatedFlow&) = delete;

    /**
     * @return whether the sender has stopped, and either all of its packets have arrived or the
     * wait for packets under way is over
     */
    bool IsOver() const;
    /** @return the flow's measurements up to now */
    viaduct::result::FlowResult Result() const;

  private:
    void MakeUdp(const Network& network, const SimulatedFlow* stream);
    void MakeTcp(const Network& network);
    void MakePing(const Network& network);
    Ptr<Application> MakeSink(const char* protocol);
    static Ptr<OnOffApplication> MakeConstantRate(int64_t rate, int size);
    void SendTo(Ptr<Application> source, const char* protocol);
    void StartAndStop(Ptr<Application> application, Ptr<Node> node, Time grace);
    /** Registers callbacks for the end of the sender's TCP connection. If @p socket is null, does
     * nothing, because the sender has no connection. */
    void WatchConnection(Ptr<Socket> socket);
    void ConnectionClosed(Ptr<Socket> socket);
    void ReceivedTcp(Ptr<const Packet> packet, const Address& from);
    void ReceivedUdp(Ptr<const Packet> packet, const Address& from);
    void CountBytes(uint32_t bytes);
    /** @return the number of packets that the sender's application has sent, including those that
     * its socket refused */
    uint64_t Offered() const;
    /** @return the number of packets in Offered() that the sender's socket refused */
    uint64_t Refused() const;
    /** @return the number of packets that the network accepted and that have not arrived */
    uint64_t UnderWayOrLost() const;
    /** @return the time at which the sender stops */
    Time End() const;
    /** @return whether packets were still arriving when the wait for packets under way ended */
    bool IsCut() const;
    void PingSent(uint16_t sequence, Ptr<Packet> packet);
    void PingAnswered(uint16_t sequence, Time rtt);
    void LookForRoute(Ptr<Node> sender);
    /** @return the reason why the flow has no result, in the words of a real program; empty: the
     * flow has a result */
    std::string Trouble() const;
    int64_t RateOfLink(const Network& network) const;
    /** @return the rate of the payload received, bit/s, over the same duration as the programs of
     * the real modes use. For UDP: from the first packet to the last. For TCP: from the flow's
     * start to the sender's end, or to the last byte if the last byte arrived later
     */
    std::optional<double> Rate() const;
    std::vector<std::pair<double, double>> Throughput() const;

    const viaduct::scenario::Flow& m_flow;          //!< the flow's settings
    viaduct::wire::IpAddress m_to;                  //!< the receiver's address
    std::optional<viaduct::wire::IpAddress> m_from; //!< address that the sender must use
    uint16_t m_port;                                //!< the receiver's port
    Time m_begin;                                   //!< the time at which the flow starts
    viaduct::scenario::Drain m_drain;               //!< limits of the wait for packets under way
    Ptr<UdpSource> m_udp;                           //!< the application that sends (UDP)
    viaduct::SequenceWindow m_come;                 //!< sequence numbers that have arrived (UDP)
    Ptr<Ping> m_ping; //!< the ns-3 application that sends requests (ping)
    /** The time at which each request was sent, and whether it was answered, by its sequence number
     * (ping). */
    std::map<uint16_t, std::pair<Time, bool>> m_requests;
    bool m_hasRoute{true}; //!< whether the sender had a route to the receiver at the flow's start
    Time m_firstArrival;   //!< arrival time of the first packet (UDP, TCP)
    Time m_lastArrival;    //!< arrival time of the last packet that was not a duplicate
    /** Time at which the connection ended, if it ended before the flow's end (TCP). */
    std::optional<Time> m_broken;
    uint64_t m_pings{0};        //!< number of requests to send (ping)
    Time m_lastRequest;         //!< time at which the latest request was sent
    uint64_t m_sent{0};         //!< number of requests sent (ping)
    uint64_t m_received{0};     //!< number of packets or answers received, without duplicates
    uint64_t m_duplicates{0};   //!< number of packets or answers that arrived again
    uint64_t m_bytes{0};        //!< payload received, bytes
    uint64_t m_firstBytes{0};   //!< payload of the first packet received, bytes
    viaduct::Histogram m_delay; //!< one-way delay, ns (UDP)
    viaduct::Histogram m_rtt;   //!< round-trip time, ns (ping)
    /** The payload bytes received in each interval of time. */
    viaduct::TimeSeries m_series{viaduct::Duration::Seconds(1)};
    /** Round-trip times in ms, each with the time of its request (ping). */
    viaduct::result::Samples m_rtts;
    /** Finds gaps in the sequence numbers; times in s since the start (UDP, ping). */
    viaduct::result::GapFinder m_gaps;
    uint64_t m_next{0}; //!< the sequence number after the latest answered request (ping)
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_FLOWS_H
