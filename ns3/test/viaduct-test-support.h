/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_TEST_SUPPORT_H
#define VIADUCT_TEST_SUPPORT_H

#include "ns3/boolean.h"
#include "ns3/device/ring-net-device.h"
#include "ns3/global-value.h"
#include "ns3/mac48-address.h"
#include "ns3/node.h"
#include "ns3/reactor/reactor-simulator-impl.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include "base/fd.h"
#include "port/port.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <sys/socket.h>
#include <vector>

/**
 * @file
 * @ingroup viaduct
 * Helpers shared by the tests of the viaduct module.
 */

namespace ns3::viaducttest
{

/** A clock that a test advances, and that a sleep of the reactor advances by its duration. A sleep
 * without limit is a real one, because only another thread can end it.
 */
class ManualReactorClock : public ReactorClock
{
  public:
    viaduct::Instant Now() override
    {
        return viaduct::Instant::FromNanoseconds(m_now);
    }

    viaduct::Poller::Ready Sleep(viaduct::sys::HybridWaiter& waiter,
                                 viaduct::Duration timeout) override
    {
        const bool endless = timeout == viaduct::Duration::Max();
        const auto ready = waiter.Sleep(endless ? timeout : viaduct::Duration());
        if (ready.empty() && !endless)
        {
            Advance(timeout);
        }
        return ready;
    }

    void Pause(viaduct::Duration time) override
    {
        Advance(time);
    }

    /** Advances the clock, so that spinning ends. */
    void Relax() override
    {
        Advance(viaduct::Duration::Nanoseconds(100));
    }

    /**
     * @param duration the duration by which the clock advances
     */
    void Advance(viaduct::Duration duration)
    {
        m_now += duration.nanoseconds();
    }

  private:
    std::atomic<int64_t> m_now{0}; //!< nanoseconds since the clock was created
};

/** The clock of a test's reactor. */
enum class TestTime
{
    MANUAL, //!< a clock that moves only as the loop waits
    REAL    //!< the machine's clock
};

/** Makes the simulator a reactor during its lifetime. */
class ReactorScope
{
  public:
    explicit ReactorScope(TestTime time = TestTime::MANUAL)
    {
        Simulator::Destroy();
        GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::ReactorSimulatorImpl"));
        GlobalValue::Bind("ChecksumEnabled", BooleanValue(true));
        m_reactor = ReactorSimulatorImpl::Get();
        if (time == TestTime::MANUAL)
        {
            auto clock = std::make_unique<ManualReactorClock>();
            m_clock = clock.get();
            m_reactor->SetClock(std::move(clock));
        }
    }

    ~ReactorScope()
    {
        m_reactor = nullptr;
        Simulator::Destroy();
        GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::DefaultSimulatorImpl"));
        GlobalValue::Bind("ChecksumEnabled", BooleanValue(false));
    }

    /** @return the simulator */
    ReactorSimulatorImpl* operator->() const
    {
        return PeekPointer(m_reactor);
    }

    /** @return the simulator's clock, with TestTime::MANUAL */
    ManualReactorClock& Clock() const
    {
        return *m_clock;
    }

  private:
    Ptr<ReactorSimulatorImpl> m_reactor;   //!< the simulator
    ManualReactorClock* m_clock = nullptr; //!< owned by the simulator
};

/** A frame. */
using Frame = std::vector<std::byte>;
/** Frames in transit. */
using Wire = std::deque<Frame>;

/** A port in memory: sent frames enter one queue, frames to receive are in another. */
class QueuePort : public viaduct::io::AnyPort
{
  public:
    /**
     * @param in frames to receive
     * @param out frames sent
     */
    QueuePort(std::shared_ptr<Wire> in, std::shared_ptr<Wire> out)
        : m_in(std::move(in)), m_out(std::move(out))
    {
    }

    size_t Receive(std::span<viaduct::io::ReceivedFrame> frames) override
    {
        m_lent.clear();
        size_t n = 0;
        for (; n < frames.size() && !m_in->empty(); ++n)
        {
            m_lent.push_back(std::move(m_in->front()));
            m_in->pop_front();
            frames[n] = {};
            frames[n].bytes = m_lent.back();
            m_describe(frames[n]);
        }
        m_largestBurst = std::max(m_largestBurst, n);
        return n;
    }

    size_t Transmit(std::span<const viaduct::io::FrameToSend> frames) override
    {
        m_transmits++;
        const size_t n = std::min(frames.size(), m_room);
        m_room -= m_room == std::numeric_limits<size_t>::max() ? 0 : n;
        m_refused.clear();
        for (size_t i = 0; i < n; ++i)
        {
            if (frames[i].size() > m_longest)
            {
                m_refused.push_back(static_cast<uint32_t>(i));
                continue;
            }
            m_out->emplace_back(frames[i].begin(), frames[i].end());
            m_bytesInFlight += m_keeps ? frames[i].size() : 0;
        }
        return n;
    }

    std::span<const uint32_t> Refused() const override
    {
        return m_refused;
    }

    size_t BytesInFlight() override
    {
        return m_bytesInFlight;
    }

    int TransmitFd() override
    {
        return m_transmitFd;
    }

    int fd() override
    {
        return -1;
    }

    viaduct::io::PortCounters Counters() override
    {
        return {.rx_waiting = m_in->size()};
    }

    bool Up() override
    {
        return true;
    }

    /** Adds the kernel's metadata of a frame. */
    std::function<void(viaduct::io::ReceivedFrame&)> m_describe = [](viaduct::io::ReceivedFrame&) {
    };
    size_t m_room = std::numeric_limits<size_t>::max();    //!< frames that it still accepts
    size_t m_longest = std::numeric_limits<size_t>::max(); //!< maximum length of a frame
    bool m_keeps = false;                                  //!< whether frames taken are in flight
    size_t m_bytesInFlight = 0;                            //!< bytes in flight; set by the test
    int m_transmitFd = -1;                                 //!< writable when frames have left
    size_t m_transmits = 0;                                //!< calls of Transmit()
    size_t m_largestBurst = 0;                             //!< frames received at once

  private:
    std::shared_ptr<Wire> m_in;      //!< frames to receive
    std::shared_ptr<Wire> m_out;     //!< frames sent
    std::deque<Frame> m_lent;        //!< frames of the last burst
    std::vector<uint32_t> m_refused; //!< refused by the last Transmit()
};

/** A port on a datagram socket: each datagram is a frame. */
class SocketPort : public viaduct::io::AnyPort
{
  public:
    /**
     * @param socket a datagram socket
     */
    explicit SocketPort(viaduct::UniqueFd socket) : m_socket(std::move(socket))
    {
    }

    size_t Receive(std::span<viaduct::io::ReceivedFrame> frames) override
    {
        const auto n = recv(m_socket.get(), m_buffer.data(), m_buffer.size(), MSG_DONTWAIT);
        if (n <= 0)
        {
            return 0;
        }
        frames[0] = {};
        frames[0].bytes = std::span(m_buffer).first(n);
        return 1;
    }

    size_t Transmit(std::span<const viaduct::io::FrameToSend> frames) override
    {
        for (const auto& frame : frames)
        {
            send(m_socket.get(), frame.data(), frame.size(), MSG_DONTWAIT);
        }
        return frames.size();
    }

    int fd() override
    {
        return m_socket.get();
    }

    viaduct::io::PortCounters Counters() override
    {
        return {};
    }

    bool Up() override
    {
        return true;
    }

  private:
    viaduct::UniqueFd m_socket;             //!< the socket
    std::array<std::byte, 2048> m_buffer{}; //!< the frame received
};

struct TestDevice;

/** Gives TestDevices their ports during its lifetime. */
class TestWires
{
  public:
    TestWires()
    {
        current = this;
    }

    virtual ~TestWires()
    {
        current = nullptr;
    }

    TestWires(const TestWires&) = delete;
    TestWires& operator=(const TestWires&) = delete;

    /** Gives a device a port, whose far ends are the device's queues. */
    virtual void Connect(TestDevice& device) = 0;
    /**
     * Stops the simulation when all frames have arrived.
     * @param time the earliest time of the stop
     * @param count returns the number of frames and datagrams
     */
    virtual void StopAfter(Time time, std::function<size_t()> count) = 0;

    static inline TestWires* current = nullptr; //!< the existing object; null: ports are in memory
};

/** Stops the simulation after a time; over real interfaces, not before all frames have arrived.
 * @param time the time at which all frames have arrived over ports in memory
 * @param count see TestWires::StopAfter()
 */
inline void
StopAfter(Time time, std::function<size_t()> count)
{
    if (TestWires::current)
    {
        return TestWires::current->StopAfter(time, std::move(count));
    }
    Simulator::Stop(time);
}

/** A device and the far ends of its port. */
struct TestDevice
{
    std::shared_ptr<Wire> in = std::make_shared<Wire>();  //!< frames to be received
    std::shared_ptr<Wire> out = std::make_shared<Wire>(); //!< frames that it sent
    QueuePort* port = nullptr;                            //!< the device's port in memory
    Ptr<RingNetDevice> device;                            //!< the device

    /**
     * @param node the device's node
     * @param address the device's address
     */
    TestDevice(Ptr<Node> node, const char* address)
    {
        Make(node, address);
    }

    /**
     * Makes the second device on the wire of @p peer, whose frames it receives.
     * @param node the device's node
     * @param address the device's address
     * @param peer the first device
     */
    TestDevice(Ptr<Node> node, const char* address, const TestDevice& peer)
        : in(peer.out), out(peer.in)
    {
        Make(node, address);
    }

  private:
    /**
     * @param node the device's node
     * @param address the device's address
     */
    void Make(Ptr<Node> node, const char* address)
    {
        device = CreateObject<RingNetDevice>();
        device->SetAddress(Mac48Address(address));
        if (TestWires::current)
        {
            TestWires::current->Connect(*this);
        }
        else
        {
            auto owned = std::make_unique<QueuePort>(in, out);
            port = owned.get();
            device->SetPort(std::move(owned));
        }
        node->AddDevice(device);
    }
};

/**
 * @param text hexadecimal bytes, blanks between them allowed
 * @return the bytes
 */
inline Frame
FromHex(const std::string& text)
{
    Frame frame;
    std::string digits;
    for (const char c : text)
    {
        if (c != ' ')
        {
            digits += c;
        }
    }
    for (size_t i = 0; i + 1 < digits.size(); i += 2)
    {
        frame.push_back(static_cast<std::byte>(std::stoi(digits.substr(i, 2), nullptr, 16)));
    }
    return frame;
}

} // namespace ns3::viaducttest

#endif /* VIADUCT_TEST_SUPPORT_H */
