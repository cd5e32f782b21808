/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_CALENDAR_H
#define VIADUCT_KERNEL_CALENDAR_H

#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/object.h"

#include "guest/time/calendar.h"
#include "guest/time/timeline.h"
#include "sys/process/processor.h"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace ns3
{
class KernelGuest;

/**
 * @ingroup viaduct
 * @brief The adapter between ns-3's simulator and the guests' calendar.
 *
 * The time until which a guest may run ahead of the simulation is known only if the simulator
 * implementation is DefaultSimulatorImpl. With another implementation, guests ask the simulator
 * before every step, which is slower and gives the same results.
 */
class KernelTimeline : public viaduct::guest::Timeline
{
  public:
    // Inherited from viaduct::guest::Timeline
    viaduct::Instant Now() const override;
    viaduct::Instant NextEvent() const override;
    void Schedule(viaduct::Instant at, std::function<void()> action) override;
    void WakeAt(viaduct::Instant at) override;
    void SetWake(std::function<void()> wake) override
    {
        m_wake = std::move(wake);
    }

  private:
    std::function<void()> m_wake; //!< function that the event m_event calls
    EventId m_event;              //!< event of WakeAt()
};

/**
 * @ingroup viaduct
 * @brief The calendar of all kernels of a simulation.
 *
 * The first KernelGuest creates the calendar; Simulator::Destroy() removes the calendar and the
 * guests. All guests boot when the first node that has a kernel is initialized, at the start of the
 * simulation. The simulation begins when the guests' clocks show the attribute Uptime.
 */
class KernelCalendar : public Object
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    /** @return the simulation's calendar, which is created if there is none */
    static Ptr<KernelCalendar> Get();

    /** Adds a guest. Must be called before the start of the simulation.
     * @param guest the guest
     */
    void Add(Ptr<KernelGuest> guest);
    /** Extends the attribute Uptime to the time that devices need to come up, assuming four devices
     * per node: a kernel processes the carrier events of 100 devices per second
     * (MAX_DO_DEV_PER_LOOP of net/core/link_watch.c). Must be called before the first guest is
     * added.
     * @param nodes the number of nodes that get their kernels at once
     */
    void ExpectNodes(uint32_t nodes);
    /** Boots all guests at the first call; later calls do nothing. */
    void Boot();
    /** @return whether Boot() was called */
    bool HasBooted() const
    {
        return m_booted;
    }

    /** @return the viaduct::guest::Calendar, which is created if there is none */
    viaduct::guest::Calendar& GetCalendar();

  protected:
    void DoDispose() override;

  private:
    void AllowOpenFiles() const;

    KernelTimeline m_simulator;                           //!< the timeline of m_calendar
    std::unique_ptr<viaduct::guest::Calendar> m_calendar; //!< null before GetCalendar()
    std::vector<Ptr<KernelGuest>> m_guests;               //!< guests in the order of their boot
    bool m_booted{false};                                 //!< whether Boot() was called
    Time m_uptime;                                        //!< attribute Uptime
    Time m_timeout;                                       //!< attribute Timeout
    bool m_oneProcessor;                                  //!< attribute OneProcessor
    std::optional<viaduct::sys::ProcessorLease> m_lease;  //!< lease of the kernels' processor
};

} // namespace ns3

#endif // VIADUCT_KERNEL_CALENDAR_H
