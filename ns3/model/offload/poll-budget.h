/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_POLL_BUDGET_H
#define VIADUCT_POLL_BUDGET_H

#include "ns3/nstime.h"

#include "base/clock.h"

#include <cstdint>
#include <functional>

namespace ns3
{

/**
 * @ingroup viaduct
 * The part of a simulator's time that may be spent on reading the routes of protocols that do not
 * report changes: what one node's reading costs, times the nodes, determines how often each is
 * read. Only in real time, because the cost is measured.
 */
class PollBudget
{
  public:
    using Clock = std::function<viaduct::Instant()>; //!< the wall clock, or a test's

    /**
     * @param share of the time, above 0
     * @param clock by which costs are measured
     */
    explicit PollBudget(double share = 0.05, Clock clock = viaduct::MonotonicClock::Now)
        : m_share(share), m_clock(std::move(clock))
    {
    }

    /** One more node is polled. */
    void Join()
    {
        m_nodes++;
    }

    /** @return the time by the wall clock */
    viaduct::Instant Now() const
    {
        return m_clock();
    }

    /**
     * @param cost of reading one node once
     * @return the shortest interval between two readings of a node that keeps the share
     */
    Time ShortestInterval(viaduct::Duration cost) const
    {
        const double nanoseconds = static_cast<double>(cost.nanoseconds()) * m_nodes / m_share;
        return NanoSeconds(static_cast<int64_t>(nanoseconds));
    }

  private:
    double m_share;      //!< of the time
    Clock m_clock;       //!< measures costs
    uint32_t m_nodes{0}; //!< that are polled
};

} // namespace ns3

#endif // VIADUCT_POLL_BUDGET_H
