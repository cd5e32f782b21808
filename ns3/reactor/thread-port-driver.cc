/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/reactor/burst-port.h"
#include "ns3/reactor/port-driver.h"

#include "ns3/abort.h"
#include "ns3/event-id.h"
#include "ns3/fd-reader.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

namespace ns3
{

namespace
{

using viaduct::io::ReceivedFrame;

/// The time after which the remaining frames are first offered again to a port that accepted no
/// more frames.
const Time RETRY_INTERVAL = MicroSeconds(50);
/// The maximum time before the frames are offered again: the time doubles as long as the port
/// accepts no frame.
const Time MAX_RETRY_INTERVAL = MilliSeconds(1);

/** Frames copied from the port's memory; their spans point into `bytes`. */
struct Copies
{
    std::vector<ReceivedFrame> frames;            //!< the frames
    std::vector<std::byte> bytes;                 //!< content of the frames
    std::shared_ptr<std::atomic<size_t>> pending; //!< the reader's counter of waiting frames
};

/** Passes the frames that the thread has read to the user; runs as an event. */
void
Deliver(BurstPortUser* user, std::shared_ptr<Copies> copies)
{
    *copies->pending -= copies->frames.size();
    for (const auto& frame : copies->frames)
    {
        user->HandleFrame(frame);
    }
    user->HandleReturn();
}

/** The thread that reads a port. */
class Reader : public FdReader
{
  public:
    explicit Reader(const PortDriver::Client& client) : m_client(client), m_frames(client.burst)
    {
    }

    std::mutex m_mutex;                              //!< guards the port
    std::atomic<uint64_t> m_drops{0};                //!< frames dropped because too many waited
    std::shared_ptr<std::atomic<size_t>> m_pending = //!< frames that wait for their event
        std::make_shared<std::atomic<size_t>>(0);

    /**
     * A callback that FdReader requires; never called, because DoRead() passes frames on itself.
     */
    void Ignore(uint8_t*, ssize_t)
    {
    }

  private:
    FdReader::Data DoRead() override
    {
        auto copies = std::make_shared<Copies>();
        copies->pending = m_pending;
        {
            std::scoped_lock lock{m_mutex};
            Copy(*copies, m_client.port.Receive(m_frames));
        }
        if (const auto n = copies->frames.size(); n > 0)
        {
            *m_pending += n;
            Simulator::ScheduleWithContext(
                m_client.nodeId, Time(0), &Deliver, &m_client.user, copies);
        }
        return {nullptr, -1}; // no data for FdReader itself to pass on
    }

    /** Copies @p n received frames from the port's memory; drops frames beyond the limit of waiting
     * frames. */
    void Copy(Copies& copies, size_t n)
    {
        const size_t room = m_client.pending - std::min<size_t>(m_client.pending, *m_pending);
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

    PortDriver::Client m_client;         //!< the driver's client
    std::vector<ReceivedFrame> m_frames; //!< frames of one burst
};

/** Drives a port: a thread reads it, and events send frames. */
class ThreadPortDriver : public PortDriver
{
  public:
    explicit ThreadPortDriver(const Client& client)
        : m_client(client), m_reader(Create<Reader>(client))
    {
        NS_ABORT_MSG_IF(client.port.fd() < 0,
                        "A port without a file descriptor requires ns3::ReactorSimulatorImpl: set "
                        "the global value SimulatorImplementationType to "
                        "ns3::ReactorSimulatorImpl");
        m_reader->Start(client.port.fd(), MakeCallback(&Reader::Ignore, PeekPointer(m_reader)));
    }

    void Stop() override
    {
        m_reader->Stop();
        m_transmitEvent.Cancel();
    }

    void RequestFlush() override
    {
        if (!std::exchange(m_flushPending, true))
        {
            m_transmitEvent.Cancel(); // the event may be for a later time
            m_transmitEvent = Simulator::ScheduleNow(&ThreadPortDriver::Flush, this);
        }
    }

    bool AwaitTransmitted() override
    {
        return false;
    }

    void RunInNode(const std::function<void()>& function) override
    {
        function(); // runs within the event Flush() already
    }

    size_t Transmit(std::span<const viaduct::io::FrameToSend> frames,
                    std::span<const viaduct::Instant> /* due */) override
    {
        std::scoped_lock lock{m_reader->m_mutex};
        return m_client.port.Transmit(frames);
    }

    viaduct::Instant GetNow() const override
    {
        return {};
    }

    size_t GetBytesInFlight() override
    {
        std::scoped_lock lock{m_reader->m_mutex};
        return m_client.port.BytesInFlight();
    }

    uint64_t GetWaiting() const override
    {
        return *m_reader->m_pending;
    }

    uint64_t GetDrops() const override
    {
        return m_reader->m_drops;
    }

  private:
    /** Sends the waiting frames; frames that the port does not accept are offered again later. */
    void Flush()
    {
        m_flushPending = false;
        if (m_client.flush.FlushTurn())
        {
            m_retryInterval = RETRY_INTERVAL;
        }
        else if (!m_flushPending)
        {
            m_transmitEvent = Simulator::Schedule(m_retryInterval, &ThreadPortDriver::Flush, this);
            m_retryInterval = std::min(2 * m_retryInterval, MAX_RETRY_INTERVAL);
        }
    }

    Client m_client;                       //!< the driver's client
    Ptr<Reader> m_reader;                  //!< the reading thread
    EventId m_transmitEvent;               //!< event that calls Flush()
    bool m_flushPending = false;           //!< whether m_transmitEvent is due now
    Time m_retryInterval = RETRY_INTERVAL; //!< time until the next retry
};

} // namespace

std::shared_ptr<PortDriver>
MakeThreadPortDriver(const PortDriver::Client& client)
{
    return std::make_shared<ThreadPortDriver>(client);
}

} // namespace ns3
