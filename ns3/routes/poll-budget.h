/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_POLL_BUDGET_H
#define VIADUCT_POLL_BUDGET_H

#include "ns3/nstime.h"

#include "base/time.h"

#include <cstdint>
#include <ctime>
#include <functional>
#include <utility>

namespace ns3
{

/**
 * @ingroup viaduct
 * The share of a simulator's time that may be spent on reading the routes of protocols that do not
 * report changes. The cost of reading one node, times the number of nodes, determines how often
 * each node is read. The budget is for simulations in real time only, because the cost is measured.
 */
class PollBudget
{
  public:
    using Clock = std::function<viaduct::Instant()>; //!< a clock: ThreadTime(), or a test's clock

    /**
     * @param share the share of the simulator's time, above 0
     * @param clock the clock that measures costs
     */
    explicit PollBudget(double share = 0.05, Clock clock = ThreadTime)
        : m_share(share), m_clock(std::move(clock))
    {
    }

    /** @return the processor time of the calling thread, because time spent waiting is not a cost
     * of reading */
    static viaduct::Instant ThreadTime()
    {
        timespec time;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return viaduct::Instant::FromNanoseconds(time.tv_sec * 1'000'000'000LL + time.tv_nsec);
    }

    /** Adds a polled node. */
    void Join()
    {
        m_nodes++;
    }

    /** @return the current time of the clock that measures costs */
    viaduct::Instant Now() const
    {
        return m_clock();
    }

    /**
     * @param cost the cost of reading one node once
     * @return the minimum interval between two readings of a node with which the readings of all
     * nodes stay within the share
     */
    Time ShortestInterval(viaduct::Duration cost) const
    {
        const double nanoseconds = static_cast<double>(cost.nanoseconds()) * m_nodes / m_share;
        return NanoSeconds(static_cast<int64_t>(nanoseconds));
    }

  private:
    double m_share;      //!< share of the simulator's time
    Clock m_clock;       //!< clock that measures costs
    uint32_t m_nodes{0}; //!< number of polled nodes
};

} // namespace ns3

#endif // VIADUCT_POLL_BUDGET_H
