/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/reactor/burst-port.h"
#include "ns3/reactor/port-driver.h"

#include "base/realtime.h"

#include <algorithm>
#include <array>
#include <sys/epoll.h>
#include <utility>
#include <vector>

namespace ns3
{

namespace
{

/// The number of frames processed between two reads of the clock; at most this number of frames
/// delays a due event.
constexpr size_t YIELD_INTERVAL = 4;

/** Drives a port in the reactor's loop. */
class ReactorPortDriver : public PortDriver,
                          public std::enable_shared_from_this<ReactorPortDriver>,
                          private ReactorFlush
{
  public:
    ReactorPortDriver(Ptr<ReactorSimulatorImpl> reactor, const Client& client)
        : m_reactor(reactor),
          m_client(client),
          m_pollable(reactor->AddPollable(client.port.fd(),
                                          Callback<bool>([this] { return ReceiveBurst(); }))),
          m_received(client.burst),
          m_emptyAt(reactor->GetClockNow())
    {
    }

    void Stop() override
    {
        m_reactor->RemovePollable(m_pollable);
        m_reactor->RemovePollable(m_transmitted);
        m_reactor->CancelFlush(this);
        m_burst = {};
        m_next = 0;
        m_client.user.HandleReturn();
    }

    void RequestFlush() override
    {
        if (!std::exchange(m_flushPending, true))
        {
            m_reactor->RequestFlush(this);
        }
    }

    bool AwaitTransmitted() override
    {
        const int fd = m_client.port.TransmitFd();
        if (fd < 0)
        {
            return false;
        }
        m_awaited = true;
        if (m_transmitted == 0)
        {
            // epoll also reports the state at the time of the registration, so that frames that
            // have left meanwhile are not missed.
            m_transmitted = m_reactor->AddPollable(fd,
                                                   Callback<bool>([this] {
                                                       if (std::exchange(m_awaited, false))
                                                       {
                                                           RequestFlush();
                                                       }
                                                       return false;
                                                   }),
                                                   EPOLLOUT | EPOLLET);
        }
        return true;
    }

    void RunInNode(const std::function<void()>& function) override
    {
        m_reactor->AdvanceToRealTime();
        m_reactor->RunInContext(m_client.nodeId, function);
    }

    size_t Transmit(std::span<const viaduct::io::FrameToSend> frames,
                    std::span<const viaduct::Instant> due) override
    {
        const auto phase = m_reactor->SetPhase(ReactorSimulatorImpl::WRITING);
        const size_t taken = m_client.port.Transmit(frames);
        m_reactor->SetPhase(phase);
        const viaduct::Instant now = m_reactor->GetClockNow();
        std::span<const uint32_t> refused = m_client.port.Refused();
        for (size_t i = 0; i < taken; ++i)
        {
            if (!refused.empty() && refused.front() == i) // the frame has not been sent
            {
                refused = refused.subspan(1);
            }
            else if (due[i] != viaduct::Instant()) // unset: the frame was queued without a port
            {
                Record(true, now - due[i]);
            }
        }
        return taken;
    }

    viaduct::Instant GetNow() const override
    {
        return m_reactor->GetVirtualNow();
    }

    size_t GetBytesInFlight() override
    {
        return m_client.port.BytesInFlight();
    }

    uint64_t GetWaiting() const override
    {
        return m_burst.size() - m_next;
    }

    uint64_t GetDrops() const override
    {
        return 0; // no frames are read in advance, so none are dropped
    }

  private:
    bool FlushTurn() override
    {
        const auto self = shared_from_this(); // a callback of the user may stop this driver
        m_flushPending = false;
        if (m_client.flush.FlushTurn() || m_flushPending)
        {
            return true;
        }
        m_flushPending = true;
        return false;
    }

    /** Handles one burst; called by the reactor. @return true if there was work, or frames are
     * left */
    bool ReceiveBurst()
    {
        const auto self = shared_from_this(); // handling a frame may stop this driver
        if (m_next == m_burst.size())
        {
            const auto phase = m_reactor->SetPhase(ReactorSimulatorImpl::READING);
            Receive();
            m_reactor->SetPhase(phase);
            if (m_burst.empty())
            {
                return false;
            }
        }
        m_reactor->RunInContext(m_client.nodeId, [this] { DeliverBurst(); });
        return true;
    }

    /** Receives the next burst from the port, and records the earliest time at which its frames may
     * have arrived. */
    void Receive()
    {
        const viaduct::Instant before = m_reactor->GetClockNow();
        m_client.user.HandleReturn();
        m_burst = std::span(m_received).first(m_client.port.Receive(m_received));
        m_next = 0;
        m_waitedSince = std::max(m_emptyAt, m_reactor->GetPortEmptyAt());
        m_stampOffset = viaduct::RealtimeNow() - before;
        if (m_burst.size() < m_received.size())
        {
            m_emptyAt = before;
        }
    }

    /** @return the arrival time of a frame at the port; without a stamp, the earliest possible
     * time */
    viaduct::Instant ArrivalOf(const viaduct::io::ReceivedFrame& frame) const
    {
        const bool stamped = !m_client.ignoreStamps && frame.received != viaduct::Instant();
        return stamped ? frame.received - m_stampOffset : m_waitedSince;
    }

    /** Records the lateness of a frame that was received or sent. */
    void Record(bool sent, viaduct::Duration lateness)
    {
        (sent ? m_client.timing.sent : m_client.timing.received).Record(lateness.nanoseconds());
        m_reactor->RecordPortLateness(lateness);
        m_client.user.HandleLateness(sent, lateness);
    }

    /** Passes the frames of the current burst to the user, until an event is due. */
    void DeliverBurst()
    {
        std::array<viaduct::Instant, YIELD_INTERVAL> arrivals;
        size_t handed = 0;
        while (m_next < m_burst.size())
        {
            arrivals[handed++] = ArrivalOf(m_burst[m_next]);
            m_client.user.HandleFrame(m_burst[m_next++]);
            const bool ended = m_next >= m_burst.size();
            if (!ended && m_next % YIELD_INTERVAL != 0)
            {
                continue;
            }
            const viaduct::Instant now = m_reactor->GetClockNow();
            for (size_t i = 0; i < handed; ++i)
            {
                Record(false, now - arrivals[i]);
            }
            handed = 0;
            if (!ended && !m_reactor->AdvanceToRealTime())
            {
                return;
            }
        }
    }

    Ptr<ReactorSimulatorImpl> m_reactor; //!< the simulator
    Client m_client;                     //!< the driver's client
    uint32_t m_pollable;                 //!< the port's id in the reactor
    uint32_t m_transmitted = 0;          //!< id of TransmitFd() in the reactor; 0: not registered
    bool m_awaited = false;      //!< AwaitTransmitted() was called, and no frame has left since
    bool m_flushPending = false; //!< whether the reactor will call FlushTurn()
    std::vector<viaduct::io::ReceivedFrame> m_received; //!< space for a burst
    std::span<viaduct::io::ReceivedFrame> m_burst;      //!< the current burst
    size_t m_next = 0;                                  //!< index of the burst's next frame
    viaduct::Instant m_emptyAt;      //!< last time at which the port was empty (reactor's clock)
    viaduct::Instant m_waitedSince;  //!< earliest possible arrival of m_burst (reactor's clock)
    viaduct::Duration m_stampOffset; //!< kernel's stamps minus the reactor's clock
};

} // namespace

std::shared_ptr<PortDriver>
MakeReactorPortDriver(Ptr<ReactorSimulatorImpl> reactor, const PortDriver::Client& client)
{
    return std::make_shared<ReactorPortDriver>(reactor, client);
}

} // namespace ns3
