/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_DEPARTURE_TIMES_H
#define VIADUCT_DEPARTURE_TIMES_H

#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/tag.h"

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief A packet tag with the time at which a RingNetDevice must send the packet. A packet whose
 * time has passed is sent at once.
 */
class DepartureTag : public Tag
{
  public:
    DepartureTag() = default;

    /** @param time the absolute simulation time at which the packet must leave */
    explicit DepartureTag(Time time) : m_time(time)
    {
    }

    /** @return the object TypeId */
    static TypeId GetTypeId();
    TypeId GetInstanceTypeId() const override;
    uint32_t GetSerializedSize() const override;
    void Serialize(TagBuffer i) const override;
    void Deserialize(TagBuffer i) override;
    void Print(std::ostream& os) const override;

    /** @return the time at which the packet must leave */
    Time GetTime() const
    {
        return m_time;
    }

  private:
    Time m_time; //!< time at which the packet must leave
};

/**
 * @ingroup viaduct
 * @brief A list of actions, each of which is performed at a given simulation time. Actions with the
 * same time are performed in the order in which Add() was called.
 */
class DepartureTimes
{
  public:
    /** @param afterwards the function to call after all actions that are due at one time */
    explicit DepartureTimes(std::function<void()> afterwards) : m_afterwards(std::move(afterwards))
    {
    }

    ~DepartureTimes()
    {
        Clear();
    }

    DepartureTimes(const DepartureTimes&) = delete;
    DepartureTimes& operator=(const DepartureTimes&) = delete;

    /**
     * Adds an action.
     * @param time the simulation time at which the action is performed; in the future
     * @param depart the action, called in the simulator context in which Add() was called
     */
    void Add(Time time, std::function<void()> depart);

    /** @return the number of waiting actions */
    size_t Count() const
    {
        return m_waiting.size();
    }

    /** @return whether Add() was ever called */
    bool HasKept() const
    {
        return m_hasKept;
    }

    /** Discards all waiting actions. */
    void Clear();

  private:
    /** Performs the actions that are due. */
    void Depart();
    /** Schedules a call of Depart() at the time of the earliest waiting action. */
    void Schedule();

    std::function<void()> m_afterwards;                   //!< called after the due actions
    std::multimap<Time, std::function<void()>> m_waiting; //!< waiting actions by time
    EventId m_event;                                      //!< event that calls Depart()
    bool m_hasKept = false;                               //!< whether Add() was ever called
};

} // namespace ns3

#endif /* VIADUCT_DEPARTURE_TIMES_H */
