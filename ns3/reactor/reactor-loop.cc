/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

// The loop of ReactorSimulatorImpl: due events, ready ports, flushes, and waits.

#include "ns3/reactor/reactor-simulator-impl.h"

#include "ns3/abort.h"
#include "ns3/assert.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include "base/error.h"
#include "sys/process/processor.h"

#include <algorithm>

namespace ns3
{

using viaduct::Duration;
using viaduct::Instant;

NS_LOG_COMPONENT_DEFINE("ReactorLoop");

namespace
{

/// The minimum interval between polls of the kernel for further ready ports under load: a poll
/// costs about 0.3 us, so that the interval keeps the cost near 1%.
constexpr auto LOOK_INTERVAL = Duration::Microseconds(20);
/// The time after which the first retry is made for a port that could not send all its frames.
constexpr auto BACKLOG_INTERVAL = Duration::Microseconds(50);
/// The maximum time before a retry: the time is doubled after each retry in which the port sends
/// nothing.
constexpr auto MAX_BACKLOG_INTERVAL = Duration::Milliseconds(1);
/// The time before a deadline in which spinning does not poll descriptors, because a poll costs 0.3
/// us.
constexpr auto BLIND_SPIN = Duration::Microseconds(3);
/// The period for which the sleep of a SCHED_FIFO thread is checked. The kernel lets such a thread
/// run for 950 ms of each second (sched_rt_runtime_us), and then stops it for 50 ms.
constexpr auto FIFO_PERIOD = Duration::Milliseconds(20);
/// The minimum sleep of a SCHED_FIFO thread in FIFO_PERIOD. It is more than 1 ms, the share of the
/// 50 ms that falls to a FIFO_PERIOD. A thread that has slept less pauses for FIFO_REST.
constexpr auto FIFO_REST = Duration::Microseconds(1500);
/// The kernel may end a sleep late by 1/1000 of the sleep's duration (fs/select.c,
/// select_estimate_accuracy).
constexpr int64_t KERNEL_SLACK_DIVISOR = 1000;

} // namespace

void
ReactorSimulatorImpl::Run()
{
    NS_LOG_FUNCTION(this);
    NS_ABORT_MSG_IF(m_running, "ReactorSimulatorImpl::Run(): already running");
    if (m_fifoPriority > 0 && m_alwaysPoll)
    {
        throw viaduct::UsageError("ReactorSimulatorImpl: FifoPriority and AlwaysPoll cannot be "
                                  "used together: for 50 ms of every second, the kernel stops a "
                                  "SCHED_FIFO thread that never sleeps (sched_rt_runtime_us)");
    }
    const viaduct::sys::TimerSlackScope slack;
    const viaduct::sys::ThreadPolicyScope policy({.processors = m_cpuAffinity,
                                                  .fifo_priority = static_cast<int>(m_fifoPriority),
                                                  .lock_memory = m_lockMemory});
    m_mainThreadId = std::this_thread::get_id();
    m_stop = false;
    m_running = true;
    m_phase = EVENTS;
    m_phaseStart = m_clock->Now();
    m_origin = m_phaseStart - Duration::Nanoseconds(static_cast<int64_t>(m_currentTs));

    m_idled = m_phaseStart;
    while (!m_stop)
    {
        m_turns++;
        if (m_fifoPriority > 0)
        {
            Idle();
        }
        bool worked = DrainInbox();
        worked |= RunDueEvents();
        worked |= ServePorts(worked);
        worked |= FlushAll();
        if (!worked && !m_stop)
        {
            if (m_endWhenEmpty && IsFinished())
            {
                break;
            }
            WaitForWork();
        }
    }
    SetPhase(EVENTS);
    m_running = false;
    if (IsVoid() || IsPortVoid())
    {
        m_voidTrace(GetFirstOverLimit());
    }
}

void
ReactorSimulatorImpl::Idle()
{
    if (m_clock->Now() - m_idled < FIFO_PERIOD)
    {
        return;
    }
    if (m_phaseTime[SLEEPING] - m_sleptBefore < FIFO_REST)
    {
        SetPhase(SLEEPING);
        m_rests++;
        m_clock->Pause(FIFO_REST);
        SetPhase(EVENTS);
    }
    m_idled = m_clock->Now();
    m_sleptBefore = m_phaseTime[SLEEPING];
}

Duration
ReactorSimulatorImpl::RealNow() const
{
    return m_clock->Now() - m_origin;
}

Duration
ReactorSimulatorImpl::NextEvent() const
{
    return m_events->IsEmpty()
               ? Duration::Max()
               : Duration::Nanoseconds(static_cast<int64_t>(m_events->PeekNext().key.m_ts));
}

bool
ReactorSimulatorImpl::RunDueEvents()
{
    bool ran = false;
    for (uint32_t n = 0; n < m_eventBurst && !m_stop && !m_events->IsEmpty(); ++n)
    {
        const Duration now = RealNow();
        if (NextEvent() > now)
        {
            break;
        }
        ProcessOneEvent(now);
        DrainInbox();
        ran = true;
    }
    return ran;
}

void
ReactorSimulatorImpl::ProcessOneEvent(Duration now)
{
    Scheduler::Event next = m_events->RemoveNext();
    PreEventHook(EventId(next.impl, next.key.m_ts, next.key.m_context, next.key.m_uid));
    NS_ASSERT(next.key.m_ts >= m_currentTs);
    m_eventCount++;
    m_measuredEvents++;
    m_currentTs = next.key.m_ts;
    m_currentContext = next.key.m_context;
    m_currentUid = next.key.m_uid;
    RecordLateness(now - Duration::Nanoseconds(static_cast<int64_t>(next.key.m_ts)),
                   next.key.m_context);
    next.impl->Invoke();
    next.impl->Unref();
}

bool
ReactorSimulatorImpl::AdvanceToRealTime()
{
    const Duration now = RealNow();
    const Duration next = NextEvent();
    const auto reached = static_cast<uint64_t>(std::min(now, next).nanoseconds());
    if (reached > m_currentTs)
    {
        m_currentTs = reached;
        m_currentUid = EventId::UID::INVALID; // no event of this time stamp has run yet
    }
    return next > now;
}

bool
ReactorSimulatorImpl::ServePorts(bool look)
{
    if ((look || m_ports.AnyReady()) && m_clock->Now() - m_ports.GetLastLook() >= LOOK_INTERVAL)
    {
        m_ports.Poll(*m_clock, Duration());
    }
    bool worked = false;
    m_ports.ForEach([&](ReactorPorts::Port& port) {
        if (!m_stop && (port.ready || port.fd < 0 || m_alwaysPoll))
        {
            worked |= ServePort(port);
        }
        return !m_stop;
    });
    return worked;
}

bool
ReactorSimulatorImpl::ServePort(ReactorPorts::Port& port)
{
    m_currentContext = Simulator::NO_CONTEXT;
    AdvanceToRealTime();
    m_portEmptyAt = port.emptyAt;
    if (!m_ports.Ask(port, *m_clock))
    {
        return false;
    }
    m_bursts++;
    m_portBurstTrace(port.id);
    return true;
}

bool
ReactorSimulatorImpl::FlushAll()
{
    if (m_flushes.empty())
    {
        return false;
    }
    m_flushing.swap(m_flushes);
    bool worked = false;
    for (size_t i = 0; i < m_flushing.size(); ++i)
    {
        ReactorFlush* flush = m_flushing[i];
        if (flush == nullptr)
        {
            continue;
        }
        const bool done = flush->FlushTurn();
        worked |= done;
        if (!done && m_flushing[i] != nullptr)
        {
            m_flushes.push_back(flush);
        }
    }
    m_flushing.clear();
    m_flushWait = worked ? BACKLOG_INTERVAL
                         : std::clamp(m_flushWait * 2, BACKLOG_INTERVAL, MAX_BACKLOG_INTERVAL);
    return worked;
}

void
ReactorSimulatorImpl::RequestFlush(ReactorFlush* flush)
{
    m_flushes.push_back(flush);
}

void
ReactorSimulatorImpl::CancelFlush(ReactorFlush* flush)
{
    std::erase(m_flushes, flush);
    std::replace(m_flushing.begin(), m_flushing.end(), flush, static_cast<ReactorFlush*>(nullptr));
}

Instant
ReactorSimulatorImpl::NextDeadline() const
{
    const Duration next = NextEvent();
    // Events may be scheduled for the maximum time, which is out of the clock's range.
    const bool never = next > Instant::Never() - m_origin;
    return std::min(never ? Instant::Never() : m_origin + next, m_ports.GetUnmuteTime());
}

void
ReactorSimulatorImpl::WaitForWork()
{
    const Instant now = m_clock->Now();
    if (now >= m_ports.GetUnmuteTime())
    {
        m_ports.Unmute();
    }
    Instant deadline = NextDeadline();
    const bool endless = deadline == Instant::Never() && m_flushes.empty();
    m_idleTrace(endless ? GetMaximumSimulationTime() : NanoSeconds((deadline - now).nanoseconds()));
    if (!m_flushes.empty())
    {
        deadline = std::min(deadline, now + m_flushWait);
    }
    if (m_alwaysPoll)
    {
        SetPhase(SPINNING);
        m_ports.Poll(*m_clock, Duration());
        m_clock->Relax();
        SetPhase(EVENTS);
        return;
    }
    const int64_t spin = m_fifoPriority > 0 ? 0 : m_spinTime.GetNanoSeconds();
    const Duration sleep = deadline - now - Duration::Nanoseconds(spin);
    if (endless)
    {
        Sleep(Duration::Max());
    }
    else if (sleep > Duration())
    {
        Sleep(sleep - sleep / KERNEL_SLACK_DIVISOR);
    }
    else
    {
        SpinUntil(deadline);
    }
}

void
ReactorSimulatorImpl::Sleep(Duration timeout)
{
    SetPhase(SLEEPING);
    m_asleep = true;
    if (!m_inboxFilled && !m_stop)
    {
        m_sleeps++;
        m_ports.Poll(*m_clock, timeout);
    }
    m_asleep = false;
    SetPhase(EVENTS);
}

void
ReactorSimulatorImpl::SpinUntil(Instant deadline)
{
    SetPhase(SPINNING);
    for (Instant now = m_clock->Now(); now < deadline && !m_inboxFilled && !m_stop;
         now = m_clock->Now())
    {
        if (deadline - now > BLIND_SPIN && m_ports.Poll(*m_clock, Duration()) > 0)
        {
            break;
        }
        m_clock->Relax();
    }
    SetPhase(EVENTS);
}

} // namespace ns3
