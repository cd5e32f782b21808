/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_REACTOR_SIMULATOR_IMPL_H
#define VIADUCT_REACTOR_SIMULATOR_IMPL_H

#include "ns3/reactor/reactor-clock.h"
#include "ns3/reactor/reactor-ports.h"

#include "ns3/callback.h"
#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/scheduler.h"
#include "ns3/simulator-impl.h"
#include "ns3/traced-callback.h"

#include "base/histogram.h"
#include "base/mutex.h"
#include "base/time.h"

#include <array>
#include <atomic>
#include <list>
#include <memory>
#include <ostream>
#include <string>
#include <sys/epoll.h>
#include <thread>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief An object that is flushed at the end of the reactor's turn, such as a device with frames
 * to send.
 */
class ReactorFlush
{
  public:
    virtual ~ReactorFlush() = default;

    /** Sends the frames that were collected during the turn.
     * @return true when no frame is left; false to be called again soon
     */
    virtual bool FlushTurn() = 0;
};

/**
 * @ingroup viaduct
 * @brief A single-threaded real-time simulator: runs due events, reads bursts from ready ports,
 * sleeps.
 *
 * Virtual time is the monotonic clock since Run(). In an event, Now() is the event's time stamp,
 * even when the event runs late; when a port is read, Now() is the real time, but never later than
 * the next event and never earlier than the current event.
 *
 * One turn of the loop: events that other threads scheduled are inserted; due events run (at most
 * EventBurst of them); one burst is read from every ready port; frames to send are flushed. A turn
 * without work ends with a sleep until SpinTime before the next event, followed by spinning. A port
 * that had work is served again in the next turn without a system call.
 *
 * Thread safety: ScheduleWithContext() and Stop() may be called from any thread, everything else
 * from the thread that calls Run() only (ns3::DefaultSimulatorImpl has the same rule).
 */
class ReactorSimulatorImpl : public SimulatorImpl
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    ReactorSimulatorImpl();

    /**
     * @return the simulator's implementation if it is a reactor, null otherwise
     */
    static Ptr<ReactorSimulatorImpl> Get();

    // Inherited from SimulatorImpl
    void Destroy() override;
    bool IsFinished() const override;
    void Stop() override;
    EventId Stop(const Time& delay) override;
    EventId Schedule(const Time& delay, EventImpl* event) override;
    void ScheduleWithContext(uint32_t context, const Time& delay, EventImpl* event) override;
    EventId ScheduleNow(EventImpl* event) override;
    EventId ScheduleDestroy(EventImpl* event) override;
    void Remove(const EventId& id) override;
    void Cancel(const EventId& id) override;
    bool IsExpired(const EventId& id) const override;
    void Run() override;
    Time Now() const override;
    Time GetDelayLeft(const EventId& id) const override;
    Time GetMaximumSimulationTime() const override;
    void SetScheduler(ObjectFactory schedulerFactory) override;
    uint32_t GetSystemId() const override
    {
        return 0;
    }

    uint32_t GetContext() const override
    {
        return m_currentContext;
    }

    uint64_t GetEventCount() const override
    {
        return m_eventCount;
    }

    /**
     * TracedCallback signature for EventLate.
     * @param [in] lateness wall time when the event starts minus its time stamp
     * @param [in] context the event's context
     */
    typedef void (*EventLateTracedCallback)(Time lateness, uint32_t context);

    /**
     * Registers a port. The port's callback handles a bounded burst, and returns whether it did
     * work or has work left. The callback runs in Run()'s thread, without a context, when the
     * descriptor is readable, and again in the next turn as long as it returns true.
     *
     * @param fd descriptor to wait for, not owned; -1: the port is served in every turn of the loop
     * but never waited for
     * @param callback reads the port
     * @param events the events of epoll(7) to wait for, instead of readability. A descriptor that
     * is waited for with EPOLLET is not served again until there is another event
     * @return the port's id for RemovePollable()
     */
    uint32_t AddPollable(int fd, Callback<bool> callback, uint32_t events = EPOLLIN);

    /** Unregisters a port; must be called before its descriptor is closed. Unknown ids are ignored.
     * @param id the result of AddPollable()
     */
    void RemovePollable(uint32_t id);

    /** Requests one call of FlushTurn() at the end of the current turn; may be called at most once
     * per turn.
     * @param flush the object to flush, not owned; must exist until the call or CancelFlush()
     */
    void RequestFlush(ReactorFlush* flush);

    /** Cancels RequestFlush().
     * @param flush the object of the request
     */
    void CancelFlush(ReactorFlush* flush);

    /** Advances virtual time to the real time; called by ports between two frames.
     * @return false when an event has become due: the port must then keep the remaining frames of
     * its burst for its next turn, and its callback must return true
     */
    bool AdvanceToRealTime();

    /** Runs a function in the context of a node, without creating an event.
     * @param context the node's number
     * @param function the function to run
     */
    template <typename Function>
    void RunInContext(uint32_t context, Function&& function)
    {
        const uint32_t saved = m_currentContext;
        m_currentContext = context;
        function();
        m_currentContext = saved;
    }

    /**
     * Must be called by a port, while the port is served.
     * @return the latest instant, on the reactor's clock, at which the port had nothing to read,
     * according to queries of its descriptor
     */
    viaduct::Instant GetPortEmptyAt() const;

    /**
     * @return the current instant of the reactor's clock
     */
    viaduct::Instant GetClockNow() const;

    /**
     * @return the virtual time Now() as an instant of the reactor's clock
     */
    viaduct::Instant GetVirtualNow() const;

    /**
     * Records the lateness of a frame; called by ports.
     * @param lateness the lateness, as defined by PortTiming
     */
    void RecordPortLateness(viaduct::Duration lateness);

    /**
     * @return the lateness of frames, received and sent, at all ports (PortTiming), nanoseconds
     */
    const viaduct::Histogram& GetPortLateness() const;

    /** The activities on which the loop spends wall time. */
    enum Phase
    {
        EVENTS,   //!< simulated events, including the processing of received frames
        READING,  //!< reading frames from ports
        WRITING,  //!< writing frames to ports
        SLEEPING, //!< waiting in the kernel
        SPINNING, //!< waiting on the clock
        N_PHASES
    };

    /** Starts to account wall time to another phase. Costs one read of the clock.
     * @param phase the new phase
     * @return the previous phase, to be restored
     */
    Phase SetPhase(Phase phase);

    /** The wall time of Run() by phase, with counters. */
    struct Breakdown
    {
        std::array<Time, N_PHASES> time; //!< wall time of each phase
        Time total;                      //!< sum of `time`
        uint64_t turns = 0;              //!< turns of the loop
        uint64_t events = 0;             //!< events run
        uint64_t bursts = 0;             //!< calls of port callbacks that did work
        uint64_t sleeps = 0;             //!< sleeps in the kernel
        uint64_t rests = 0;              //!< pauses that FifoPriority required
    };

    /**
     * @return the breakdown since Run() or ResetStatistics()
     */
    Breakdown GetBreakdown() const;

    /**
     * @return the lateness of every event (wall time at start minus its time stamp), nanoseconds
     */
    const viaduct::Histogram& GetLateness() const;

    /**
     * @return true if more events than LatenessQuantile allows were later than LatenessLimit
     */
    bool IsVoid() const;

    /**
     * @return true if more frames at the ports than LatenessQuantile allows were later than
     * LatenessLimit
     */
    bool IsPortVoid() const;

    /**
     * @return virtual time of the first event later than LatenessLimit; negative if there was none
     */
    Time GetFirstOverLimit() const;

    /** Resets lateness and breakdown, e.g. when a run's start-up phase is over. */
    void ResetStatistics();

    /**
     * Prints the breakdown, the lateness and the verdict (VALID or VOID) on a few lines.
     * @param os the stream
     */
    void Print(std::ostream& os) const;

    /**
     * Replaces the clock; must be called before Run().
     * @param clock the new clock
     */
    void SetClock(std::unique_ptr<ReactorClock> clock);

  private:
    /** An event that another thread scheduled. */
    struct ForeignEvent
    {
        uint32_t context;      //!< the event's context
        viaduct::Instant wall; //!< time of the call of ScheduleWithContext()
        int64_t delay;         //!< requested delay, time steps
        EventImpl* event;      //!< the event
    };

    void DoDispose() override;

    /** Puts an event into the scheduler, for the absolute time @p ts. */
    Scheduler::EventKey Insert(uint64_t ts, uint32_t context, EventImpl* event);
    /** @return the current wall time as virtual time, whose origin is m_origin */
    viaduct::Duration RealNow() const;
    /** @return the time stamp of the next event; Max if there is none */
    viaduct::Duration NextEvent() const;
    /** With FifoPriority: pauses if the loop has slept too little, so that the kernel does not stop
     * the thread. */
    void Idle();
    /** Inserts the events that other threads scheduled. @return true if there were any events */
    bool DrainInbox();
    /** Runs due events. @return true if an event was run */
    bool RunDueEvents();
    /** Runs the next event; @p now is the current wall time as virtual time. */
    void ProcessOneEvent(viaduct::Duration now);
    /** Records an event's lateness: wall time when the event starts minus its time stamp. */
    void RecordLateness(viaduct::Duration lateness, uint32_t context);
    /** Serves one burst of every ready port.
     * @param look true to poll the kernel for further ready ports, if the last poll was long enough
     * ago
     * @return true if a port did work
     */
    bool ServePorts(bool look);
    /** Serves one burst of a port. @return true if the port did work */
    bool ServePort(ReactorPorts::Port& port);
    /** Calls FlushTurn() of all objects for which RequestFlush() was called. @return true if any of
     * the calls returned true */
    bool FlushAll();
    /** Sleeps and spins until there may be work. */
    void WaitForWork();
    /** Spins until an instant has passed, or there is work. */
    void SpinUntil(viaduct::Instant deadline);
    /** Sleeps in the kernel, for @p timeout at most; Duration::Max() is without limit. */
    void Sleep(viaduct::Duration timeout);
    /** @return the latest instant of the clock at which the loop must continue */
    viaduct::Instant NextDeadline() const;

    // The members of the scheduler, as in DefaultSimulatorImpl
    Ptr<Scheduler> m_events;            //!< the event queue
    std::list<EventId> m_destroyEvents; //!< events that Destroy() runs
    uint32_t m_uid;                     //!< next event's number
    uint32_t m_currentUid;              //!< number of the current event
    uint64_t m_currentTs;               //!< time of the current event
    uint32_t m_currentContext;          //!< context of the current event
    uint64_t m_eventCount;              //!< number of events run
    std::thread::id m_mainThreadId;     //!< the thread that may use the scheduler
    std::atomic<bool> m_stop{false};    //!< whether Run() must end
    bool m_running = false;             //!< whether Run() is running

    // The members for events from other threads
    viaduct::Mutex m_inboxMutex;
    /** Events scheduled by other threads. */
    std::vector<ForeignEvent> m_inbox VIADUCT_GUARDED_BY(m_inboxMutex);
    std::vector<ForeignEvent> m_drained;    //!< events taken from the inbox; reused, to keep memory
    std::atomic<bool> m_inboxFilled{false}; //!< whether m_inbox is not empty
    std::atomic<bool> m_asleep{false};      //!< whether the loop sleeps and must be woken

    // The members for ports
    ReactorPorts m_ports;                  //!< the ports
    std::vector<ReactorFlush*> m_flushes;  //!< objects to flush at the end of this turn
    std::vector<ReactorFlush*> m_flushing; //!< objects being flushed
    viaduct::Duration m_flushWait;         //!< time until unfinished flushes are repeated

    // The members for time, waiting and the reactor's thread
    std::unique_ptr<ReactorClock> m_clock; //!< source of time
    viaduct::Instant m_origin;             //!< instant of the clock at virtual time 0
    Time m_spinTime;                       //!< attribute SpinTime
    bool m_alwaysPoll;                     //!< attribute AlwaysPoll
    std::string m_cpuAffinity;             //!< attribute CpuAffinity
    uint32_t m_fifoPriority;               //!< attribute FifoPriority
    bool m_lockMemory;                     //!< attribute LockMemory
    viaduct::Instant m_idled;              //!< with FifoPriority: time of the last check by Idle()
    viaduct::Duration m_sleptBefore;       //!< time slept until m_idled
    bool m_endWhenEmpty;                   //!< attribute EndWhenEmpty
    uint32_t m_eventBurst;                 //!< attribute EventBurst

    // The members for measurements
    Phase m_phase = EVENTS;                                //!< the current phase
    viaduct::Instant m_phaseStart;                         //!< start of the current phase
    std::array<viaduct::Duration, N_PHASES> m_phaseTime{}; //!< wall time per phase
    uint64_t m_turns = 0;                                  //!< number of turns of the loop
    uint64_t m_bursts = 0;                                 //!< number of callbacks that did work
    uint64_t m_sleeps = 0;                                 //!< sleeps in the kernel
    uint64_t m_rests = 0;                                  //!< pauses for FifoPriority
    uint64_t m_measuredEvents = 0;                         //!< events run since the last reset
    viaduct::Histogram m_lateness;                         //!< lateness of every event
    viaduct::Histogram m_portLateness;                     //!< lateness of every frame
    viaduct::Instant m_portEmptyAt;                        //!< time when the served port was empty
    Time m_latenessLimit;                                  //!< attribute LatenessLimit
    double m_latenessQuantile;                             //!< attribute LatenessQuantile
    Time m_lateThreshold;                                  //!< attribute LateThreshold
    uint64_t m_overLimit = 0;                              //!< events later than LatenessLimit
    int64_t m_firstOverLimit = -1;                         //!< virtual time of the first late event

    TracedCallback<Time, uint32_t> m_eventLateTrace; //!< trace source EventLate: lateness, context
    TracedCallback<uint32_t> m_portBurstTrace;       //!< trace source PortBurst: port
    TracedCallback<Time> m_idleTrace;                //!< trace source Idle: time to the next event
    TracedCallback<Time> m_voidTrace;                //!< trace source Void: time of a late event
};

} // namespace ns3

#endif /* VIADUCT_REACTOR_SIMULATOR_IMPL_H */
