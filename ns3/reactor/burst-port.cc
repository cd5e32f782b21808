/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/reactor/burst-port.h"

#include "ns3/abort.h"
#include "ns3/realtime-simulator-impl.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3
{

namespace
{

/// The maximum number of times that queued frames are sent in one turn of the reactor: when the
/// user is notified that frames have left, the user may queue more frames, which are sent next.
constexpr uint32_t FLUSH_ROUNDS = 4;

} // namespace

BurstPort::BurstPort(BurstPortUser& user) : m_user(user)
{
}

BurstPort::~BurstPort()
{
    if (m_started)
    {
        Stop();
    }
}

void
BurstPort::SetPort(std::unique_ptr<viaduct::io::AnyPort> port)
{
    const bool started = m_started;
    if (started)
    {
        Stop();
    }
    m_port = std::move(port);
    if (started)
    {
        Start(m_nodeId, m_ignoreStamps);
    }
}

uint32_t
BurstPort::SetSizes(const Sizes& sizes)
{
    const uint32_t lost = Discard();
    m_sizes = sizes;
    m_txBuffer.assign(static_cast<size_t>(sizes.queue) * sizes.frame, std::byte{});
    m_txFrames.assign(sizes.queue, {});
    m_txDue.assign(sizes.queue, {});
    m_txUnfinished.assign(sizes.queue, false);
    return lost;
}

uint32_t
BurstPort::Discard()
{
    for (uint32_t slot = 0; m_unfinished > 0 && slot < m_txUnfinished.size(); ++slot)
    {
        if (m_txUnfinished[slot])
        {
            m_user.HandleOffered(slot, true);
            m_txUnfinished[slot] = false;
            m_unfinished--;
        }
    }
    m_txHead = 0;
    m_waiting = 0;
    return std::exchange(m_txCount, 0);
}

void
BurstPort::Start(uint32_t nodeId, bool ignoreStamps)
{
    m_nodeId = nodeId;
    m_ignoreStamps = ignoreStamps;
    m_started = true;
    if (!m_port)
    {
        return;
    }
    const PortDriver::Client client{
        *m_port, m_user, *this, nodeId, m_sizes.burst, m_sizes.pending, m_timing, ignoreStamps};
    if (Ptr<ReactorSimulatorImpl> reactor = ReactorSimulatorImpl::Get())
    {
        m_driver = MakeReactorPortDriver(reactor, client);
    }
    else
    {
        NS_ABORT_MSG_IF(
            !DynamicCast<RealtimeSimulatorImpl>(Simulator::GetImplementation()),
            "Real interfaces need a simulator that runs in real time: set the global value "
            "SimulatorImplementationType to ns3::ReactorSimulatorImpl (or "
            "ns3::RealtimeSimulatorImpl)");
        m_driver = MakeThreadPortDriver(client);
    }
    if (m_txCount > 0 || m_inFlight > 0)
    {
        RequestTransmit();
    }
}

void
BurstPort::Stop()
{
    Transmit();
    if (m_driver)
    {
        m_driver->Stop();
        m_formerReaderDrops += m_driver->GetDrops();
        m_driver = nullptr;
    }
    m_flushRequested = false;
    m_started = false;
}

uint64_t
BurstPort::CountToReceive() const
{
    return (m_driver ? m_driver->GetWaiting() : 0) + (m_port ? m_port->Counters().rx_waiting : 0);
}

uint64_t
BurstPort::GetReaderDrops() const
{
    return m_formerReaderDrops + (m_driver ? m_driver->GetDrops() : 0);
}

size_t
BurstPort::FreeSlot() const
{
    return (m_txHead + m_txCount) % m_sizes.queue;
}

bool
BurstPort::HasRoom()
{
    if (m_txCount == m_sizes.queue)
    {
        Transmit();
    }
    m_full = m_txCount == m_sizes.queue;
    return !m_full;
}

std::span<std::byte>
BurstPort::Reserve()
{
    if (!HasRoom())
    {
        return {};
    }
    return std::span(m_txBuffer).subspan(FreeSlot() * m_sizes.frame, m_sizes.frame);
}

void
BurstPort::Commit(uint32_t length)
{
    const size_t slot = FreeSlot();
    m_txFrames[slot] = {m_txBuffer.data() + slot * m_sizes.frame, length};
    m_txDue[slot] = m_driver ? m_driver->GetNow() : viaduct::Instant();
    m_txCount++;
    m_waiting += length;
    m_inFlight += m_tracksFlight ? length : 0;
    RequestTransmit();
}

uint32_t
BurstPort::CommitUnfinished(uint32_t length)
{
    const auto slot = static_cast<uint32_t>(FreeSlot());
    m_txUnfinished[slot] = true;
    m_unfinished++;
    Commit(length);
    return slot;
}

bool
BurstPort::SendLong(viaduct::io::FrameToSend frame)
{
    Transmit();
    if (!m_driver || m_txCount > 0)
    {
        return false;
    }
    const viaduct::Instant due = m_driver->GetNow();
    if (m_driver->Transmit({&frame, 1}, {&due, 1}) != 1)
    {
        return false;
    }
    if (m_tracksFlight)
    {
        m_inFlight += frame.size();
        RequestTransmit();
    }
    return true;
}

void
BurstPort::RequestTransmit()
{
    if (m_driver && !std::exchange(m_flushRequested, true))
    {
        m_driver->RequestFlush();
    }
}

bool
BurstPort::FlushTurn()
{
    m_flushRequested = true; // frames that the user queues meanwhile are sent by this call
    for (uint32_t round = 0; round < FLUSH_ROUNDS && m_driver; ++round)
    {
        Transmit();
        if (!TellUser() || m_txCount == 0 || m_refused)
        {
            break;
        }
    }
    m_flushRequested = false;
    if (!m_driver)
    {
        return true; // a function of the user has stopped the driver
    }
    if (m_txCount > 0 && !m_refused)
    {
        RequestTransmit();
        return true;
    }
    return Await();
}

bool
BurstPort::TellUser()
{
    bool told = false;
    if (m_tracksFlight && m_inFlight > m_waiting)
    {
        const uint64_t remaining = m_waiting + m_driver->GetBytesInFlight();
        if (const uint64_t left = m_inFlight - std::min(m_inFlight, remaining); left > 0)
        {
            m_inFlight -= left;
            m_driver->RunInNode([this, left] { m_user.HandleTransmitted(left); });
            told = true;
        }
    }
    if (m_full && m_txCount < m_sizes.queue && m_driver)
    {
        m_full = false;
        m_driver->RunInNode([this] { m_user.HandleRoom(); });
        told = true;
    }
    return told;
}

bool
BurstPort::Await()
{
    if (m_txCount == 0 && m_inFlight == 0)
    {
        return true;
    }
    // A port that holds no frame of this user, e.g. because its queueing discipline is full of
    // frames of other senders, never reports that a frame has left.
    const bool some = m_txCount == 0 || m_driver->GetBytesInFlight() > 0;
    return some && m_driver->AwaitTransmitted();
}

void
BurstPort::FinishFrames(uint32_t first, uint32_t count)
{
    for (uint32_t slot = first; m_unfinished > 0 && slot < first + count; ++slot)
    {
        if (m_txUnfinished[slot])
        {
            std::byte* const room = m_txBuffer.data() + size_t{slot} * m_sizes.frame;
            m_txFrames[slot] = m_user.Finish(slot, {room, m_txFrames[slot].size()});
        }
    }
}

void
BurstPort::TellOffered(uint32_t first, uint32_t count, uint32_t taken)
{
    for (uint32_t i = 0; m_unfinished > 0 && i < count; ++i)
    {
        const uint32_t slot = first + i;
        if (m_txUnfinished[slot])
        {
            m_user.HandleOffered(slot, i < taken);
            m_txUnfinished[slot] = i >= taken;
            m_unfinished -= i < taken ? 1 : 0;
        }
    }
}

void
BurstPort::Transmit()
{
    if (!m_driver || m_txCount == 0)
    {
        return;
    }
    m_refused = false;
    while (m_txCount > 0 && !m_refused)
    {
        const uint32_t run = std::min(m_txCount, m_sizes.queue - m_txHead);
        FinishFrames(m_txHead, run);
        const std::span<const viaduct::io::FrameToSend> frames{m_txFrames.data() + m_txHead, run};
        const auto taken =
            static_cast<uint32_t>(m_driver->Transmit(frames, {m_txDue.data() + m_txHead, run}));
        TellOffered(m_txHead, run, taken);
        for (const auto& frame : frames.first(taken))
        {
            m_waiting -= frame.size();
        }
        m_txHead = (m_txHead + taken) % m_sizes.queue;
        m_txCount -= taken;
        m_refused = taken < run;
    }
    if (m_txCount == 0)
    {
        m_txHead = 0; // the few slots in use then stay in the cache
    }
}

} // namespace ns3
