/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/device/test/interface-test-support.h"

#include "ns3/dynamic-queue-limits.h"
#include "ns3/net-device-queue-interface.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include "base/wire/bytes.h"

#include <sys/eventfd.h>

/**
 * @file
 * @ingroup viaduct
 * Tests of ns3::RingNetDevice below ns-3's traffic control.
 */

using namespace ns3;
using namespace ns3::viaducttest;

namespace
{

/** Tests that a device with FlowControl stops its transmission queue when the ring is full, and
 * wakes the queue when the port accepts frames again. */
class FlowControlTestCase : public TestCase
{
  public:
    FlowControlTestCase()
        : TestCase("with FlowControl, a full queue stops the layer above and wakes it")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        Ptr<Node> node = CreateObject<Node>();
        TestDevice plain(node, "02:00:00:00:00:01");
        NS_TEST_EXPECT_MSG_EQ((plain.device->GetObject<NetDeviceQueueInterface>() == nullptr),
                              true,
                              "no queue interface unless asked for");
        Ptr<RingNetDevice> device = CreateObjectWithAttributes<RingNetDevice>(
            "FlowControl", BooleanValue(true), "TxQueueSize", UintegerValue(2));
        auto owned =
            std::make_unique<QueuePort>(std::make_shared<Wire>(), std::make_shared<Wire>());
        QueuePort* port = owned.get();
        device->SetPort(std::move(owned));
        node->AddDevice(device);
        auto queues = device->GetObject<NetDeviceQueueInterface>();
        NS_TEST_ASSERT_MSG_EQ((queues != nullptr), true, "queue interface");
        Simulator::Schedule(MilliSeconds(1), [&] {
            port->m_room = 0;
            for (int i = 0; i < 3; ++i)
            {
                device->Send(Create<Packet>(10), device->GetBroadcast(), 0x88b5);
            }
            NS_TEST_EXPECT_MSG_EQ(queues->GetTxQueue(0)->IsStopped(), true, "stopped");
            port->m_room = 10;
        });
        Simulator::Stop(MilliSeconds(2));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(queues->GetTxQueue(0)->IsStopped(), false, "woken");
    }
};

/** A device with flow control, a queue disc above it, and a port that keeps frames in flight. */
class LimitedDevice
{
  public:
    /**
     * @param limits whether the queue has queue limits
     */
    explicit LimitedDevice(bool limits)
    {
        Ptr<Node> node = CreateObject<Node>();
        device = CreateObjectWithAttributes<RingNetDevice>(
            "FlowControl", BooleanValue(true), "TxQueueSize", UintegerValue(4));
        auto owned = std::make_unique<QueuePort>(std::make_shared<Wire>(), sent);
        port = owned.get();
        device->SetPort(std::move(owned));
        node->AddDevice(device);
        queue = device->GetObject<NetDeviceQueueInterface>()->GetTxQueue(0);
        if (limits)
        {
            // Queue limits accept one frame beyond the limit, as in Linux.
            queue->SetQueueLimits(CreateObjectWithAttributes<DynamicQueueLimits>(
                "MinLimit", UintegerValue(250), "MaxLimit", UintegerValue(250)));
        }
        queue->SetWakeCallback(Callback<void>([this] {
            wakes++;
            SendAll();
        }));
        device->TraceConnectWithoutContext(
            "InFlight", Callback<void, uint32_t, uint32_t>([this](uint32_t, uint32_t now) {
                most = std::max(most, now);
            }));
    }

    /** Sends the packets that wait in the layer above until the queue is stopped, as a queue disc
     * does. */
    void SendAll()
    {
        for (; backlog > 0 && !queue->IsStopped(); --backlog)
        {
            // Each frame has 100 bytes.
            device->Send(Create<Packet>(86), device->GetBroadcast(), 0x88b5);
        }
    }

    std::shared_ptr<Wire> sent = std::make_shared<Wire>(); //!< frames that the port accepted
    QueuePort* port = nullptr;                             //!< the device's port
    Ptr<RingNetDevice> device;                             //!< the device
    Ptr<NetDeviceQueue> queue;                             //!< the device's transmission queue
    int backlog = 0;                                       //!< packets in the layer above
    int wakes = 0;                                         //!< wake-ups of the layer above
    uint32_t most = 0;                                     //!< maximum number of bytes in flight
};

/** Queue limits count a frame as transmitted when it has left the port, not when the port accepts
 * it. */
class QueueLimitsTestCase : public TestCase
{
  public:
    /**
     * @param descriptor whether the port reports when frames have left; otherwise it is polled
     */
    explicit QueueLimitsTestCase(bool descriptor)
        : TestCase(std::string("queue limits hold until frames have left; a port that ") +
                   (descriptor ? "says when" : "has to be asked")),
          m_descriptor(descriptor)
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        LimitedDevice d(true);
        viaduct::UniqueFd event{eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)};
        const auto leave = [&](size_t bytes) {
            d.port->m_bytesInFlight = bytes;
            eventfd_t count;
            eventfd_read(event.get(), &count); // triggers the event "writable" again
            eventfd_write(event.get(), 1);
        };
        d.port->m_transmitFd = m_descriptor ? event.get() : -1;
        d.port->m_keeps = true;
        d.backlog = 20;
        Simulator::Schedule(MilliSeconds(1), [&] { d.SendAll(); });
        Simulator::Schedule(MilliSeconds(5), [&] {
            // The first frame stops the queue: before any frame has left, the queue limit is 0.
            NS_TEST_EXPECT_MSG_EQ(d.sent->size(), 1, "before any has left");
            NS_TEST_EXPECT_MSG_EQ(d.queue->IsStopped(), true, "stopped by limits");
            NS_TEST_EXPECT_MSG_EQ(d.device->GetBytesInFlight(), 100, "in flight");
            UintegerValue attribute;
            d.device->GetAttribute("BytesInFlight", attribute);
            NS_TEST_EXPECT_MSG_EQ(attribute.Get(), 100, "the attribute");
            leave(0);
        });
        Simulator::Schedule(MilliSeconds(10), [&] {
            NS_TEST_EXPECT_MSG_EQ(d.sent->size(), 4, "three, one of them beyond the limit");
            NS_TEST_EXPECT_MSG_EQ(d.most, 300, "in flight");
            d.port->m_transmits = 0;
            d.wakes = 0;
            leave(200);
        });
        Simulator::Schedule(MilliSeconds(15), [&] {
            NS_TEST_EXPECT_MSG_EQ(d.wakes, 1, "woken, once");
            NS_TEST_EXPECT_MSG_EQ(d.sent->size(), 5, "for one frame");
            NS_TEST_EXPECT_MSG_EQ(d.port->m_transmits, 1, "no attempts in vain");
            d.device->SetPort(std::make_unique<QueuePort>(std::make_shared<Wire>(), d.sent));
        });
        Simulator::Stop(MilliSeconds(17));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(d.most, 300, "never more");
        NS_TEST_EXPECT_MSG_EQ(d.backlog, 0, "what is in flight ends with its port");
        NS_TEST_EXPECT_MSG_EQ(d.device->GetBytesInFlight(), 0, "in the end");
        NS_TEST_EXPECT_MSG_EQ(d.sent->size(), 20, "sent");
        NS_TEST_EXPECT_MSG_EQ(d.device->GetTotalDrops(), 0, "nothing is dropped");
    }

    bool m_descriptor; //!< whether the port reports when frames have left
};

/** A port that temporarily accepts no more frames stops the queue before a packet is lost. */
class FullPortTestCase : public TestCase
{
  public:
    FullPortTestCase() : TestCase("a port that is full stops the queue before a packet is lost")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        LimitedDevice d(false);
        d.port->m_room = 2;
        d.backlog = 20;
        Simulator::Schedule(MilliSeconds(1), [&] { d.SendAll(); });
        Simulator::Schedule(MilliSeconds(20), [&] {
            NS_TEST_EXPECT_MSG_EQ(d.backlog, 14, "two with the port, four in the device");
            NS_TEST_EXPECT_MSG_EQ(d.queue->IsStopped(), true, "stopped");
            NS_TEST_EXPECT_MSG_LT(d.port->m_transmits, 30, "asked at most once a millisecond");
            d.port->m_room = 1000;
        });
        Simulator::Stop(MilliSeconds(22));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(d.sent->size(), 20, "sent");
        NS_TEST_EXPECT_MSG_EQ(d.device->GetTotalDrops(), 0, "nothing is dropped");
    }
};

/** Queue limits that are set while frames are in flight do not count these frames. */
class LateLimitsTestCase : public TestCase
{
  public:
    LateLimitsTestCase() : TestCase("queue limits are not told of frames that were sent before")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        LimitedDevice d(false);
        d.port->m_keeps = true;
        d.backlog = 3;
        Simulator::Schedule(MilliSeconds(1), [&] { d.SendAll(); });
        Simulator::Schedule(MilliSeconds(2), [&] {
            d.queue->SetQueueLimits(CreateObject<DynamicQueueLimits>());
            d.backlog = 1;
            d.SendAll();
            NS_TEST_EXPECT_MSG_EQ(d.queue->IsStopped(), true, "stopped by limits");
        });
        Simulator::Schedule(MilliSeconds(6), [&] { d.port->m_bytesInFlight = 100; });
        Simulator::Schedule(MilliSeconds(9), [&] {
            NS_TEST_EXPECT_MSG_EQ(d.queue->IsStopped(), true, "those that left were not limited");
            d.port->m_bytesInFlight = 0;
        });
        Simulator::Stop(MilliSeconds(12));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(d.queue->IsStopped(), false, "woken");
    }
};

/** Queue limits work when frames wait in the kernel, before a slow link beyond the interface's
 * peer. */
class SlowLinkTestCase : public PortTestCase
{
  public:
    explicit SlowLinkTestCase(const std::string& kind)
        : PortTestCase(kind, "queue limits hold before a slow link; all arrives, in order")
    {
    }

  private:
    static constexpr uint32_t PACKETS = 400;     //!< frames sent
    static constexpr uint32_t PAYLOAD = 1000;    //!< payload of each packet, bytes
    static constexpr uint16_t PROTOCOL = 0x88b5; //!< EtherType that the kernels do not send

    void RunOnInterfaces() override
    {
        ReactorScope reactor(TestTime::REAL);
        TestInterface link;
        // The topology: b0 --- a0, a bridge, c0 --- d0. Frames that wait at c0 still count as in
        // flight at b0, because the bridge does not release them.
        const auto& outside = link.network.a;
        outside.Run("ip link add br0 type bridge; ip link add c0 type veth peer name d0");
        outside.Run("for i in a0 c0; do ip link set $i master br0; done");
        outside.Run("for i in br0 c0 d0; do ip link set $i up; done");
        outside.Run("tc qdisc add dev c0 root tbf rate 20mbit burst 3kb limit 10mb");
        viaduct::io::RingPort end(outside.PacketSocket(), {.ifindex = outside.IfIndex("d0")});
        Ptr<RingNetDevice> device = CreateObjectWithAttributes<RingNetDevice>(
            "FlowControl", BooleanValue(true), "TxQueueSize", UintegerValue(16));
        link.Open(device, m_kind);
        device->SetAttribute("Filter", StringValue("ether proto 0x88b5"));
        CreateObject<Node>()->AddDevice(device);
        Ptr<NetDeviceQueue> queue = device->GetObject<NetDeviceQueueInterface>()->GetTxQueue(0);
        queue->SetQueueLimits(CreateObject<DynamicQueueLimits>());
        uint32_t sent = 0;
        uint32_t wakes = 0;
        const auto send = [&] {
            for (; sent < PACKETS && !queue->IsStopped(); ++sent)
            {
                Frame payload(PAYLOAD);
                viaduct::wire::Store32(payload.data(), sent);
                device->Send(
                    Create<Packet>(reinterpret_cast<const uint8_t*>(payload.data()), PAYLOAD),
                    Mac48Address("02:00:00:00:00:77"),
                    PROTOCOL);
            }
        };
        queue->SetWakeCallback(Callback<void>([&] {
            wakes++;
            send();
        }));
        uint32_t most = 0;
        device->TraceConnectWithoutContext(
            "InFlight", Callback<void, uint32_t, uint32_t>([&](uint32_t, uint32_t now) {
                most = std::max(most, now);
            }));
        std::vector<Frame> arrived;
        Simulator::Schedule(MilliSeconds(1), [&] {
            send();
            StopWhen([&] {
                for (Frame& frame : TakeFrames(end))
                {
                    if (viaduct::wire::Load16(frame.data() + 12) == PROTOCOL)
                    {
                        arrived.push_back(std::move(frame));
                    }
                }
                return arrived.size() >= PACKETS && device->GetBytesInFlight() == 0;
            });
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(arrived.size(), PACKETS, "arrived");
        for (uint32_t i = 0; i < arrived.size(); ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(viaduct::wire::Load32(arrived[i].data() + 14), i, "in order");
        }
        NS_TEST_EXPECT_MSG_GT(wakes, 1, "stopped, and woken when frames had left");
        NS_TEST_EXPECT_MSG_GT(most, 2 * PAYLOAD, "in flight below the device");
        NS_TEST_EXPECT_MSG_LT(most, PACKETS * PAYLOAD / 4, "the rest waited above it");
        NS_TEST_EXPECT_MSG_EQ(device->GetBytesInFlight(), 0, "in the end");
        NS_TEST_EXPECT_MSG_EQ(device->GetTotalDrops(), 0, "nothing is dropped");
        Simulator::Destroy();
    }
};

/** The tests of ns3::RingNetDevice with the attribute FlowControl. */
class RingFlowControlTestSuite : public TestSuite
{
  public:
    RingFlowControlTestSuite() : TestSuite("viaduct-ring-flow-control", Type::UNIT)
    {
        AddTestCase(new FlowControlTestCase, TestCase::Duration::QUICK);
        AddTestCase(new QueueLimitsTestCase(true), TestCase::Duration::QUICK);
        AddTestCase(new QueueLimitsTestCase(false), TestCase::Duration::QUICK);
        AddTestCase(new FullPortTestCase, TestCase::Duration::QUICK);
        AddTestCase(new LateLimitsTestCase, TestCase::Duration::QUICK);
        for (const std::string kind : PORT_KINDS)
        {
            AddTestCase(new SlowLinkTestCase(kind), TestCase::Duration::QUICK);
        }
    }
};

RingFlowControlTestSuite g_ringFlowControlTestSuite; //!< registers the suite

} // namespace
