/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

// The measurements of ReactorSimulatorImpl: lateness, and the loop's time by phase.

#include "ns3/reactor/reactor-simulator-impl.h"

#include "ns3/log.h"

#include <array>
#include <ostream>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("ReactorStatistics");

void
ReactorSimulatorImpl::RecordLateness(viaduct::Duration lateness, uint32_t context)
{
    const int64_t nanoseconds = lateness.nanoseconds();
    m_lateness.Record(nanoseconds);
    if (m_latenessLimit.IsStrictlyPositive() && nanoseconds > m_latenessLimit.GetNanoSeconds())
    {
        m_overLimit++;
        if (m_firstOverLimit < 0)
        {
            m_firstOverLimit = m_currentTs;
        }
    }
    if (nanoseconds > m_lateThreshold.GetNanoSeconds())
    {
        m_eventLateTrace(NanoSeconds(nanoseconds), context);
    }
}

viaduct::Instant
ReactorSimulatorImpl::GetPortEmptyAt() const
{
    return m_portEmptyAt;
}

viaduct::Instant
ReactorSimulatorImpl::GetClockNow() const
{
    return m_clock->Now();
}

viaduct::Instant
ReactorSimulatorImpl::GetVirtualNow() const
{
    return m_origin + viaduct::Duration::Nanoseconds(static_cast<int64_t>(m_currentTs));
}

void
ReactorSimulatorImpl::RecordPortLateness(viaduct::Duration lateness)
{
    m_portLateness.Record(lateness.nanoseconds());
}

const viaduct::Histogram&
ReactorSimulatorImpl::GetPortLateness() const
{
    return m_portLateness;
}

ReactorSimulatorImpl::Phase
ReactorSimulatorImpl::SetPhase(Phase phase)
{
    const viaduct::Instant now = m_clock->Now();
    m_phaseTime[m_phase] += now - m_phaseStart;
    m_phaseStart = now;
    return std::exchange(m_phase, phase);
}

ReactorSimulatorImpl::Breakdown
ReactorSimulatorImpl::GetBreakdown() const
{
    Breakdown breakdown;
    for (int i = 0; i < N_PHASES; ++i)
    {
        breakdown.time[i] = NanoSeconds(m_phaseTime[i].nanoseconds());
        breakdown.total += breakdown.time[i];
    }
    breakdown.turns = m_turns;
    breakdown.events = m_measuredEvents;
    breakdown.bursts = m_bursts;
    breakdown.sleeps = m_sleeps;
    breakdown.rests = m_rests;
    return breakdown;
}

const viaduct::Histogram&
ReactorSimulatorImpl::GetLateness() const
{
    return m_lateness;
}

bool
ReactorSimulatorImpl::IsVoid() const
{
    return static_cast<double>(m_overLimit) >
           (1 - m_latenessQuantile) * static_cast<double>(m_lateness.Count());
}

bool
ReactorSimulatorImpl::IsPortVoid() const
{
    return m_latenessLimit.IsStrictlyPositive() && m_portLateness.Count() > 0 &&
           m_portLateness.Quantile(m_latenessQuantile) > m_latenessLimit.GetNanoSeconds();
}

Time
ReactorSimulatorImpl::GetFirstOverLimit() const
{
    return NanoSeconds(m_firstOverLimit);
}

void
ReactorSimulatorImpl::ResetStatistics()
{
    NS_LOG_FUNCTION(this);
    if (m_running)
    {
        SetPhase(m_phase);
    }
    m_phaseTime.fill({});
    m_turns = m_bursts = m_sleeps = m_rests = m_measuredEvents = 0;
    m_lateness.Reset();
    m_portLateness.Reset();
    m_overLimit = 0;
    m_firstOverLimit = -1;
}

void
ReactorSimulatorImpl::Print(std::ostream& os) const
{
    const Breakdown b = GetBreakdown();
    constexpr std::array<const char*, N_PHASES> NAMES{
        "events", "reading", "writing", "sleeping", "spinning"};
    os << "loop: " << b.total.GetSeconds() << " s wall time in " << b.turns << " turns, "
       << b.events << " events, " << b.bursts << " bursts, " << b.sleeps << " sleeps\n";
    if (m_fifoPriority > 0)
    {
        os << "  SCHED_FIFO: no spinning, " << b.rests << " rests of 1.5 ms\n";
    }
    for (int i = 0; i < N_PHASES; ++i)
    {
        const double share =
            b.total.IsZero() ? 0 : 100 * b.time[i].GetSeconds() / b.total.GetSeconds();
        os << "  " << NAMES[i] << ": " << b.time[i].GetSeconds() << " s (" << share << "%)\n";
    }
    const auto microseconds = [](int64_t ns) { return static_cast<double>(ns) / 1000; };
    os << "timing: p50 " << microseconds(m_lateness.Quantile(0.5)) << " us, p99 "
       << microseconds(m_lateness.Quantile(0.99)) << " us, max " << microseconds(m_lateness.Max())
       << " us late";
    if (IsVoid())
    {
        os << " VOID (limit " << microseconds(m_latenessLimit.GetNanoSeconds())
           << " us first exceeded at " << GetFirstOverLimit().GetSeconds() << " s)\n";
    }
    else
    {
        const bool judged = m_latenessLimit.IsStrictlyPositive() && m_lateness.Count() > 0;
        os << (judged ? " VALID\n" : " not judged\n");
    }
    if (m_portLateness.Count() > 0)
    {
        os << "frames: p50 " << microseconds(m_portLateness.Quantile(0.5)) << " us, p99 "
           << microseconds(m_portLateness.Quantile(0.99)) << " us, max "
           << microseconds(m_portLateness.Max()) << " us late";
        const bool judged = m_latenessLimit.IsStrictlyPositive();
        os << (IsPortVoid() ? " VOID\n" : judged ? " VALID\n" : " not judged\n");
    }
}

} // namespace ns3
