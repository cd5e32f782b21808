/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/device/departure-times.h"

#include "ns3/simulator.h"

#include <utility>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(DepartureTag);

TypeId
DepartureTag::GetTypeId()
{
    static TypeId tid = TypeId("ns3::DepartureTag")
                            .SetParent<Tag>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<DepartureTag>();
    return tid;
}

TypeId
DepartureTag::GetInstanceTypeId() const
{
    return GetTypeId();
}

uint32_t
DepartureTag::GetSerializedSize() const
{
    return sizeof(int64_t);
}

void
DepartureTag::Serialize(TagBuffer i) const
{
    i.WriteU64(static_cast<uint64_t>(m_time.GetTimeStep()));
}

void
DepartureTag::Deserialize(TagBuffer i)
{
    m_time = TimeStep(i.ReadU64());
}

void
DepartureTag::Print(std::ostream& os) const
{
    os << "leaves at " << m_time.As(Time::S);
}

void
DepartureTimes::Add(Time time, std::function<void()> depart)
{
    m_hasKept = true;
    const bool first = m_waiting.empty() || time < m_waiting.begin()->first;
    m_waiting.emplace(time, std::move(depart));
    if (first)
    {
        Schedule();
    }
}

void
DepartureTimes::Clear()
{
    m_event.Cancel();
    m_waiting.clear();
}

void
DepartureTimes::Depart()
{
    while (!m_waiting.empty() && m_waiting.begin()->first <= Simulator::Now())
    {
        const auto depart = std::move(m_waiting.begin()->second);
        m_waiting.erase(m_waiting.begin());
        depart();
    }
    m_afterwards();
    Schedule();
}

void
DepartureTimes::Schedule()
{
    m_event.Cancel();
    if (!m_waiting.empty())
    {
        const Time delay = m_waiting.begin()->first - Simulator::Now();
        m_event = Simulator::Schedule(delay, &DepartureTimes::Depart, this);
    }
}

} // namespace ns3
