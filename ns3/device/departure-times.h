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
 * @brief A packet tag: when the packet is to leave by a RingNetDevice. What is in the past leaves
 * at once.
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

    /** @return when the packet is to leave */
    Time GetTime() const
    {
        return m_time;
    }

  private:
    Time m_time; //!< see GetTime()
};

/**
 * @ingroup viaduct
 * @brief What is to be done at times in the future, in the order of these times; of equal ones, in
 * the order in which it was added.
 */
class DepartureTimes
{
  public:
    /** @param afterwards called when all of a time has been done */
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
     * @param time when; in the future
     * @param depart what to do, in the context of now
     */
    void Add(Time time, std::function<void()> depart);

    /** @return how many wait */
    size_t Count() const
    {
        return m_waiting.size();
    }

    /** @return whether Add() was ever called */
    bool HasKept() const
    {
        return m_hasKept;
    }

    /** Forget all. */
    void Clear();

  private:
    /** Do what is due. */
    void Depart();
    /** Have Depart() called in time. */
    void Schedule();

    std::function<void()> m_afterwards;                   //!< see the constructor
    std::multimap<Time, std::function<void()>> m_waiting; //!< by time
    EventId m_event;                                      //!< calls Depart()
    bool m_hasKept = false;                               //!< see HasKept()
};

} // namespace ns3

#endif /* VIADUCT_DEPARTURE_TIMES_H */
