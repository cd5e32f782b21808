/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_NEIGHBOUR_TABLE_H
#define VIADUCT_NEIGHBOUR_TABLE_H

#include "ns3/address.h"
#include "ns3/event-id.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv6-header.h"
#include "ns3/nstime.h"
#include "ns3/packet.h"
#include "ns3/ptr.h"
#include "ns3/random-variable-stream.h"

#include "base/wire/address.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <variant>

namespace ns3
{

/**
 * @ingroup viaduct
 * The timers and limits of a neighbour table; the defaults are those of Linux. Linux's timers of
 * 1 s and 5 s are 4 to 36 ms and up to 256 ms late (kernel/time/timer.c with HZ=250: the later, the
 * coarser); the defaults include the mean of that.
 */
struct NeighbourLimits
{
    Time interval{MilliSeconds(1020)}; //!< between two requests (retrans_time_ms)
    Time delay{MilliSeconds(5130)};    //!< from the first use to a probe (delay_first_probe_time)
    Time reachable{Seconds(30)};       //!< after an answer (of base_reachable_time_ms)
    uint32_t requests{3};              //!< to all nodes (mcast_solicit), and to one (ucast_solicit)
    uint32_t bytes{212992};            //!< waiting for one neighbour (unres_qlen_bytes)
    std::optional<uint32_t> packets{}; //!< packets that may wait; overrides `bytes`
    Ptr<RandomVariableStream> jitter;  //!< ms before a first request; null: no delay
};

/**
 * @ingroup viaduct
 * The link-layer addresses of an interface's neighbours, for one version of IP, and the times of
 * the requests for them: Linux's neighbour table (net/core/neighbour.c of Linux 6.18), which is the
 * neighbour unreachability detection of RFC 4861, section 7.3, for both versions.
 */
class NeighbourTable
{
  public:
    /** The state of a neighbour; Linux's names (NUD_*). */
    enum class State
    {
        FAILED,     //!< the address is unknown
        INCOMPLETE, //!< a request was sent; packets wait
        REACHABLE,  //!< the neighbour has answered
        STALE,      //!< the address is known, and has not been confirmed lately
        DELAY,      //!< the address has been used in state STALE
        PROBE,      //!< requests are sent, and the address is used meanwhile
    };

    /** A waiting packet, and its header. */
    struct Waiting
    {
        Ptr<Packet> packet;                          //!< the packet without its header
        std::variant<Ipv4Header, Ipv6Header> header; //!< the packet's header
    };

    /** The interface of the neighbours. */
    class Link
    {
      public:
        virtual ~Link() = default;
        /**
         * Sends a request.
         * @param to the requested address
         * @param at the only receiver of the request; none: all nodes
         * @param last the last of the waiting packets; null: none waits
         */
        virtual void Ask(const viaduct::wire::IpAddress& to,
                         const std::optional<Address>& at,
                         const Waiting* last) = 0;
        /**
         * Sends a packet that has waited.
         * @param to the neighbour, whose address is now known
         * @param waiting the packet
         */
        virtual void Send(const viaduct::wire::IpAddress& to, const Waiting& waiting) = 0;
        /** @param waiting a packet to drop */
        virtual void Drop(const Waiting& waiting) = 0;
        /**
         * Reports that a neighbour's state has changed.
         * @param of the neighbour
         * @param state the neighbour's state
         * @param address the neighbour's link-layer address; invalid: none is known
         * @param isWatched whether the table must be notified of the neighbour's next use
         */
        virtual void Show(const viaduct::wire::IpAddress& of,
                          State state,
                          const Address& address,
                          bool isWatched) = 0;
    };

    /**
     * @param link the interface; must outlive this object
     * @param limits the timers and limits
     */
    NeighbourTable(Link& link, const NeighbourLimits& limits);
    ~NeighbourTable();
    NeighbourTable(const NeighbourTable&) = delete;
    NeighbourTable& operator=(const NeighbourTable&) = delete;

    /**
     * Looks up a neighbour for a packet.
     * @param to the neighbour
     * @return the neighbour's link-layer address; none: the packet must Wait()
     */
    std::optional<Address> Use(const viaduct::wire::IpAddress& to);
    /**
     * @param to a neighbour whose address is not known
     * @param waiting a packet for the neighbour; the first makes the table send a request
     */
    void Wait(const viaduct::wire::IpAddress& to, const Waiting& waiting);

    /** Information received about a neighbour. */
    struct News
    {
        std::optional<Address> address; //!< link-layer address
        bool isConfirmed{false};        //!< whether the neighbour has answered a request
        bool overrides{false};          //!< replaces an address that is known
        bool isWeak{false};             //!< else makes a known address doubtful
        bool isNew{false};              //!< valid for unknown neighbours, too
    };

    /**
     * @param of the neighbour
     * @param news the information
     */
    void Learn(const viaduct::wire::IpAddress& of, const News& news);

    /** @param of a neighbour to remove; packets that wait for it are dropped */
    void Forget(const viaduct::wire::IpAddress& of);

    /**
     * @param of a neighbour
     * @return the neighbour's state; none: it is not in the table
     */
    std::optional<State> Find(const viaduct::wire::IpAddress& of) const;
    /**
     * @param of a neighbour
     * @return the time at which the neighbour's state or address changed
     */
    Time GetUpdated(const viaduct::wire::IpAddress& of) const;

    /**
     * @param state a state
     * @return whether packets are sent in this state
     */
    static bool IsValid(State state)
    {
        return state != State::FAILED && state != State::INCOMPLETE;
    }

  private:
    /** A neighbour. */
    struct Neighbour
    {
        State state{State::FAILED};  //!< state of the neighbour
        Address address;             //!< link-layer address
        Time confirmed;              //!< time of the last answer
        Time used;                   //!< time of the last packet for it
        Time updated;                //!< time at which the state or the address changed
        uint32_t probes{0};          //!< requests sent in this state
        bool isWatched{false};       //!< whether its next use must be reported
        EventId timer;               //!< timer of the state
        EventId asking;              //!< a first request that is delayed
        std::deque<Waiting> waiting; //!< packets that wait for the address
        uint64_t bytes{0};           //!< bytes of `waiting`
    };

    void Enter(const viaduct::wire::IpAddress& to, Neighbour& neighbour, State state);
    void SetTimer(const viaduct::wire::IpAddress& to, Neighbour& neighbour, Time after);
    void HandleTimer(viaduct::wire::IpAddress to);
    void ExpireReachable(const viaduct::wire::IpAddress& to, Neighbour& neighbour);
    void Probe(const viaduct::wire::IpAddress& to, Neighbour& neighbour);
    void Ask(viaduct::wire::IpAddress to);
    void Show(const viaduct::wire::IpAddress& to, const Neighbour& neighbour);
    void DropWaiting(Neighbour& neighbour);

    Link& m_link;                                                 //!< the interface
    NeighbourLimits m_limits;                                     //!< the table's timers and limits
    std::map<viaduct::wire::IpAddress, Neighbour> m_neighbours{}; //!< neighbours by address
};

} // namespace ns3

#endif // VIADUCT_NEIGHBOUR_TABLE_H
