/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "burst-port.h"
#include "port-driver.h"

#include <vector>

namespace ns3
{

namespace
{

/// Frames processed between two reads of the clock: a due event waits for at most this many.
constexpr size_t YIELD_INTERVAL = 4;

/** A port in the reactor's loop. */
class ReactorPortDriver : public PortDriver, public std::enable_shared_from_this<ReactorPortDriver>
{
  public:
    ReactorPortDriver(Ptr<ReactorSimulatorImpl> reactor, const Client& client)
        : m_reactor(reactor),
          m_client(client),
          m_pollable(reactor->AddPollable(client.port.Fd(),
                                          Callback<bool>([this] { return ReceiveBurst(); }))),
          m_received(client.burst)
    {
    }

    void Stop() override
    {
        m_reactor->RemovePollable(m_pollable);
        m_reactor->CancelFlush(&m_client.flush);
        m_burst = {};
        m_next = 0;
    }

    void RequestFlush() override
    {
        m_reactor->RequestFlush(&m_client.flush);
    }

    size_t Transmit(std::span<const viaduct::io::FrameToSend> frames) override
    {
        const auto phase = m_reactor->SetPhase(ReactorSimulatorImpl::WRITING);
        const size_t taken = m_client.port.Transmit(frames);
        m_reactor->SetPhase(phase);
        return taken;
    }

    uint64_t GetDrops() const override
    {
        return 0; // the kernel's ring is the only queue
    }

  private:
    /** Called by the reactor: handles one burst. @return true if there was work, or some is left */
    bool ReceiveBurst()
    {
        const auto self = shared_from_this(); // handling a frame may stop this driver
        if (m_next == m_burst.size())
        {
            const auto phase = m_reactor->SetPhase(ReactorSimulatorImpl::READING);
            m_burst = std::span(m_received).first(m_client.port.Receive(m_received));
            m_next = 0;
            m_reactor->SetPhase(phase);
            if (m_burst.empty())
            {
                return false;
            }
        }
        m_reactor->RunInContext(m_client.nodeId, [this] { DeliverBurst(); });
        return true;
    }

    /** Pass on the frames of the current burst, until an event is due. */
    void DeliverBurst()
    {
        while (m_next < m_burst.size())
        {
            m_client.user.HandleFrame(m_burst[m_next++]);
            if (m_next % YIELD_INTERVAL == 0 && !m_reactor->AdvanceToRealTime())
            {
                return;
            }
        }
    }

    Ptr<ReactorSimulatorImpl> m_reactor;                //!< the simulator
    Client m_client;                                    //!< what for
    uint32_t m_pollable;                                //!< the port's name in the reactor
    std::vector<viaduct::io::ReceivedFrame> m_received; //!< room for a burst
    std::span<viaduct::io::ReceivedFrame> m_burst;      //!< the burst at hand
    size_t m_next = 0;                                  //!< next frame of it to hand over
};

} // namespace

std::shared_ptr<PortDriver>
MakeReactorPortDriver(Ptr<ReactorSimulatorImpl> reactor, const PortDriver::Client& client)
{
    return std::make_shared<ReactorPortDriver>(reactor, client);
}

} // namespace ns3
