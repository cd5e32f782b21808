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
 * The timers and limits of a neighbour table; by default those of Linux. Its timers of 1 s and 5 s
 * are 4 to 36 ms and up to 256 ms late (kernel/time/timer.c with HZ=250: the later, the coarser);
 * these are so by the mean.
 */
struct NeighbourLimits
{
    Time interval{MilliSeconds(1020)}; //!< between two requests (retrans_time_ms)
    Time delay{MilliSeconds(5130)};    //!< from the first use to a probe (delay_first_probe_time)
    Time reachable{Seconds(30)};       //!< after an answer (of base_reachable_time_ms)
    uint32_t requests{3};              //!< to all (mcast_solicit), and to one (ucast_solicit)
    uint32_t bytes{212992};            //!< that wait for one neighbour (unres_qlen_bytes)
    std::optional<uint32_t> packets{}; //!< that may wait instead
    Ptr<RandomVariableStream> jitter;  //!< ms before a first request; null: none
};

/**
 * @ingroup viaduct
 * The link-layer addresses of an interface's neighbours, for one version of IP, and when they are
 * asked for: Linux's neighbour table (net/core/neighbour.c of Linux 6.18), which is the neighbour
 * unreachability detection of RFC 4861, section 7.3, for both versions.
 */
class NeighbourTable
{
  public:
    /** The state of a neighbour; Linux's names (NUD_*). */
    enum class State
    {
        FAILED,     //!< nothing is known
        INCOMPLETE, //!< asked for; packets wait
        REACHABLE,  //!< it has answered
        STALE,      //!< its address is known, and has not been confirmed lately
        DELAY,      //!< it has been used in that state
        PROBE,      //!< it is asked, and used meanwhile
    };

    /** A packet that waits, and its header. */
    struct Waiting
    {
        Ptr<Packet> packet;                          //!< follows the header
        std::variant<Ipv4Header, Ipv6Header> header; //!< the packet's
    };

    /** The interface whose neighbours they are. */
    class Link
    {
      public:
        virtual ~Link() = default;
        /**
         * Sends a request.
         * @param to the address asked for
         * @param at the only one that is asked; nothing: all
         * @param last the last of the packets that wait; null: none does
         */
        virtual void Ask(const viaduct::wire::IpAddress& to,
                         const std::optional<Address>& at,
                         const Waiting* last) = 0;
        /**
         * Sends a packet that has waited.
         * @param to the neighbour, whose address is known now
         * @param waiting the packet
         */
        virtual void Send(const viaduct::wire::IpAddress& to, const Waiting& waiting) = 0;
        /** @param waiting a packet that is given up */
        virtual void Drop(const Waiting& waiting) = 0;
        /**
         * A neighbour's state has changed.
         * @param of the neighbour
         * @param state its state
         * @param address its link-layer address; invalid: none is known
         * @param isWatched whether the table must be told when it is used next
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
     * @return its link-layer address; nothing: the packet has to Wait()
     */
    std::optional<Address> Use(const viaduct::wire::IpAddress& to);
    /**
     * @param to a neighbour whose address is not known
     * @param waiting a packet for it; the first makes the table ask
     */
    void Wait(const viaduct::wire::IpAddress& to, const Waiting& waiting);

    /** Something that was heard of a neighbour. */
    struct News
    {
        std::optional<Address> address; //!< its link-layer address
        bool isConfirmed{false};        //!< it has answered a request
        bool overrides{false};          //!< replaces an address that is known
        bool isWeak{false};             //!< else casts doubt on it
        bool isNew{false};              //!< counts of neighbours of which nothing is known, too
    };

    /**
     * @param of the neighbour
     * @param news what was heard
     */
    void Learn(const viaduct::wire::IpAddress& of, const News& news);

    /** @param of a neighbour of which everything is forgotten; what waits for it is dropped */
    void Forget(const viaduct::wire::IpAddress& of);

    /**
     * @param of a neighbour
     * @return its state; nothing: it is not in the table
     */
    std::optional<State> Find(const viaduct::wire::IpAddress& of) const;
    /**
     * @param of a neighbour
     * @return when its state or address changed
     */
    Time GetUpdated(const viaduct::wire::IpAddress& of) const;

    /**
     * @param state a state
     * @return whether packets are sent in it
     */
    static bool IsValid(State state)
    {
        return state != State::FAILED && state != State::INCOMPLETE;
    }

  private:
    /** A neighbour. */
    struct Neighbour
    {
        State state{State::FAILED};  //!< its state
        Address address;             //!< its link-layer address
        Time confirmed;              //!< when it answered
        Time used;                   //!< when a packet was for it
        Time updated;                //!< when the state or the address changed
        uint32_t probes{0};          //!< requests sent in this state
        bool isWatched{false};       //!< its next use must be told
        EventId timer;               //!< of the state
        EventId asking;              //!< a first request that is delayed
        std::deque<Waiting> waiting; //!< packets that wait for the address
        uint64_t bytes{0};           //!< what they take
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
    NeighbourLimits m_limits;                                     //!< its timers and limits
    std::map<viaduct::wire::IpAddress, Neighbour> m_neighbours{}; //!< by address
};

} // namespace ns3

#endif // VIADUCT_NEIGHBOUR_TABLE_H
