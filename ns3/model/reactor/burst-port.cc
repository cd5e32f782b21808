/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "burst-port.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/realtime-simulator-impl.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

/**
 * @file
 * @ingroup viaduct
 * ns3::BurstPort implementation.
 */

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("BurstPort");

namespace
{

/// Frames handed over between two looks at the clock: a due event waits for at most so many.
constexpr size_t YIELD_INTERVAL = 4;
/// Without a reactor, a port that took no more is offered the rest after this time.
const Time RETRY_INTERVAL = MicroSeconds(50);

} // namespace

/** Frames that left the port's memory: their spans point into one block. */
struct BurstPort::Copies
{
    std::vector<viaduct::io::ReceivedFrame> frames; //!< the frames
    std::vector<std::byte> bytes;                   //!< what they hold
};

/** The thread that reads a port where there is no reactor. */
class BurstPort::Reader : public FdReader
{
  public:
    /**
     * @param owner whose port it reads
     */
    explicit Reader(BurstPort& owner) : m_owner(owner), m_frames(owner.m_sizes.burst)
    {
    }

    std::atomic<uint32_t> m_pending{0}; //!< frames that wait for their event
    std::atomic<uint64_t> m_drops{0};   //!< frames dropped because too many wait

    /** FdReader wants one; never called, since DoRead() hands over by itself. */
    void Ignore(uint8_t*, ssize_t)
    {
    }

  private:
    FdReader::Data DoRead() override
    {
        auto copies = std::make_shared<Copies>();
        {
            std::unique_lock lock{m_owner.m_mutex};
            const size_t n = m_owner.m_port->Receive(m_frames);
            Copy(*copies, n);
        }
        if (const auto n = copies->frames.size(); n > 0)
        {
            m_pending += n;
            Simulator::ScheduleWithContext(
                m_owner.m_nodeId, Time(0), &BurstPort::DeliverCopies, &m_owner, copies);
        }
        return {nullptr, -1}; // nothing for FdReader itself to hand over
    }

    /**
     * Copy frames out of the port's memory, as many as may wait.
     * @param copies where to
     * @param n how many were received
     */
    void Copy(Copies& copies, size_t n)
    {
        const size_t limit = m_owner.m_sizes.pending;
        const size_t room = limit - std::min<size_t>(limit, m_pending);
        const size_t taken = std::min(n, room);
        m_drops += n - taken;
        copies.frames.assign(m_frames.begin(), m_frames.begin() + taken);
        size_t length = 0;
        for (const auto& frame : copies.frames)
        {
            length += frame.bytes.size();
        }
        copies.bytes.resize(length);
        auto to = copies.bytes.begin();
        for (auto& frame : copies.frames)
        {
            const auto from = frame.bytes;
            frame.bytes = {to, from.size()};
            to = std::copy(from.begin(), from.end(), to);
        }
    }

    BurstPort& m_owner;                               //!< whose port it is
    std::vector<viaduct::io::ReceivedFrame> m_frames; //!< of one burst
};

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

viaduct::io::AnyPort*
BurstPort::GetPort() const
{
    return m_port.get();
}

uint32_t
BurstPort::SetSizes(const Sizes& sizes)
{
    const uint32_t lost = m_txCount;
    m_sizes = sizes;
    m_received.resize(sizes.burst);
    m_nReceived = std::min<size_t>(m_nReceived, sizes.burst);
    m_txBuffer.assign(static_cast<size_t>(sizes.queue) * sizes.frame, std::byte{});
    m_txFrames.assign(sizes.queue, {});
    m_txHead = m_txCount = 0;
    return lost;
}

uint32_t
BurstPort::GetFrameSize() const
{
    return m_sizes.frame;
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
    m_reactor = ReactorSimulatorImpl::Get();
    if (m_reactor)
    {
        m_pollable =
            m_reactor->AddPollable(m_port->Fd(), Callback<bool>([this] { return ReceiveBurst(); }));
        return;
    }
    NS_ABORT_MSG_IF(!DynamicCast<RealtimeSimulatorImpl>(Simulator::GetImplementation()),
                    "Real interfaces need a simulator that runs in real time: set the global value "
                    "SimulatorImplementationType to ns3::ReactorSimulatorImpl (or "
                    "ns3::RealtimeSimulatorImpl)");
    NS_ABORT_MSG_IF(m_port->Fd() < 0,
                    "A port without a descriptor works under ns3::ReactorSimulatorImpl only");
    m_reader = Create<Reader>(*this);
    m_reader->Start(m_port->Fd(), MakeCallback(&Reader::Ignore, PeekPointer(m_reader)));
}

void
BurstPort::Stop()
{
    if (m_reader)
    {
        m_reader->Stop();
        m_formerReaderDrops += m_reader->m_drops;
        m_reader = nullptr;
    }
    m_transmitEvent.Cancel();
    if (m_port && m_txCount > 0)
    {
        Transmit();
    }
    if (m_reactor)
    {
        m_reactor->RemovePollable(m_pollable);
        m_reactor->CancelFlush(this);
        m_reactor = nullptr;
    }
    m_flushRequested = false;
    m_nReceived = m_nextReceived = 0;
    m_started = false;
}

uint64_t
BurstPort::GetReaderDrops() const
{
    return m_formerReaderDrops + (m_reader ? m_reader->m_drops.load() : 0);
}

// ---------------------------------------------------------------- received

bool
BurstPort::ReceiveBurst()
{
    if (m_nextReceived == m_nReceived)
    {
        const auto phase = m_reactor->SetPhase(ReactorSimulatorImpl::READING);
        m_nReceived = m_port->Receive(m_received);
        m_nextReceived = 0;
        m_reactor->SetPhase(phase);
        if (m_nReceived == 0)
        {
            return false;
        }
    }
    m_reactor->RunInContext(m_nodeId, [this] { DeliverBurst(); });
    return true;
}

void
BurstPort::DeliverBurst()
{
    while (m_nextReceived < m_nReceived)
    {
        m_user.HandleFrame(m_received[m_nextReceived++]);
        if (m_nextReceived % YIELD_INTERVAL == 0 && m_reactor && !m_reactor->AdvanceToRealTime())
        {
            return;
        }
    }
}

void
BurstPort::DeliverCopies(std::shared_ptr<Copies> copies)
{
    if (m_reader)
    {
        m_reader->m_pending -= copies->frames.size();
    }
    for (const auto& frame : copies->frames)
    {
        m_user.HandleFrame(frame);
    }
}

// ---------------------------------------------------------------- sent

uint8_t*
BurstPort::Reserve()
{
    if (m_txCount == m_sizes.queue)
    {
        Transmit();
        if (m_txCount == m_sizes.queue)
        {
            return nullptr;
        }
    }
    const size_t slot = (m_txHead + m_txCount) % m_sizes.queue;
    return reinterpret_cast<uint8_t*>(m_txBuffer.data()) + slot * m_sizes.frame;
}

void
BurstPort::Commit(uint32_t length)
{
    const size_t slot = (m_txHead + m_txCount) % m_sizes.queue;
    m_txFrames[slot] = {m_txBuffer.data() + slot * m_sizes.frame, length};
    m_txCount++;
    RequestTransmit();
}

bool
BurstPort::SendLong(viaduct::io::FrameToSend frame)
{
    Transmit();
    if (m_txCount > 0 || !m_port)
    {
        return false;
    }
    std::unique_lock lock{m_mutex, std::defer_lock};
    if (m_reader)
    {
        lock.lock();
    }
    return m_port->Transmit({&frame, 1}) == 1;
}

void
BurstPort::RequestTransmit()
{
    if (m_flushRequested)
    {
        return;
    }
    m_flushRequested = true;
    if (m_reactor)
    {
        m_reactor->RequestFlush(this);
    }
    else
    {
        m_transmitEvent = Simulator::ScheduleNow(&BurstPort::TransmitEvent, this);
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
BurstPort::TransmitEvent()
{
    if (!FlushTurn())
    {
        m_transmitEvent = Simulator::Schedule(RETRY_INTERVAL, &BurstPort::TransmitEvent, this);
    }
}

void
BurstPort::Transmit()
{
    if (!m_port || m_txCount == 0)
    {
        return;
    }
    std::unique_lock lock{m_mutex, std::defer_lock};
    if (m_reader)
    {
        lock.lock();
    }
    const auto phase = m_reactor ? m_reactor->SetPhase(ReactorSimulatorImpl::WRITING)
                                 : ReactorSimulatorImpl::EVENTS;
    bool refused = false;
    while (m_txCount > 0 && !refused)
    {
        const uint32_t run = std::min(m_txCount, m_sizes.queue - m_txHead);
        const auto taken =
            static_cast<uint32_t>(m_port->Transmit({m_txFrames.data() + m_txHead, run}));
        m_txHead = (m_txHead + taken) % m_sizes.queue;
        m_txCount -= taken;
        refused = taken < run;
    }
    if (m_txCount == 0)
    {
        m_txHead = 0; // the same few slots again: they are in the cache
    }
    if (m_reactor)
    {
        m_reactor->SetPhase(phase);
    }
    if (m_reader)
    {
        lock.unlock();
    }
    if (std::exchange(m_refused, refused) && !refused)
    {
        m_user.HandleRoom();
    }
}

} // namespace ns3
