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
 * @brief A packet tag: the time at which the packet must leave by a RingNetDevice. A packet whose
 * time has passed leaves at once.
 */
class DepartureTag : public Tag
{
  public:
    DepartureTag() = default;

    /** @param time an absolute time of the simulation */
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
    Time m_time; //!< see GetTime()
};

/**
 * @ingroup viaduct
 * @brief Actions to perform at times in the future, in the order of these times; at equal times, in
 * the order of the calls of Add().
 */
class DepartureTimes
{
  public:
    /** @param afterwards called when all actions of a time have been performed */
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
     * @param time the action's time, in the future
     * @param depart the action, called in the context of the call of Add()
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
    /** Schedules the call of Depart() at the earliest time. */
    void Schedule();

    std::function<void()> m_afterwards;                   //!< see the constructor
    std::multimap<Time, std::function<void()>> m_waiting; //!< waiting actions by time
    EventId m_event;                                      //!< calls Depart()
    bool m_hasKept = false;                               //!< see HasKept()
};

} // namespace ns3

#endif /* VIADUCT_DEPARTURE_TIMES_H */
