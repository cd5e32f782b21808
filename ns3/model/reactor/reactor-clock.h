/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_REACTOR_CLOCK_H
#define VIADUCT_REACTOR_CLOCK_H

#include <atomic>
#include <cstdint>
#include <sys/epoll.h>

/**
 * @file
 * @ingroup viaduct
 * ns3::ReactorClock, ns3::MonotonicReactorClock and ns3::ManualReactorClock declarations.
 */

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief Where ReactorSimulatorImpl reads time, and how it sleeps.
 *
 * Now() may be called from any thread; the others only from the thread in Run().
 */
class ReactorClock
{
  public:
    virtual ~ReactorClock() = default;

    /**
     * @return nanoseconds since an epoch of the clock's own; never goes backwards
     */
    virtual int64_t Now() = 0;

    /**
     * Sleep until a descriptor is ready or the time is over.
     * @param epoll epoll descriptor
     * @param events room for what is ready
     * @param capacity how many fit in @p events
     * @param timeout nanoseconds; 0 only looks, negative waits without end
     * @return how many entries were filled in; 0 also when a signal interrupted the sleep
     */
    virtual int Wait(int epoll, epoll_event* events, int capacity, int64_t timeout) = 0;

    /** Called between two looks at the clock while the reactor spins. */
    virtual void Relax() = 0;
};

/**
 * @ingroup viaduct
 * @brief CLOCK_MONOTONIC and epoll_pwait2(2): the clock of every real run.
 */
class MonotonicReactorClock : public ReactorClock
{
  public:
    int64_t Now() override;
    int Wait(int epoll, epoll_event* events, int capacity, int64_t timeout) override;
    void Relax() override;
};

/**
 * @ingroup viaduct
 * @brief A clock for tests: it moves when told to, and by as much as the reactor would have slept.
 *
 * A wait without end is a real one, for only another thread can finish it.
 */
class ManualReactorClock : public ReactorClock
{
  public:
    int64_t Now() override;
    int Wait(int epoll, epoll_event* events, int capacity, int64_t timeout) override;
    /** Moves the clock by 100 ns, so that spinning ends. */
    void Relax() override;

    /**
     * @param nanoseconds by how much to move the clock forward
     */
    void Advance(int64_t nanoseconds);

  private:
    std::atomic<int64_t> m_now{0}; //!< the time
};

} // namespace ns3

#endif /* VIADUCT_REACTOR_CLOCK_H */
