/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "reactor-clock.h"

#include "ns3/abort.h"

#include "base/clock.h"

#include <cerrno>
#include <cstring>
#include <ctime>

namespace ns3
{

namespace
{

/**
 * epoll_pwait2(2): nanoseconds where epoll_wait(2) has milliseconds.
 * @param epoll epoll descriptor
 * @param events room for what is ready
 * @param capacity how many fit
 * @param timeout nanoseconds, negative for no end
 * @return how many are ready
 */
int
EpollWait(int epoll, epoll_event* events, int capacity, int64_t timeout)
{
    timespec ts{};
    ts.tv_sec = timeout / 1000000000;
    ts.tv_nsec = timeout % 1000000000;
    const int ready = epoll_pwait2(epoll, events, capacity, timeout < 0 ? nullptr : &ts, nullptr);
    NS_ABORT_MSG_IF(ready < 0 && errno != EINTR, "epoll_pwait2: " << std::strerror(errno));
    return ready < 0 ? 0 : ready;
}

} // namespace

int64_t
MonotonicReactorClock::Now()
{
    return viaduct::MonotonicClock::Now().nanoseconds();
}

int
MonotonicReactorClock::Wait(int epoll, epoll_event* events, int capacity, int64_t timeout)
{
    return EpollWait(epoll, events, capacity, timeout);
}

void
MonotonicReactorClock::Relax()
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

int64_t
ManualReactorClock::Now()
{
    return m_now.load();
}

int
ManualReactorClock::Wait(int epoll, epoll_event* events, int capacity, int64_t timeout)
{
    const int ready = EpollWait(epoll, events, capacity, timeout < 0 ? -1 : 0);
    if (ready == 0 && timeout > 0)
    {
        Advance(timeout);
    }
    return ready;
}

void
ManualReactorClock::Relax()
{
    Advance(100);
}

void
ManualReactorClock::Advance(int64_t nanoseconds)
{
    m_now += nanoseconds;
}

} // namespace ns3
