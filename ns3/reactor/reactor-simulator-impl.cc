/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/reactor/reactor-simulator-impl.h"

#include "ns3/abort.h"
#include "ns3/assert.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ns3
{

// Most functions of this file do not log, because the log's own time printer calls them.
NS_LOG_COMPONENT_DEFINE("ReactorSimulatorImpl");

NS_OBJECT_ENSURE_REGISTERED(ReactorSimulatorImpl);

TypeId
ReactorSimulatorImpl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::ReactorSimulatorImpl")
            .SetParent<SimulatorImpl>()
            .SetGroupName("Viaduct")
            .AddConstructor<ReactorSimulatorImpl>()
            .AddAttribute("SpinTime",
                          "The time before an event at which Run() stops sleeping and spins "
                          "instead; 0: Run() never spins (events are then 4 to 10 us late).",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&ReactorSimulatorImpl::m_spinTime),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("AlwaysPoll",
                          "Whether Run() never sleeps, which keeps one core completely busy but "
                          "minimizes the reaction time to frames.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&ReactorSimulatorImpl::m_alwaysPoll),
                          MakeBooleanChecker())
            .AddAttribute("CpuAffinity",
                          "The processors that Run() may use, as in 0,2-3; empty: the processors "
                          "that the thread may already use.",
                          StringValue(""),
                          MakeStringAccessor(&ReactorSimulatorImpl::m_cpuAffinity),
                          MakeStringChecker())
            .AddAttribute(
                "FifoPriority",
                "The SCHED_FIFO priority of Run(), 1 to 99, with which Run() is scheduled before "
                "all ordinary threads; 0: Run() is scheduled like an ordinary thread. With a "
                "priority, Run() does not spin, regardless of SpinTime, and pauses for 1.5 ms "
                "after every 20 ms with less sleep than that, because the kernel would otherwise "
                "stop the thread for 50 ms of each second. Cannot be used with AlwaysPoll.",
                UintegerValue(0),
                MakeUintegerAccessor(&ReactorSimulatorImpl::m_fifoPriority),
                MakeUintegerChecker<uint32_t>(0, 99))
            .AddAttribute("LockMemory",
                          "Whether the process's memory is locked during Run(), so that the memory "
                          "is not paged out.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&ReactorSimulatorImpl::m_lockMemory),
                          MakeBooleanChecker())
            .AddAttribute("EndWhenEmpty",
                          "Whether Run() returns when there are no events and no ports. Set "
                          "EndWhenEmpty to false if only other threads (FdNetDevice, TapBridge) "
                          "schedule events.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&ReactorSimulatorImpl::m_endWhenEmpty),
                          MakeBooleanChecker())
            .AddAttribute("EventBurst",
                          "The maximum number of due events that run before every ready port "
                          "processes a burst.",
                          UintegerValue(256),
                          MakeUintegerAccessor(&ReactorSimulatorImpl::m_eventBurst),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("LatenessLimit",
                          "The limit for the lateness of events: the run is VOID if the fraction "
                          "of events whose lateness is at most LatenessLimit is less than "
                          "LatenessQuantile. 0: no limit.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&ReactorSimulatorImpl::m_latenessLimit),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("LatenessQuantile",
                          "The fraction of all events whose lateness must not exceed "
                          "LatenessLimit, from 0 to 1.",
                          DoubleValue(0.99),
                          MakeDoubleAccessor(&ReactorSimulatorImpl::m_latenessQuantile),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("LateThreshold",
                          "The lateness above which the trace source EventLate reports an event.",
                          TimeValue(MilliSeconds(1)),
                          MakeTimeAccessor(&ReactorSimulatorImpl::m_lateThreshold),
                          MakeTimeChecker(Time(0)))
            .AddTraceSource("EventLate",
                            "An event starts with a lateness above LateThreshold. Arguments: the "
                            "lateness, the event's context.",
                            MakeTraceSourceAccessor(&ReactorSimulatorImpl::m_eventLateTrace),
                            "ns3::ReactorSimulatorImpl::EventLateTracedCallback")
            .AddTraceSource("PortBurst",
                            "A port was polled and had work to do. Argument: the port's id, which "
                            "AddPollable() returned.",
                            MakeTraceSourceAccessor(&ReactorSimulatorImpl::m_portBurstTrace),
                            "ns3::TracedValueCallback::Uint32")
            .AddTraceSource("Idle",
                            "The reactor becomes idle. Argument: the time until the next event "
                            "(the maximum if there is no next event).",
                            MakeTraceSourceAccessor(&ReactorSimulatorImpl::m_idleTrace),
                            "ns3::Time::TracedCallback")
            .AddTraceSource("Void",
                            "Run() ends and the run is VOID. Argument: the time of the first event "
                            "over the limit (negative if only frames were over the limit).",
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
      m_clock(std::make_unique<ReactorClock>())
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
                  "Simulator::Schedule: called by another thread, which may only call "
                  "ScheduleWithContext");
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
        const viaduct::MutexLock lock{m_inboxMutex};
        m_inbox.push_back({context, m_clock->Now(), delay.GetTimeStep(), event});
        // The stores of m_inboxFilled and m_asleep are sequentially consistent: either this thread
        // sees that the loop is asleep, or the loop sees that the inbox is filled.
        m_inboxFilled = true;
    }
    if (m_asleep)
    {
        m_ports.Wake();
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
        const viaduct::MutexLock lock{m_inboxMutex};
        m_inbox.swap(m_drained);
        m_inboxFilled = false;
    }
    for (const ForeignEvent& foreign : m_drained)
    {
        // Outside Run(), virtual time does not follow real time: the new event only has to be no
        // earlier than the last event that was run.
        const int64_t at = m_running ? (foreign.wall - m_origin).nanoseconds() : 0;
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
    event.impl->Unref(); // releases the event queue's reference
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
    // This function does not log, because the log's time printer calls it.
    return TimeStep(m_currentTs);
}

Time
ReactorSimulatorImpl::GetMaximumSimulationTime() const
{
    return TimeStep(std::numeric_limits<int64_t>::max());
}

bool
ReactorSimulatorImpl::IsFinished() const
{
    return m_stop || (m_events->IsEmpty() && m_ports.IsEmpty() && !m_inboxFilled);
}

void
ReactorSimulatorImpl::Stop()
{
    // This function does not log, because it must be safe in a signal handler.
    m_stop = true;
    m_ports.Wake();
}

EventId
ReactorSimulatorImpl::Stop(const Time& delay)
{
    NS_LOG_FUNCTION(this << delay.GetTimeStep());
    return Simulator::Schedule(delay, &Simulator::Stop);
}

uint32_t
ReactorSimulatorImpl::AddPollable(int fd, Callback<bool> callback, uint32_t events)
{
    NS_LOG_FUNCTION(this << fd);
    return m_ports.Add(fd, callback, events);
}

void
ReactorSimulatorImpl::RemovePollable(uint32_t id)
{
    NS_LOG_FUNCTION(this << id);
    m_ports.Remove(id);
}

void
ReactorSimulatorImpl::SetClock(std::unique_ptr<ReactorClock> clock)
{
    NS_ABORT_MSG_IF(m_running, "ReactorSimulatorImpl::SetClock(): the simulator is running");
    m_clock = std::move(clock);
}

} // namespace ns3
