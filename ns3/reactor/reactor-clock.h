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
 * @brief The clock of ReactorSimulatorImpl (CLOCK_MONOTONIC), with the functions that sleep in the
 * kernel. Tests use derived classes with other clocks.
 *
 * Now() may be called from any thread; all other functions only from the thread that is in
 * ReactorSimulatorImpl::Run().
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
     * Sleeps until a descriptor is ready or the timeout has expired.
     * @param waiter waits for the descriptors
     * @param timeout the maximum sleep; viaduct::Duration() only polls, Duration::Max() waits
     * without limit
     * @return the ready descriptors; empty after the timeout, or when a signal interrupted the
     * sleep
     */
    virtual viaduct::Poller::Ready Sleep(viaduct::sys::HybridWaiter& waiter,
                                         viaduct::Duration timeout)
    {
        return waiter.Sleep(timeout);
    }

    /**
     * Sleeps, so that other threads can use the processor.
     * @param time the duration of the sleep
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
