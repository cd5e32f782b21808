/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/neighbour/neighbour-table.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3
{

using viaduct::wire::IpAddress;

namespace
{

/**
 * Returns the memory that Linux counts for a packet that a program has sent (skb->truesize): the
 * allocations for the link header, the packet and the skb_shared_info, and the sk_buff itself.
 * Measured with Linux 6.18.
 */
uint64_t
TrueSize(const NeighbourTable::Waiting& waiting)
{
    constexpr uint64_t BUFFER = 256;
    constexpr uint64_t SHARED = 320;
    constexpr uint64_t LINK = 31; // bytes of the aligned link header
    constexpr uint64_t SMALL = 576;
    const uint64_t header =
        std::visit([](const auto& each) { return each.GetSerializedSize(); }, waiting.header);
    const uint64_t needed = waiting.packet->GetSize() + header + LINK + SHARED;
    uint64_t given = SMALL;
    for (uint64_t power = 1024; given < needed; power *= 2)
    {
        given = power;
    }
    return BUFFER + given;
}

} // namespace

NeighbourTable::NeighbourTable(Link& link, const NeighbourLimits& limits)
    : m_link(link), m_limits(limits)
{
}

NeighbourTable::~NeighbourTable()
{
    for (auto& [address, neighbour] : m_neighbours)
    {
        neighbour.timer.Cancel();
        neighbour.asking.Cancel();
    }
}

std::optional<Address>
NeighbourTable::Use(const IpAddress& to)
{
    const auto found = m_neighbours.find(to);
    if (found == m_neighbours.end() || !IsValid(found->second.state))
    {
        return std::nullopt;
    }
    Neighbour& neighbour = found->second;
    neighbour.used = Simulator::Now();
    if (neighbour.state == State::STALE)
    {
        Enter(to, neighbour, State::DELAY);
    }
    else if (neighbour.isWatched)
    {
        neighbour.isWatched = false;
        Show(to, neighbour);
    }
    return neighbour.address;
}

void
NeighbourTable::Wait(const IpAddress& to, const Waiting& waiting)
{
    Neighbour& neighbour = m_neighbours[to];
    const bool isFirst = neighbour.state == State::FAILED;
    const uint64_t size = TrueSize(waiting);
    const auto isFull = [&] {
        return m_limits.packets ? neighbour.waiting.size() >= *m_limits.packets
                                : neighbour.bytes + size > m_limits.bytes;
    };
    while (!neighbour.waiting.empty() && isFull())
    {
        neighbour.bytes -= TrueSize(neighbour.waiting.front());
        m_link.Drop(neighbour.waiting.front());
        neighbour.waiting.pop_front();
    }
    neighbour.waiting.push_back(waiting);
    neighbour.bytes += size;
    if (isFirst)
    {
        Enter(to, neighbour, State::INCOMPLETE);
    }
}

void
NeighbourTable::Learn(const IpAddress& of, const News& news)
{
    auto found = m_neighbours.find(of);
    if (found == m_neighbours.end())
    {
        if (!news.isNew || !news.address)
        {
            return;
        }
        found = m_neighbours.emplace(of, Neighbour{}).first;
    }
    Neighbour& neighbour = found->second;
    const bool wasValid = IsValid(neighbour.state);
    Address address = news.address.value_or(neighbour.address);
    if (!wasValid && !news.address)
    {
        return;
    }
    State state = news.isConfirmed ? State::REACHABLE : State::STALE;
    if (wasValid && address != neighbour.address && !news.overrides)
    {
        if (!news.isWeak || neighbour.state != State::REACHABLE)
        {
            return;
        }
        address = neighbour.address;
        state = State::STALE;
    }
    else if (wasValid && address == neighbour.address && state == State::STALE)
    {
        state = neighbour.state;
    }
    if (news.isConfirmed && state == State::REACHABLE)
    {
        neighbour.confirmed = Simulator::Now();
    }
    if (address != neighbour.address)
    {
        neighbour.address = address;
        neighbour.updated = Simulator::Now();
        if (state != State::REACHABLE)
        {
            // The time of the last answer is set far into the past, because the new address is
            // unconfirmed.
            neighbour.confirmed = Simulator::Now() - 2 * m_limits.reachable;
        }
    }
    if (state != neighbour.state)
    {
        Enter(of, neighbour, state);
    }
    else
    {
        Show(of, neighbour);
    }
    for (auto sent = std::exchange(neighbour.waiting, {}); !sent.empty(); sent.pop_front())
    {
        neighbour.bytes = 0;
        Use(of);
        m_link.Send(of, sent.front());
    }
}

void
NeighbourTable::Enter(const IpAddress& to, Neighbour& neighbour, State state)
{
    neighbour.state = state;
    neighbour.updated = Simulator::Now();
    neighbour.isWatched = false;
    neighbour.timer.Cancel();
    neighbour.asking.Cancel();
    switch (state)
    {
    case State::FAILED:
        DropWaiting(neighbour);
        break;
    case State::INCOMPLETE:
    case State::PROBE:
        neighbour.probes = 0;
        Show(to, neighbour);
        Probe(to, neighbour);
        return;
    case State::REACHABLE:
        SetTimer(to, neighbour, m_limits.reachable - m_limits.delay);
        break;
    case State::DELAY:
        SetTimer(to, neighbour, m_limits.delay);
        break;
    case State::STALE:
        break;
    }
    Show(to, neighbour);
}

void
NeighbourTable::SetTimer(const IpAddress& to, Neighbour& neighbour, Time after)
{
    // The minimum timeout is HZ/100 ticks, as in Linux's neigh_timer_handler(); the limits may be
    // 0.
    const Time least = MilliSeconds(10);
    neighbour.timer.Cancel();
    neighbour.timer =
        Simulator::Schedule(std::max(after, least), &NeighbourTable::HandleTimer, this, to);
}

void
NeighbourTable::HandleTimer(IpAddress to)
{
    Neighbour& neighbour = m_neighbours.at(to);
    switch (neighbour.state)
    {
    case State::INCOMPLETE:
    case State::PROBE:
        neighbour.probes < m_limits.requests ? Probe(to, neighbour)
                                             : Enter(to, neighbour, State::FAILED);
        break;
    case State::REACHABLE:
        ExpireReachable(to, neighbour);
        break;
    case State::DELAY:
        Enter(to,
              neighbour,
              neighbour.confirmed + m_limits.delay >= Simulator::Now() ? State::REACHABLE
                                                                       : State::PROBE);
        break;
    case State::FAILED:
    case State::STALE:
        break;
    }
}

// Handles the timer of a reachable neighbour. Before the neighbour's reachable time ends, the
// function begins to watch whether the neighbour is used, so that the time of its latest use is
// known at the end.
void
NeighbourTable::ExpireReachable(const IpAddress& to, Neighbour& neighbour)
{
    const Time now = Simulator::Now();
    const Time end = neighbour.confirmed + m_limits.reachable;
    if (now < end - m_limits.delay)
    {
        SetTimer(to, neighbour, end - m_limits.delay - now);
    }
    else if (now < end)
    {
        neighbour.isWatched = true;
        Show(to, neighbour);
        SetTimer(to, neighbour, end - now);
    }
    else
    {
        const bool isUsed = neighbour.used + m_limits.delay >= now;
        Enter(to, neighbour, isUsed ? State::DELAY : State::STALE);
    }
}

void
NeighbourTable::Probe(const IpAddress& to, Neighbour& neighbour)
{
    SetTimer(to, neighbour, m_limits.interval);
    const bool isFirst = neighbour.state == State::INCOMPLETE && neighbour.probes == 0;
    neighbour.probes++;
    if (!isFirst || !m_limits.jitter)
    {
        Ask(to);
        return;
    }
    const Time after = MilliSeconds(1) * m_limits.jitter->GetValue();
    neighbour.asking = Simulator::Schedule(after, &NeighbourTable::Ask, this, to);
}

void
NeighbourTable::Ask(IpAddress to)
{
    const Neighbour& neighbour = m_neighbours.at(to);
    m_link.Ask(to,
               neighbour.state == State::PROBE ? std::optional(neighbour.address) : std::nullopt,
               neighbour.waiting.empty() ? nullptr : &neighbour.waiting.back());
}

void
NeighbourTable::Show(const IpAddress& to, const Neighbour& neighbour)
{
    m_link.Show(to,
                neighbour.state,
                neighbour.address,
                neighbour.isWatched || neighbour.state == State::STALE);
}

void
NeighbourTable::DropWaiting(Neighbour& neighbour)
{
    neighbour.bytes = 0;
    for (auto given = std::exchange(neighbour.waiting, {}); !given.empty(); given.pop_front())
    {
        m_link.Drop(given.front());
    }
}

void
NeighbourTable::Forget(const IpAddress& of)
{
    const auto found = m_neighbours.find(of);
    if (found != m_neighbours.end())
    {
        found->second.timer.Cancel();
        found->second.asking.Cancel();
        DropWaiting(found->second);
        m_neighbours.erase(found);
    }
}

std::optional<NeighbourTable::State>
NeighbourTable::Find(const IpAddress& of) const
{
    const auto found = m_neighbours.find(of);
    return found == m_neighbours.end() ? std::nullopt : std::optional(found->second.state);
}

Time
NeighbourTable::GetUpdated(const IpAddress& of) const
{
    const auto found = m_neighbours.find(of);
    return found == m_neighbours.end() ? Time(0) : found->second.updated;
}

} // namespace ns3
