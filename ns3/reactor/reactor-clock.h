/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_REACTOR_CLOCK_H
#define VIADUCT_REACTOR_CLOCK_H

#include "base/clock.h"
#include "sys/hybrid_waiter.h"

#include <chrono>
#include <thread>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief The clock of ReactorSimulatorImpl and its means of sleep: CLOCK_MONOTONIC and the kernel.
 * Tests derive other clocks.
 *
 * Now() may be called from any thread; all other functions only from the thread in Run().
 */
class ReactorClock
{
  public:
    virtual ~ReactorClock() = default;

    /** @return the time since an epoch of this clock; never goes backwards */
    virtual viaduct::Instant Now()
    {
        return viaduct::MonotonicClock::Now();
    }

    /**
     * Sleeps until a descriptor is ready or the time is over.
     * @param waiter waits for the descriptors
     * @param timeout viaduct::Duration() only polls, Duration::Max() waits without limit
     * @return the ready descriptors; also empty when a signal interrupted the sleep
     */
    virtual viaduct::Poller::Ready Sleep(viaduct::sys::HybridWaiter& waiter,
                                         viaduct::Duration timeout)
    {
        return waiter.Sleep(timeout);
    }

    /**
     * Gives the processor to other threads.
     * @param time the duration
     */
    virtual void Pause(viaduct::Duration time)
    {
        std::this_thread::sleep_for(std::chrono::nanoseconds(time.nanoseconds()));
    }

    /** Called between two reads of the clock while the reactor spins. */
    virtual void Relax()
    {
        viaduct::sys::HybridWaiter::Relax();
    }
};

} // namespace ns3

#endif /* VIADUCT_REACTOR_CLOCK_H */
