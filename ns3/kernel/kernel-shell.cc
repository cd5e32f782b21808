/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/kernel/kernel-shell.h"

#include "ns3/base/per-simulation.h"
#include "ns3/kernel/kernel-node.h"
#include "ns3/socket/kernel-socket-stack.h"

#include "ns3/channel.h"
#include "ns3/net-device.h"
#include "ns3/node-list.h"
#include "ns3/node.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/timespec.h"

#include <algorithm>
#include <cerrno>
#include <iostream>
#include <map>
#include <poll.h>
#include <utility>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(KernelShell);

using viaduct::Duration;
using viaduct::Instant;
using viaduct::MonotonicClock;

namespace
{

// Steps of virtual time between two polls of the shells. A key press at a prompt advances virtual
// time by FIRST_STEP, which suffices for the shell to echo the key, as computing takes no virtual
// time. While a program runs, the steps grow up to MAX_STEP: a short command advances virtual time
// by little, and a long command causes few polls.
const Time FIRST_STEP = MicroSeconds(100);
const Time MAX_STEP = MilliSeconds(5);
// The maximum lag of virtual time behind the wall clock. A simulation whose lag is larger does not
// catch up.
constexpr Duration MAX_LAG = Duration::Milliseconds(100);

} // namespace

TypeId
KernelShell::GetTypeId()
{
    static TypeId tid = TypeId("ns3::KernelShell")
                            .SetParent<Object>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<KernelShell>()
                            .AddAttribute("Name",
                                          "The name of the simulation for viaduct kernel shell; "
                                          "empty: the name of the program.",
                                          StringValue(""),
                                          MakeStringAccessor(&KernelShell::m_name),
                                          MakeStringChecker());
    return tid;
}

Ptr<KernelShell>
KernelShell::Get()
{
    return PerSimulation<KernelShell>::Get();
}

void
KernelShell::DoDispose()
{
    m_server.reset();
    m_record.reset();
    m_clients.clear();
    m_paused = nullptr;
    m_resumed = nullptr;
    m_view = nullptr;
    m_readable = nullptr;
    Object::DoDispose();
}

void
KernelShell::PauseAt(const Time& at)
{
    Simulator::Schedule(at - Simulator::Now(), &KernelShell::Pause, Get());
}

std::vector<std::string>
KernelShell::GetNodeNames()
{
    std::vector<std::string> names;
    for (auto node = NodeList::Begin(); node != NodeList::End(); ++node)
    {
        if (const auto kernel = (*node)->GetObject<KernelNode>())
        {
            names.push_back(kernel->GetName());
        }
    }
    return names;
}

std::vector<viaduct::guest::ShellNode>
KernelShell::Nodes()
{
    std::vector<viaduct::guest::ShellNode> nodes;
    for (auto node = NodeList::Begin(); node != NodeList::End(); ++node)
    {
        if (const auto kernel = (*node)->GetObject<KernelNode>())
        {
            const auto stack = (*node)->GetObject<KernelSocketStack>();
            nodes.push_back({kernel->GetName(),
                             kernel->GetGuest()->GetRelease(),
                             stack->GetNumber(),
                             stack->GetClient<viaduct::guest::ProgramClient>()});
            m_clients.insert(nodes.back().programs);
        }
    }
    return nodes;
}

// Returns the links between kernel nodes: a link for each channel, with the interfaces of the
// devices on the channel, in the order of the nodes and their devices.
std::vector<viaduct::guest::PausedLink>
KernelShell::Links()
{
    std::vector<viaduct::guest::PausedLink> links;
    std::map<Ptr<Channel>, std::size_t> places;
    for (auto node = NodeList::Begin(); node != NodeList::End(); ++node)
    {
        const auto kernel = (*node)->GetObject<KernelNode>();
        for (uint32_t i = 0; kernel && i < (*node)->GetNDevices(); i++)
        {
            const Ptr<NetDevice> device = (*node)->GetDevice(i);
            const std::string interface = kernel->GetInterface(device);
            const Ptr<Channel> channel = device->GetChannel();
            if (interface.empty() || !channel)
            {
                continue;
            }
            const auto [place, isNew] = places.emplace(channel, links.size());
            if (isNew)
            {
                links.emplace_back();
            }
            links[place->second].nodes.push_back(kernel->GetName());
            links[place->second].interfaces.push_back(interface);
        }
    }
    return links;
}

void
KernelShell::SetHandlers(Handler paused, Handler resumed)
{
    m_paused = std::move(paused);
    m_resumed = std::move(resumed);
}

void
KernelShell::Watch(int fd, Handler readable)
{
    m_watched = fd;
    m_readable = std::move(readable);
}

void
KernelShell::Pause()
{
    if (IsPaused())
    {
        return;
    }
    const auto names = GetNodeNames();
    if (names.empty() && !m_view)
    {
        throw viaduct::UsageError("the simulation cannot be paused for shells, because no node has "
                                  "a kernel as its stack (KernelStackHelper)");
    }
    const View view = m_view ? m_view() : View{names, Links(), {}};
    const std::string name = m_name.empty() ? program_invocation_short_name : m_name;
    const auto now = [] { return Instant::FromNanoseconds(Simulator::Now().GetNanoSeconds()); };
    m_record =
        std::make_unique<viaduct::guest::PauseRecord>(name, now(), view.nodes, names, view.links);
    m_server = std::make_unique<viaduct::guest::ShellServer>(
        m_record->TakeListener(), Nodes(), now, view.answer);
    m_running = false;
    m_settled = false;
    if (m_paused)
    {
        m_paused();
    }
    else
    {
        std::cerr << name << " is paused at " << Simulator::Now().As(Time::S)
                  << "; in another terminal, use viaduct kernel shell NODE (" << names.front()
                  << (names.size() > 1 ? " ... " + names.back() : "")
                  << ") or viaduct kernel resume" << std::endl;
    }
    // Turn() is called in a separate event, after all other events that are due at this instant,
    // for example the boot of the kernels at the simulation's start.
    Simulator::ScheduleNow(&KernelShell::Turn, this);
}

void
KernelShell::Resume()
{
    if (m_server)
    {
        m_server->Resume();
    }
}

// Serves the shells. Virtual time does not advance in this function, but between two of its calls.
void
KernelShell::Turn()
{
    for (;;)
    {
        ServeWatched();
        if (Simulator::IsFinished())
        {
            return; // ServeWatched() has called m_readable, which stopped the simulation
        }
        if (m_server->Serve())
        {
            return GoOn(FIRST_STEP);
        }
        if (m_server->resumed())
        {
            return End();
        }
        if (!m_server->Busy())
        {
            m_running = false;
            if (!std::exchange(m_settled, true))
            {
                // Messages that the guests have just sent at this instant are processed first.
                Simulator::ScheduleNow(&KernelShell::Turn, this);
                return;
            }
            Wait(Instant::Never());
        }
        else if (!WaitForPace())
        {
            return GoOn(std::min(m_step + m_step, MAX_STEP));
        }
    }
}

void
KernelShell::GoOn(Time step)
{
    m_step = step;
    m_settled = false;
    Simulator::Schedule(step, &KernelShell::Turn, this);
}

void
KernelShell::End()
{
    m_server.reset();
    m_record.reset();
    if (m_resumed)
    {
        m_resumed();
    }
}

// Waits until a descriptor is readable (returns true) or the wall clock has reached `deadline`
// (returns false).
bool
KernelShell::Wait(Instant deadline) const
{
    pollfd entries[] = {{m_server->fd(), POLLIN, 0}, {m_watched, POLLIN, 0}};
    const bool limited = deadline != Instant::Never();
    for (;;)
    {
        const timespec left = viaduct::ToTimespec(
            limited ? std::max(Duration(), deadline - MonotonicClock::Now()) : Duration());
        const int count = ppoll(entries, 2, limited ? &left : nullptr, nullptr);
        if (count >= 0 || errno != EINTR)
        {
            return viaduct::SystemCall("poll", count) > 0;
        }
    }
}

// Waits until a descriptor is readable (returns true) or the wall clock has reached the
// simulation's time (returns false).
bool
KernelShell::WaitForPace()
{
    const auto passed = Duration::Nanoseconds((Simulator::Now() - m_anchor).GetNanoSeconds());
    const Instant now = MonotonicClock::Now();
    const Instant due = m_wallAnchor + passed;
    if (!std::exchange(m_running, true) || now - due > MAX_LAG)
    {
        m_anchor = Simulator::Now();
        m_wallAnchor = now;
        return false;
    }
    return due > now && Wait(due);
}

void
KernelShell::ServeWatched()
{
    pollfd entry{m_watched, POLLIN, 0};
    if (m_watched >= 0 && poll(&entry, 1, 0) > 0)
    {
        m_readable();
    }
}

} // namespace ns3
