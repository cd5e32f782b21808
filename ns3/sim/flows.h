/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_FLOWS_H
#define VIADUCT_SIM_FLOWS_H

#include "network.h"
#include "udp-source.h"

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
    /** Creates the applications; they start `flow.start` from now.
     * @param scenario the scenario; must outlive this object
     * @param index the flow's number
     * @param network the nodes
     * @param stream the flow whose packets these are too (scenario::StreamOf()); null: none
     * @throw viaduct::UsageError if ns-3 cannot send it
     */
    SimulatedFlow(const viaduct::scenario::Scenario& scenario,
                  size_t index,
                  const Network& network,
                  const SimulatedFlow* stream);
    SimulatedFlow(const SimulatedFlow&) = delete;
    SimulatedFlow& operator=(const SimulatedFlow&) = delete;

    /**
     * @return whether the sender has ended, and all that it sent has come or nothing more will
     */
    bool IsOver() const;
    /** @return what was measured so far */
    viaduct::result::FlowResult Result() const;

  private:
    void MakeUdp(const Network& network, const SimulatedFlow* stream);
    void MakeTcp(const Network& network);
    void MakePing(const Network& network);
    Ptr<Application> MakeSink(const char* protocol);
    static Ptr<OnOffApplication> MakeConstantRate(int64_t rate, int size);
    void SendTo(Ptr<Application> source, const char* protocol);
    void StartAndStop(Ptr<Application> application, Ptr<Node> node, Time grace);
    /** Learns when the sender's connection ends; null: it has none. */
    void WatchConnection(Ptr<Socket> socket);
    void ConnectionClosed(Ptr<Socket> socket);
    void ReceivedTcp(Ptr<const Packet> packet, const Address& from);
    void ReceivedUdp(Ptr<const Packet> packet, const Address& from);
    void CountBytes(uint32_t bytes);
    /** @return packets, refused ones too */
    uint64_t Offered() const;
    /** @return of these, packets that the sender's socket refused */
    uint64_t Refused() const;
    /** @return packets that the network took and that have not come */
    uint64_t UnderWayOrLost() const;
    /** @return when the sender ends */
    Time End() const;
    /** @return whether packets were still arriving when the wait for them ended */
    bool IsCut() const;
    void PingSent(uint16_t sequence, Ptr<Packet> packet);
    void PingAnswered(uint16_t sequence, Time rtt);
    void LookForRoute(Ptr<Node> sender);
    /** @return why there is nothing to tell, as a real program would say; empty if there is */
    std::string Trouble() const;
    int64_t RateOfLink(const Network& network) const;
    /** @return payload received, bit/s, over the time that the real modes' programs take: UDP from
     * the first packet to the last, TCP from the start to the last byte, or the sender's end
     */
    std::optional<double> Rate() const;
    std::vector<std::pair<double, double>> Throughput() const;

    const viaduct::scenario::Flow& m_flow;          //!< what was asked for
    viaduct::wire::IpAddress m_to;                  //!< the receiver's
    std::optional<viaduct::wire::IpAddress> m_from; //!< which the sender must use
    uint16_t m_port;                                //!< the receiver's
    Time m_begin;                                   //!< when it starts
    viaduct::scenario::Drain m_drain;               //!< how long to wait for what is under way
    Ptr<UdpSource> m_udp;                           //!< the sender (UDP)
    viaduct::SequenceWindow m_come;                 //!< which packets have come (UDP)
    Ptr<Ping> m_ping;                               //!< the ns-3 application (ping)
    /** When a request was sent and whether it was answered, by its sequence number (ping). */
    std::map<uint16_t, std::pair<Time, bool>> m_requests;
    bool m_hasRoute{true};        //!< the sender, when it begins
    Time m_firstArrival;          //!< of a packet (UDP, TCP)
    Time m_lastArrival;           //!< of a packet that had not come before
    std::optional<Time> m_broken; //!< when the connection ended before its time (TCP)
    uint64_t m_pings{0};          //!< to send
    Time m_lastRequest;           //!< when the last of them so far was sent
    uint64_t m_sent{0};           //!< requests (ping)
    uint64_t m_received{0};       //!< packets
    uint64_t m_duplicates{0};     //!< packets that came again
    uint64_t m_bytes{0};          //!< payload received
    uint64_t m_firstBytes{0};     //!< of these, in the first packet
    viaduct::Histogram m_delay;   //!< one-way delay, ns (UDP)
    viaduct::Histogram m_rtt;     //!< round trip, ns (ping)
    /** Bytes received. */
    viaduct::TimeSeries m_series{viaduct::Duration::Seconds(1)};
    viaduct::result::Samples m_rtts;   //!< time, ms
    viaduct::result::GapFinder m_gaps; //!< numbers, s since the start (UDP, ping)
    uint64_t m_next{0};                //!< the request after the latest that was answered (ping)
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_FLOWS_H
