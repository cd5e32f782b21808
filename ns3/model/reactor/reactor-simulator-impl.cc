/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "reactor-simulator-impl.h"

#include "ns3/abort.h"
#include "ns3/assert.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <utility>

/**
 * @file
 * @ingroup viaduct
 * ns3::ReactorSimulatorImpl implementation.
 */

namespace ns3
{

// Logging is largely avoided in the functions below that the log's own time printer calls.
NS_LOG_COMPONENT_DEFINE("ReactorSimulatorImpl");

NS_OBJECT_ENSURE_REGISTERED(ReactorSimulatorImpl);

namespace
{

/// Under load the kernel is asked for other ready ports at most this often (ns): the call costs
/// about 0.3 us, so this keeps it near 1%.
constexpr int64_t LOOK_INTERVAL = 20000;
/// A port that could not send all it has is asked again after this time (ns).
constexpr int64_t BACKLOG_INTERVAL = 50000;
/// Wake-ups in a row without work after which a descriptor is not waited for any more...
constexpr uint32_t MUTE_AFTER = 64;
/// ...for this time (ns). An AF_PACKET socket of a link that is down is such a descriptor.
constexpr int64_t MUTE_TIME = 10000000;
/// Closer to a deadline than this (ns), spinning does not look at descriptors: a look costs 0.3 us.
constexpr int64_t BLIND_SPIN = 3000;
/// The kernel may be late by 1/1000 of a sleep (fs/select.c, select_estimate_accuracy).
constexpr int64_t KERNEL_SLACK_DIVISOR = 1000;

/** Sets the thread's timer slack to 1 ns, which takes 25 us off the median wake-up; restores it. */
class TimerSlackGuard
{
  public:
    TimerSlackGuard() : m_saved(prctl(PR_GET_TIMERSLACK))
    {
        prctl(PR_SET_TIMERSLACK, 1UL);
    }

    ~TimerSlackGuard()
    {
        prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(m_saved));
    }

    TimerSlackGuard(const TimerSlackGuard&) = delete;
    TimerSlackGuard& operator=(const TimerSlackGuard&) = delete;

  private:
    int m_saved; //!< slack before
};

} // namespace

TypeId
ReactorSimulatorImpl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::ReactorSimulatorImpl")
            .SetParent<SimulatorImpl>()
            .SetGroupName("Viaduct")
            .AddConstructor<ReactorSimulatorImpl>()
            .AddAttribute("SpinTime",
                          "How long before an event's time to stop sleeping and spin instead; "
                          "0 never spins (events are then 4 to 10 us late).",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&ReactorSimulatorImpl::m_spinTime),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("AlwaysPoll",
                          "Never sleep: takes a whole core, for the shortest reaction to frames.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&ReactorSimulatorImpl::m_alwaysPoll),
                          MakeBooleanChecker())
            .AddAttribute("EndWhenEmpty",
                          "Run() returns when there are no events and no ports. Set to false where "
                          "only other threads (FdNetDevice, TapBridge) bring events in.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&ReactorSimulatorImpl::m_endWhenEmpty),
                          MakeBooleanChecker())
            .AddAttribute("EventBurst",
                          "How many due events may run before every ready port gets its burst.",
                          UintegerValue(256),
                          MakeUintegerAccessor(&ReactorSimulatorImpl::m_eventBurst),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("LatenessLimit",
                          "The run is void if LatenessQuantile of all events were not run within "
                          "this time after their time stamp; 0 sets no limit.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&ReactorSimulatorImpl::m_latenessLimit),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("LatenessQuantile",
                          "The part of all events that must keep LatenessLimit.",
                          DoubleValue(0.99),
                          MakeDoubleAccessor(&ReactorSimulatorImpl::m_latenessQuantile),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("LateThreshold",
                          "Events later than this are reported by the trace source EventLate.",
                          TimeValue(MilliSeconds(1)),
                          MakeTimeAccessor(&ReactorSimulatorImpl::m_lateThreshold),
                          MakeTimeChecker(Time(0)))
            .AddTraceSource("EventLate",
                            "An event starts later than LateThreshold: lateness, context.",
                            MakeTraceSourceAccessor(&ReactorSimulatorImpl::m_eventLateTrace),
                            "ns3::ReactorSimulatorImpl::EventLateTracedCallback")
            .AddTraceSource("PortBurst",
                            "A port did work: its number as AddPollable() returned it.",
                            MakeTraceSourceAccessor(&ReactorSimulatorImpl::m_portBurstTrace),
                            "ns3::TracedValueCallback::Uint32")
            .AddTraceSource("Idle",
                            "Nothing to do: the time until the next event (the maximum if none).",
                            MakeTraceSourceAccessor(&ReactorSimulatorImpl::m_idleTrace),
                            "ns3::Time::TracedCallback")
            .AddTraceSource("Void",
                            "Run() ends and the run is void: time of the first event over the "
                            "limit.",
                            MakeTraceSourceAccessor(&ReactorSimulatorImpl::m_voidTrace),
                            "ns3::Time::TracedCallback");
    return tid;
}

ReactorSimulatorImpl::ReactorSimulatorImpl()
    : m_uid(EventId::UID::VALID),
      m_currentUid(EventId::UID::INVALID),
      m_currentTs(0),
      m_currentContext(Simulator::NO_CONTEXT),
      m_eventCount(0),
      m_mainThreadId(std::this_thread::get_id()),
      m_wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      m_epoll(epoll_create1(EPOLL_CLOEXEC)),
      m_clock(std::make_unique<MonotonicReactorClock>())
{
    NS_LOG_FUNCTION(this);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = nullptr;
    const int result = epoll_ctl(m_epoll.get(), EPOLL_CTL_ADD, m_wake.get(), &event);
    NS_ABORT_MSG_IF(result != 0, "ReactorSimulatorImpl: epoll: " << std::strerror(errno));
}

ReactorSimulatorImpl::~ReactorSimulatorImpl()
{
    NS_LOG_FUNCTION(this);
}

Ptr<ReactorSimulatorImpl>
ReactorSimulatorImpl::Get()
{
    return DynamicCast<ReactorSimulatorImpl>(Simulator::GetImplementation());
}

void
ReactorSimulatorImpl::DoDispose()
{
    NS_LOG_FUNCTION(this);
    DrainInbox();
    while (m_events && !m_events->IsEmpty())
    {
        m_events->RemoveNext().impl->Unref();
    }
    m_events = nullptr;
    m_pollables.clear();
    SimulatorImpl::DoDispose();
}

void
ReactorSimulatorImpl::Destroy()
{
    NS_LOG_FUNCTION(this);
    while (!m_destroyEvents.empty())
    {
        Ptr<EventImpl> event = m_destroyEvents.front().PeekEventImpl();
        m_destroyEvents.pop_front();
        if (!event->IsCancelled())
        {
            event->Invoke();
        }
    }
}

void
ReactorSimulatorImpl::SetScheduler(ObjectFactory schedulerFactory)
{
    NS_LOG_FUNCTION(this << schedulerFactory);
    Ptr<Scheduler> scheduler = schedulerFactory.Create<Scheduler>();
    while (m_events && !m_events->IsEmpty())
    {
        scheduler->Insert(m_events->RemoveNext());
    }
    m_events = scheduler;
}

// ---------------------------------------------------------------- scheduling

Scheduler::EventKey
ReactorSimulatorImpl::Insert(uint64_t ts, uint32_t context, EventImpl* event)
{
    Scheduler::Event ev;
    ev.impl = event;
    ev.key.m_ts = ts;
    ev.key.m_context = context;
    ev.key.m_uid = m_uid++;
    m_events->Insert(ev);
    return ev.key;
}

EventId
ReactorSimulatorImpl::Schedule(const Time& delay, EventImpl* event)
{
    NS_ASSERT_MSG(m_mainThreadId == std::this_thread::get_id(),
                  "Simulator::Schedule: only ScheduleWithContext may be called by other threads");
    NS_ASSERT_MSG(delay.IsPositive(), "Simulator::Schedule: negative delay");
    const auto key = Insert(m_currentTs + delay.GetTimeStep(), m_currentContext, event);
    return EventId(event, key.m_ts, key.m_context, key.m_uid);
}

void
ReactorSimulatorImpl::ScheduleWithContext(uint32_t context, const Time& delay, EventImpl* event)
{
    if (m_mainThreadId == std::this_thread::get_id())
    {
        NS_ASSERT_MSG(delay.IsPositive(), "Simulator::ScheduleWithContext: negative delay");
        Insert(m_currentTs + delay.GetTimeStep(), context, event);
        return;
    }
    {
        std::unique_lock lock{m_inboxMutex};
        m_inbox.push_back({context, m_clock->Now(), delay.GetTimeStep(), event});
        m_inboxFilled = true; // sequentially consistent, as m_asleep: one of both sees the other
    }
    if (m_asleep)
    {
        Wake();
    }
}

bool
ReactorSimulatorImpl::DrainInbox()
{
    if (!m_inboxFilled.load(std::memory_order_relaxed))
    {
        return false;
    }
    {
        std::unique_lock lock{m_inboxMutex};
        m_inbox.swap(m_drained);
        m_inboxFilled = false;
    }
    for (const ForeignEvent& foreign : m_drained)
    {
        // Outside Run() there is no real time, and a time before the last event has passed.
        const int64_t at = m_running ? foreign.wall - m_origin : 0;
        const int64_t now = std::max(at, static_cast<int64_t>(m_currentTs));
        Insert(now + foreign.delay, foreign.context, foreign.event);
    }
    m_drained.clear();
    return true;
}

EventId
ReactorSimulatorImpl::ScheduleNow(EventImpl* event)
{
    return Schedule(Time(0), event);
}

EventId
ReactorSimulatorImpl::ScheduleDestroy(EventImpl* event)
{
    NS_ASSERT_MSG(m_mainThreadId == std::this_thread::get_id(),
                  "Simulator::ScheduleDestroy: called by another thread");
    EventId id(
        Ptr<EventImpl>(event, false), m_currentTs, Simulator::NO_CONTEXT, EventId::UID::DESTROY);
    m_destroyEvents.push_back(id);
    m_uid++;
    return id;
}

void
ReactorSimulatorImpl::Remove(const EventId& id)
{
    if (id.GetUid() == EventId::UID::DESTROY)
    {
        auto i = std::find(m_destroyEvents.begin(), m_destroyEvents.end(), id);
        if (i != m_destroyEvents.end())
        {
            m_destroyEvents.erase(i);
        }
        return;
    }
    if (IsExpired(id))
    {
        return;
    }
    Scheduler::Event event;
    event.impl = id.PeekEventImpl();
    event.key.m_ts = id.GetTs();
    event.key.m_context = id.GetContext();
    event.key.m_uid = id.GetUid();
    m_events->Remove(event);
    event.impl->Cancel();
    event.impl->Unref(); // the queue's reference
}

void
ReactorSimulatorImpl::Cancel(const EventId& id)
{
    if (!IsExpired(id))
    {
        id.PeekEventImpl()->Cancel();
    }
}

bool
ReactorSimulatorImpl::IsExpired(const EventId& id) const
{
    if (id.PeekEventImpl() == nullptr || id.PeekEventImpl()->IsCancelled())
    {
        return true;
    }
    if (id.GetUid() == EventId::UID::DESTROY)
    {
        return std::find(m_destroyEvents.begin(), m_destroyEvents.end(), id) ==
               m_destroyEvents.end();
    }
    return id.GetTs() < m_currentTs || (id.GetTs() == m_currentTs && id.GetUid() <= m_currentUid);
}

Time
ReactorSimulatorImpl::GetDelayLeft(const EventId& id) const
{
    return IsExpired(id) ? TimeStep(0) : TimeStep(id.GetTs() - m_currentTs);
}

Time
ReactorSimulatorImpl::Now() const
{
    // No logging here: the log's time printer calls it.
    return TimeStep(m_currentTs);
}

Time
ReactorSimulatorImpl::GetMaximumSimulationTime() const
{
    return TimeStep(std::numeric_limits<int64_t>::max());
}

uint32_t
ReactorSimulatorImpl::GetSystemId() const
{
    return 0;
}

uint32_t
ReactorSimulatorImpl::GetContext() const
{
    return m_currentContext;
}

uint64_t
ReactorSimulatorImpl::GetEventCount() const
{
    return m_eventCount;
}

bool
ReactorSimulatorImpl::IsFinished() const
{
    return m_stop || (m_events->IsEmpty() && m_pollables.empty() && !m_inboxFilled);
}

void
ReactorSimulatorImpl::Stop()
{
    // Safe in a signal handler, so no logging.
    m_stop = true;
    Wake();
}

EventId
ReactorSimulatorImpl::Stop(const Time& delay)
{
    NS_LOG_FUNCTION(this << delay.GetTimeStep());
    return Simulator::Schedule(delay, &Simulator::Stop);
}

void
ReactorSimulatorImpl::Wake() const
{
    const uint64_t one = 1;
    const int saved = errno;
    // Fails only when the counter is full, and then the loop is going to wake anyway.
    [[maybe_unused]] const auto written = write(m_wake.get(), &one, sizeof(one));
    errno = saved;
}

// ---------------------------------------------------------------- the loop

void
ReactorSimulatorImpl::Run()
{
    NS_LOG_FUNCTION(this);
    NS_ABORT_MSG_IF(m_running, "ReactorSimulatorImpl::Run(): already running");
    TimerSlackGuard slack;
    m_mainThreadId = std::this_thread::get_id();
    m_stop = false;
    m_running = true;
    m_phase = EVENTS;
    m_phaseStart = m_clock->Now();
    m_origin = m_phaseStart - static_cast<int64_t>(m_currentTs);

    while (!m_stop)
    {
        m_turns++;
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
    if (IsVoid())
    {
        m_voidTrace(GetFirstOverLimit());
    }
}

int64_t
ReactorSimulatorImpl::RealNow() const
{
    return m_clock->Now() - m_origin;
}

bool
ReactorSimulatorImpl::RunDueEvents()
{
    bool ran = false;
    for (uint32_t n = 0; n < m_eventBurst && !m_stop && !m_events->IsEmpty(); ++n)
    {
        const int64_t now = RealNow();
        if (static_cast<int64_t>(m_events->PeekNext().key.m_ts) > now)
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
ReactorSimulatorImpl::ProcessOneEvent(int64_t now)
{
    Scheduler::Event next = m_events->RemoveNext();
    PreEventHook(EventId(next.impl, next.key.m_ts, next.key.m_context, next.key.m_uid));
    NS_ASSERT(next.key.m_ts >= m_currentTs);
    m_eventCount++;
    m_measuredEvents++;
    m_currentTs = next.key.m_ts;
    m_currentContext = next.key.m_context;
    m_currentUid = next.key.m_uid;
    RecordLateness(now - static_cast<int64_t>(next.key.m_ts), next.key.m_context);
    next.impl->Invoke();
    next.impl->Unref();
}

bool
ReactorSimulatorImpl::AdvanceToRealTime()
{
    int64_t now = RealNow();
    bool free = true;
    if (!m_events->IsEmpty())
    {
        const auto next = static_cast<int64_t>(m_events->PeekNext().key.m_ts);
        free = next > now;
        now = std::min(now, next);
    }
    if (now > static_cast<int64_t>(m_currentTs))
    {
        m_currentTs = now;
        m_currentUid = EventId::UID::INVALID; // no event of this time stamp has run yet
    }
    return free;
}

bool
ReactorSimulatorImpl::ServePorts(bool look)
{
    const bool hot = std::any_of(
        m_pollables.begin(), m_pollables.end(), [](const auto& port) { return port->ready; });
    if ((look || hot) && m_clock->Now() - m_lastLook >= LOOK_INTERVAL)
    {
        LookForReady(0);
    }
    bool worked = false;
    m_serving = true;
    for (size_t i = 0; i < m_pollables.size() && !m_stop; ++i)
    {
        Pollable& port = *m_pollables[i];
        if ((port.ready || port.fd < 0 || m_alwaysPoll) && !port.removed)
        {
            worked |= ServePort(port);
        }
    }
    m_serving = false;
    Compact();
    return worked;
}

bool
ReactorSimulatorImpl::ServePort(Pollable& port)
{
    m_currentContext = Simulator::NO_CONTEXT;
    AdvanceToRealTime();
    const bool woken = port.ready;
    port.ready = port.callback();
    if (port.ready)
    {
        port.idleWakes = 0;
        m_bursts++;
        m_portBurstTrace(port.id);
        return true;
    }
    if (woken && port.fd >= 0 && !port.removed && ++port.idleWakes >= MUTE_AFTER)
    {
        Mute(port);
    }
    return false;
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

// ---------------------------------------------------------------- waiting

int64_t
ReactorSimulatorImpl::NextDeadline() const
{
    int64_t deadline = std::numeric_limits<int64_t>::max();
    if (!m_events->IsEmpty())
    {
        const auto next = static_cast<int64_t>(m_events->PeekNext().key.m_ts);
        // Events may be scheduled for the end of time, which is no time on the clock.
        deadline = next > deadline - m_origin ? deadline : next + m_origin;
    }
    if (m_nMuted > 0)
    {
        deadline = std::min(deadline, m_unmuteAt);
    }
    return deadline;
}

void
ReactorSimulatorImpl::WaitForWork()
{
    const int64_t now = m_clock->Now();
    if (m_nMuted > 0 && now >= m_unmuteAt)
    {
        Unmute();
    }
    int64_t deadline = NextDeadline();
    const bool endless = deadline == std::numeric_limits<int64_t>::max() && m_flushes.empty();
    m_idleTrace(endless ? GetMaximumSimulationTime() : NanoSeconds(deadline - now));
    if (!m_flushes.empty())
    {
        deadline = std::min(deadline, now + BACKLOG_INTERVAL);
    }
    if (m_alwaysPoll)
    {
        SetPhase(SPINNING);
        LookForReady(0);
        m_clock->Relax();
        SetPhase(EVENTS);
        return;
    }
    const int64_t sleep = deadline - now - m_spinTime.GetNanoSeconds();
    if (endless || sleep > 0)
    {
        Sleep(endless ? -1 : sleep - sleep / KERNEL_SLACK_DIVISOR);
    }
    else
    {
        SpinUntil(deadline);
    }
}

void
ReactorSimulatorImpl::Sleep(int64_t timeout)
{
    SetPhase(SLEEPING);
    m_asleep = true;
    if (!m_inboxFilled && !m_stop)
    {
        m_sleeps++;
        LookForReady(timeout);
    }
    m_asleep = false;
    SetPhase(EVENTS);
}

void
ReactorSimulatorImpl::SpinUntil(int64_t deadline)
{
    SetPhase(SPINNING);
    for (int64_t now = m_clock->Now(); now < deadline && !m_inboxFilled && !m_stop;
         now = m_clock->Now())
    {
        if (deadline - now > BLIND_SPIN && LookForReady(0) > 0)
        {
            break;
        }
        m_clock->Relax();
    }
    SetPhase(EVENTS);
}

int
ReactorSimulatorImpl::LookForReady(int64_t timeout)
{
    std::array<epoll_event, 64> events;
    const int ready = m_clock->Wait(m_epoll.get(), events.data(), events.size(), timeout);
    for (int i = 0; i < ready; ++i)
    {
        if (events[i].data.ptr == nullptr)
        {
            uint64_t count;
            [[maybe_unused]] const auto taken = read(m_wake.get(), &count, sizeof(count));
        }
        else
        {
            static_cast<Pollable*>(events[i].data.ptr)->ready = true;
        }
    }
    m_lastLook = m_clock->Now();
    return ready;
}

// ---------------------------------------------------------------- ports

uint32_t
ReactorSimulatorImpl::AddPollable(int fd, Callback<bool> callback)
{
    NS_LOG_FUNCTION(this << fd);
    auto port = std::make_unique<Pollable>();
    port->id = m_nextPollable++;
    port->fd = fd;
    port->callback = callback;
    Watch(*port);
    m_pollables.push_back(std::move(port));
    return m_pollables.back()->id;
}

void
ReactorSimulatorImpl::RemovePollable(uint32_t id)
{
    NS_LOG_FUNCTION(this << id);
    for (auto& port : m_pollables)
    {
        if (port->id == id && !port->removed)
        {
            if (port->muted)
            {
                m_nMuted--;
            }
            else if (port->fd >= 0)
            {
                epoll_ctl(m_epoll.get(), EPOLL_CTL_DEL, port->fd, nullptr);
            }
            port->removed = true;
            m_anyRemoved = true;
        }
    }
    if (!m_serving)
    {
        Compact();
    }
}

void
ReactorSimulatorImpl::Watch(Pollable& port)
{
    if (port.fd < 0)
    {
        return;
    }
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = &port;
    const int result = epoll_ctl(m_epoll.get(), EPOLL_CTL_ADD, port.fd, &event);
    NS_ABORT_MSG_IF(result != 0,
                    "ReactorSimulatorImpl: descriptor "
                        << port.fd << " cannot be waited for: " << std::strerror(errno));
}

void
ReactorSimulatorImpl::Mute(Pollable& port)
{
    NS_LOG_LOGIC("descriptor " << port.fd << " is ready but has nothing to read");
    epoll_ctl(m_epoll.get(), EPOLL_CTL_DEL, port.fd, nullptr);
    port.muted = true;
    port.idleWakes = MUTE_AFTER - 1; // muted again at once unless there is work now
    m_nMuted++;
    m_unmuteAt = m_clock->Now() + MUTE_TIME;
}

void
ReactorSimulatorImpl::Unmute()
{
    for (auto& port : m_pollables)
    {
        if (port->muted)
        {
            port->muted = false;
            Watch(*port);
        }
    }
    m_nMuted = 0;
}

void
ReactorSimulatorImpl::Compact()
{
    if (m_anyRemoved)
    {
        std::erase_if(m_pollables, [](const auto& port) { return port->removed; });
        m_anyRemoved = false;
    }
}

void
ReactorSimulatorImpl::SetClock(std::unique_ptr<ReactorClock> clock)
{
    NS_ABORT_MSG_IF(m_running, "ReactorSimulatorImpl::SetClock(): the simulator is running");
    m_clock = std::move(clock);
}

} // namespace ns3
