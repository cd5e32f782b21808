/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/reactor/reactor-ports.h"

#include "ns3/abort.h"
#include "ns3/log.h"

#include "base/error.h"

#include <algorithm>
#include <sys/epoll.h>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("ReactorPorts");

namespace
{

/// The number of consecutive wake-ups without work after which a descriptor is muted, that is,
/// temporarily removed from epoll.
constexpr uint32_t MUTE_AFTER = 64;
/// The time for which a descriptor is muted. An AF_PACKET socket of a link that is down is always
/// ready without work, and so is muted.
constexpr auto MUTE_TIME = viaduct::Duration::Milliseconds(10);
/// The minimum duration of a wait that counts as a sleep: if a wait is shorter, a descriptor was
/// ready when the wait began.
constexpr auto MIN_SLEEP = viaduct::Duration::Microseconds(20);

} // namespace

uint32_t
ReactorPorts::Add(int fd, Callback<bool> callback, uint32_t events)
{
    auto port = std::make_unique<Port>();
    port->id = m_nextId++;
    port->fd = fd;
    port->events = events;
    port->callback = callback;
    Watch(*port);
    m_ports.push_back(std::move(port));
    return m_ports.back()->id;
}

void
ReactorPorts::Remove(uint32_t id)
{
    for (auto& port : m_ports)
    {
        if (port->id == id && !port->removed)
        {
            if (port->fd >= 0)
            {
                m_waiter.Ignore(port->fd);
            }
            port->removed = true;
            port->muted = false;
            m_anyRemoved = true;
        }
    }
    if (!m_visiting)
    {
        Compact();
    }
}

bool
ReactorPorts::AnyReady() const
{
    return std::any_of(
        m_ports.begin(), m_ports.end(), [](const auto& port) { return port->ready; });
}

bool
ReactorPorts::Ask(Port& port, ReactorClock& clock)
{
    const bool woken = port.ready;
    port.ready = port.callback();
    if (port.ready)
    {
        port.idleWakes = 0;
        return true;
    }
    const bool repeats = port.fd >= 0 && (port.events & EPOLLET) == 0;
    if (woken && repeats && !port.removed && ++port.idleWakes >= MUTE_AFTER)
    {
        NS_LOG_LOGIC("descriptor " << port.fd << " is ready but has nothing to read");
        m_waiter.Ignore(port.fd);
        port.muted = true;
        port.idleWakes = MUTE_AFTER - 1; // the next wake-up without work mutes the port
        m_unmuteAt = clock.Now() + MUTE_TIME;
    }
    return false;
}

size_t
ReactorPorts::Poll(ReactorClock& clock, viaduct::Duration timeout)
{
    const viaduct::Instant before = m_lastPoll;
    const viaduct::Instant begin = timeout > viaduct::Duration() ? clock.Now() : before;
    const auto found = clock.Sleep(m_waiter, timeout);
    m_lastPoll = clock.Now();
    for (const auto& event : found)
    {
        if (event.data.u64 == viaduct::sys::HybridWaiter::kWoken)
        {
            continue;
        }
        auto& port = *reinterpret_cast<Port*>(event.data.u64);
        if (!port.ready)
        {
            // After a sleep, the descriptor has become ready just now. After a query without a
            // sleep, or a sleep that ended at once, the descriptor may have been ready for a long
            // time.
            const bool slept = timeout > viaduct::Duration() && m_lastPoll - begin > MIN_SLEEP;
            port.emptyAt = slept ? m_lastPoll : before;
        }
        port.ready = true;
    }
    return found.size();
}

void
ReactorPorts::Unmute()
{
    for (auto& port : m_ports)
    {
        if (std::exchange(port->muted, false))
        {
            Watch(*port);
        }
    }
    m_unmuteAt = viaduct::Instant::Never();
}

void
ReactorPorts::Watch(Port& port)
{
    if (port.fd < 0)
    {
        return;
    }
    try
    {
        m_waiter.Listen(port.fd, reinterpret_cast<uint64_t>(&port), port.events);
    }
    catch (const viaduct::SystemError& error)
    {
        NS_ABORT_MSG("ReactorSimulatorImpl: " << error.what());
    }
}

void
ReactorPorts::Compact()
{
    if (m_anyRemoved)
    {
        std::erase_if(m_ports, [](const auto& port) { return port->removed; });
        m_anyRemoved = false;
    }
}

} // namespace ns3
