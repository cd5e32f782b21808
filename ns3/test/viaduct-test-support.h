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

/** A clock that a test advances, and that each sleep of the reactor advances by the duration of the
 * sleep. A sleep without limit really blocks the thread, because only another thread can end it.
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

    /** Advances the clock by 100 ns, so that a spinning reactor stops spinning. */
    void Relax() override
    {
        Advance(viaduct::Duration::Nanoseconds(100));
    }

    /** Advances the clock.
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
    MANUAL, //!< a ManualReactorClock, which advances only while the reactor waits
    REAL    //!< the machine's clock
};

/** Makes the simulator a ReactorSimulatorImpl during the lifetime of this object. */
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
    ManualReactorClock* m_clock = nullptr; //!< the manual clock, owned by m_reactor; or null
};

/** The bytes of an Ethernet frame. */
using Frame = std::vector<std::byte>;
/** The queue of frames in transit in one direction. */
using Wire = std::deque<Frame>;

/** A port in memory: sent frames are added to one queue, and received frames are taken from another
 * queue. */
class QueuePort : public viaduct::io::AnyPort
{
  public:
    /**
     * @param in the queue of frames that the port receives
     * @param out the queue of frames that the port has sent
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

    /** Adds the metadata that a kernel would give to a received frame; set by the test. */
    std::function<void(viaduct::io::ReceivedFrame&)> m_describe = [](viaduct::io::ReceivedFrame&) {
    };
    size_t m_room = std::numeric_limits<size_t>::max();    //!< remaining capacity, in frames
    size_t m_longest = std::numeric_limits<size_t>::max(); //!< maximum size of a frame, bytes
    bool m_keeps = false;                                  //!< whether sent frames remain in flight
    size_t m_bytesInFlight = 0;                            //!< bytes in flight; set by the test
    int m_transmitFd = -1;                                 //!< descriptor that TransmitFd() returns
    size_t m_transmits = 0;                                //!< number of calls of Transmit()
    size_t m_largestBurst = 0;                             //!< most frames that Receive() returned

  private:
    std::shared_ptr<Wire> m_in;      //!< frames that the port receives
    std::shared_ptr<Wire> m_out;     //!< frames that the port has sent
    std::deque<Frame> m_lent;        //!< frames of the last Receive()
    std::vector<uint32_t> m_refused; //!< indexes of frames that the last Transmit() refused
};

/** A port that uses a datagram socket: each datagram is an Ethernet frame. */
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
    std::array<std::byte, 2048> m_buffer{}; //!< bytes of the last received frame
};

struct TestDevice;

/** Creates the ports of TestDevices during the lifetime of this object. */
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

    /** Gives a device a port that receives frames from the device's queue `in` and sends frames to
     * its queue `out`. */
    virtual void Connect(TestDevice& device) = 0;
    /**
     * Stops the simulation after all frames have arrived.
     * @param time the earliest time of the stop
     * @param count the function that returns the number of frames and datagrams that have arrived
     */
    virtual void StopAfter(Time time, std::function<size_t()> count) = 0;

    static inline TestWires* current = nullptr; //!< the existing object; null: ports are QueuePorts
};

/** Stops the simulation at a time. If a TestWires object exists, whose ports may use real
 * interfaces, the simulation stops only after all frames have arrived.
 * @param time the time at which all frames have arrived if ports are in memory
 * @param count the function that returns the number of frames and datagrams that have arrived
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

/** A RingNetDevice and the queues of the frames that its port receives and sends. */
struct TestDevice
{
    std::shared_ptr<Wire> in = std::make_shared<Wire>();  //!< frames that the port will receive
    std::shared_ptr<Wire> out = std::make_shared<Wire>(); //!< frames that the port has sent
    QueuePort* port = nullptr;                            //!< the device's port, if it is in memory
    Ptr<RingNetDevice> device;                            //!< the device

    /** Makes a device on a separate wire.
     * @param node the device's node
     * @param address the device's MAC address
     */
    TestDevice(Ptr<Node> node, const char* address)
    {
        Make(node, address);
    }

    /**
     * Makes a device that receives the frames that @p peer sends, and sends frames to @p peer.
     * @param node the device's node
     * @param address the device's MAC address
     * @param peer the device at the other end of the wire
     */
    TestDevice(Ptr<Node> node, const char* address, const TestDevice& peer)
        : in(peer.out), out(peer.in)
    {
        Make(node, address);
    }

  private:
    /** Creates the device and its port and adds the device to the node.
     * @param node the device's node
     * @param address the device's MAC address
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
 * @param text bytes as hexadecimal digits; may contain spaces
 * @return the bytes of the text
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
