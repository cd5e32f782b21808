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
#include "sys/processor.h"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace ns3
{
class KernelGuest;

/**
 * @ingroup viaduct
 * @brief ns-3's simulator as the guests' calendar sees it.
 *
 * How far a guest may run ahead is known where the simulator implementation is
 * DefaultSimulatorImpl; under another one guests ask for every step, which is slower and gives the
 * same results.
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
    std::function<void()> m_wake; //!< what the wake-up runs
    EventId m_event;              //!< the wake-up
};

/**
 * @ingroup viaduct
 * @brief The calendar of all kernels of a simulation.
 *
 * Made by the first KernelGuest, gone with Simulator::Destroy(), and the guests with it. All guests
 * boot when the first node that has a kernel is initialized, at the start of the simulation; it
 * starts when their clocks show Uptime.
 */
class KernelCalendar : public Object
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    /** @return the simulation's calendar; made if there is none */
    static Ptr<KernelCalendar> Get();

    /**
     * Enters a guest. Before the start of the simulation.
     * @param guest the guest
     */
    void Add(Ptr<KernelGuest> guest);
    /**
     * Lengthens Uptime to what devices take to come up, four a node: a kernel takes up the carriers
     * of 100 a second (MAX_DO_DEV_PER_LOOP of net/core/link_watch.c). Before the first guest.
     * @param nodes that kernels are installed on at once
     */
    void ExpectNodes(uint32_t nodes);
    /** Boots all guests, the first time it is called. */
    void Boot();
    /** @return whether Boot() was called */
    bool HasBooted() const
    {
        return m_booted;
    }

    /** @return the calendar itself */
    viaduct::guest::Calendar& GetCalendar();

  protected:
    void DoDispose() override;

  private:
    static void Destroy();
    void AllowOpenFiles() const;

    KernelTimeline m_simulator;                           //!< where the guests live
    std::unique_ptr<viaduct::guest::Calendar> m_calendar; //!< made when first needed
    std::vector<Ptr<KernelGuest>> m_guests;               //!< in the order of their boot
    bool m_booted{false};                                 //!< Boot() was called
    Time m_uptime;                                        //!< attribute Uptime
    Time m_patience;                                      //!< attribute Patience
    bool m_oneProcessor;                                  //!< attribute OneProcessor
    std::optional<viaduct::sys::ProcessorLease> m_lease;  //!< of that processor
};

} // namespace ns3

#endif // VIADUCT_KERNEL_CALENDAR_H
