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
 * The timers and limits of a neighbour table; the defaults are those of Linux. Linux's timers of 1
 * s expire 4 to 36 ms late, and those of 5 s up to 256 ms late, because the resolution of long
 * timers is lower (kernel/time/timer.c with HZ=250); the defaults include the mean lateness.
 */
struct NeighbourLimits
{
    Time interval{MilliSeconds(1020)}; //!< interval between two requests (retrans_time_ms)
    /** Time from the first use of a stale address to a probe (delay_first_probe_time). */
    Time delay{MilliSeconds(5130)};
    /** Time for which a neighbour is reachable after an answer (base_reachable_time_ms). */
    Time reachable{Seconds(30)};
    /** Maximum number of requests, to all nodes (mcast_solicit) or to the neighbour
     * (ucast_solicit). */
    uint32_t requests{3};
    /** Maximum number of bytes that wait for one neighbour (unres_qlen_bytes). */
    uint32_t bytes{212992};
    /** Maximum number of packets that wait for one neighbour; overrides `bytes`. */
    std::optional<uint32_t> packets{};
    Ptr<RandomVariableStream> jitter; //!< random delay of a first request, ms; null: no delay
};

/**
 * @ingroup viaduct
 * The link-layer addresses of an interface's neighbours for one version of IP, and the timers of
 * the requests for these addresses. The table behaves like Linux's neighbour table
 * (net/core/neighbour.c of Linux 6.18), which implements the neighbour unreachability detection of
 * RFC 4861, section 7.3, for both versions of IP.
 */
class NeighbourTable
{
  public:
    /** The state of a neighbour; the names are those of Linux (NUD_*). */
    enum class State
    {
        FAILED,     //!< the link-layer address is unknown
        INCOMPLETE, //!< a request was sent, and packets wait for the answer
        REACHABLE,  //!< the neighbour has answered a request recently
        STALE,      //!< the link-layer address is known, and has not been confirmed recently
        DELAY,      //!< the link-layer address has been used in state STALE
        PROBE,      //!< requests are sent, and the link-layer address is used meanwhile
    };

    /** A packet that waits for a neighbour's link-layer address, and the packet's IP header. */
    struct Waiting
    {
        Ptr<Packet> packet;                          //!< the packet without its header
        std::variant<Ipv4Header, Ipv6Header> header; //!< the packet's header
    };

    /** The network interface on which the neighbours are; the table calls its functions. */
    class Link
    {
      public:
        virtual ~Link() = default;
        /**
         * Sends a request for a neighbour's link-layer address.
         * @param to the requested address
         * @param at the link-layer address of the only receiver of the request; none: all nodes
         * @param last the last packet that waits for the neighbour; null: no packet waits
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
        /** Drops a packet that has waited.
         * @param waiting the packet */
        virtual void Drop(const Waiting& waiting) = 0;
        /**
         * Reports that a neighbour's state has changed.
         * @param of the neighbour
         * @param state the neighbour's new state
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
     * @return the neighbour's link-layer address; none: the packet must be passed to Wait()
     */
    std::optional<Address> Use(const viaduct::wire::IpAddress& to);
    /**
     * Keeps a packet until the neighbour's link-layer address is known.
     * @param to a neighbour whose link-layer address is unknown
     * @param waiting a packet for the neighbour; for the first packet the table sends a request
     */
    void Wait(const viaduct::wire::IpAddress& to, const Waiting& waiting);

    /** Information received about a neighbour. */
    struct News
    {
        std::optional<Address> address; //!< the neighbour's link-layer address, if known
        bool isConfirmed{false};        //!< whether the neighbour has answered a request
        bool overrides{false};          //!< whether the address replaces a known address
        /** Whether an address that differs from a reachable neighbour's address, and does not
         * replace it, makes the neighbour stale. */
        bool isWeak{false};
        /** Whether the information creates an entry for a neighbour that is not in the table. */
        bool isNew{false};
    };

    /**
     * Handles received information about a neighbour.
     * @param of the neighbour
     * @param news the information
     */
    void Learn(const viaduct::wire::IpAddress& of, const News& news);

    /** Removes a neighbour, and drops the packets that wait for it.
     * @param of the neighbour */
    void Forget(const viaduct::wire::IpAddress& of);

    /**
     * @param of a neighbour
     * @return the neighbour's state; none: the neighbour is not in the table
     */
    std::optional<State> Find(const viaduct::wire::IpAddress& of) const;
    /**
     * @param of a neighbour
     * @return the time at which the neighbour's state or link-layer address last changed
     */
    Time GetUpdated(const viaduct::wire::IpAddress& of) const;

    /**
     * @param state a state
     * @return whether packets are sent to a neighbour in this state
     */
    static bool IsValid(State state)
    {
        return state != State::FAILED && state != State::INCOMPLETE;
    }

  private:
    /** An entry of the table. */
    struct Neighbour
    {
        State state{State::FAILED}; //!< state of the neighbour
        Address address;            //!< link-layer address
        Time confirmed;             //!< time of the last answer
        Time used;                  //!< time of the last packet for the neighbour
        Time updated;       //!< time at which the state or the link-layer address last changed
        uint32_t probes{0}; //!< number of requests sent in the current state
        /** Whether the link must notify the table of the neighbour's next use. */
        bool isWatched{false};
        EventId timer;               //!< event at the end of the current state
        EventId asking;              //!< event that sends a delayed first request
        std::deque<Waiting> waiting; //!< packets that wait for the address
        uint64_t bytes{0}; //!< memory of the packets in `waiting`, as Linux counts it, bytes
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
