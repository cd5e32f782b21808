/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "burst-port.h"

#include "ns3/abort.h"
#include "ns3/realtime-simulator-impl.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3
{

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
        Start(m_nodeId);
    }
}

uint32_t
BurstPort::SetSizes(const Sizes& sizes)
{
    const uint32_t lost = m_txCount;
    m_sizes = sizes;
    m_txBuffer.assign(static_cast<size_t>(sizes.queue) * sizes.frame, std::byte{});
    m_txFrames.assign(sizes.queue, {});
    m_txHead = m_txCount = 0;
    return lost;
}

void
BurstPort::Start(uint32_t nodeId)
{
    m_nodeId = nodeId;
    m_started = true;
    if (!m_port)
    {
        return;
    }
    const PortDriver::Client client{*m_port, m_user, *this, nodeId, m_sizes.burst, m_sizes.pending};
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
    if (m_txCount > 0)
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
BurstPort::GetReaderDrops() const
{
    return m_formerReaderDrops + (m_driver ? m_driver->GetDrops() : 0);
}

size_t
BurstPort::FreeSlot() const
{
    return (m_txHead + m_txCount) % m_sizes.queue;
}

std::span<std::byte>
BurstPort::Reserve()
{
    if (m_txCount == m_sizes.queue)
    {
        Transmit();
        if (m_txCount == m_sizes.queue)
        {
            return {};
        }
    }
    return std::span(m_txBuffer).subspan(FreeSlot() * m_sizes.frame, m_sizes.frame);
}

void
BurstPort::Commit(uint32_t length)
{
    const size_t slot = FreeSlot();
    m_txFrames[slot] = {m_txBuffer.data() + slot * m_sizes.frame, length};
    m_txCount++;
    RequestTransmit();
}

bool
BurstPort::SendLong(viaduct::io::FrameToSend frame)
{
    Transmit();
    return m_driver && m_txCount == 0 && m_driver->Transmit({&frame, 1}) == 1;
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
    Transmit();
    m_flushRequested = m_txCount > 0;
    return !m_flushRequested;
}

void
BurstPort::Transmit()
{
    if (!m_driver || m_txCount == 0)
    {
        return;
    }
    bool refused = false;
    while (m_txCount > 0 && !refused)
    {
        const uint32_t run = std::min(m_txCount, m_sizes.queue - m_txHead);
        const auto taken =
            static_cast<uint32_t>(m_driver->Transmit({m_txFrames.data() + m_txHead, run}));
        m_txHead = (m_txHead + taken) % m_sizes.queue;
        m_txCount -= taken;
        refused = taken < run;
    }
    if (m_txCount == 0)
    {
        m_txHead = 0; // the same few slots again: they are in the cache
    }
    if (std::exchange(m_refused, refused) && !refused)
    {
        m_user.HandleRoom();
    }
}

} // namespace ns3
