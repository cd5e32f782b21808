/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test/viaduct-test-support.h"

#include "ns3/bridge-net-device.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/socket.h"
#include "ns3/test.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"

#include "base/wire/test/packet_builder.h"

#include <sstream>
#include <sys/socket.h>
#include <thread>
#include <utility>

/**
 * @file
 * @ingroup viaduct
 * Tests of ns3::RingNetDevice over ports in memory.
 */

using namespace ns3;
using namespace ns3::viaducttest;
namespace packet = viaduct::wire::packet;

namespace
{

/** Counts the drops that a device's trace source reports. */
struct TracedDrops
{
    std::array<int, RingNetDevice::N_DROP_REASONS> drops{}; //!< dropped frames by reason

    /**
     * @param device the device whose drops are counted
     * @param source MacRxDrop or MacTxDrop
     */
    TracedDrops(Ptr<RingNetDevice> device, const char* source)
    {
        device->TraceConnectWithoutContext(
            source,
            Callback<void, Ptr<const Packet>, RingNetDevice::DropReason>(
                [this](Ptr<const Packet>, RingNetDevice::DropReason reason) { drops[reason]++; }));
    }
};

/** A UDP server echoes a datagram across two devices, which resolve their addresses with ARP. */
class UdpEchoTestCase : public TestCase
{
  public:
    /**
     * @param size bytes of payload
     */
    explicit UdpEchoTestCase(uint32_t size)
        : TestCase("UDP echo of " + std::to_string(size) + " bytes across two devices"),
          m_size(size)
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        NodeContainer nodes(2);
        TestDevice a(nodes.Get(0), "02:00:00:00:00:01");
        TestDevice b(nodes.Get(1), "02:00:00:00:00:02", a);
        InternetStackHelper().Install(nodes);
        Ipv4AddressHelper addresses("10.1.1.0", "255.255.255.0");
        addresses.Assign(
            NetDeviceContainer(NetDeviceContainer(a.device), NetDeviceContainer(b.device)));

        Ptr<Socket> server = Socket::CreateSocket(nodes.Get(1), UdpSocketFactory::GetTypeId());
        server->Bind(InetSocketAddress(Ipv4Address::GetAny(), 9));
        server->SetRecvCallback(Callback<void, Ptr<Socket>>([](Ptr<Socket> socket) {
            Address from;
            Ptr<Packet> packet = socket->RecvFrom(from);
            socket->SendTo(packet, 0, from);
        }));
        Ptr<Socket> client = Socket::CreateSocket(nodes.Get(0), UdpSocketFactory::GetTypeId());
        client->Bind();
        std::vector<uint8_t> sent(m_size);
        for (size_t i = 0; i < sent.size(); ++i)
        {
            sent[i] = static_cast<uint8_t>(i * 7 + 3);
        }
        std::vector<uint8_t> received;
        client->SetRecvCallback(Callback<void, Ptr<Socket>>([&](Ptr<Socket> socket) {
            Ptr<Packet> packet = socket->Recv();
            received.resize(packet->GetSize());
            packet->CopyData(received.data(), received.size());
        }));
        Simulator::Schedule(MilliSeconds(1), [&] {
            client->SendTo(
                Create<Packet>(sent.data(), sent.size()), 0, InetSocketAddress("10.1.1.2", 9));
        });
        Simulator::Stop(MilliSeconds(100));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ((received == sent), true, "what came back");
        NS_TEST_EXPECT_MSG_EQ(a.device->GetTotalDrops() + b.device->GetTotalDrops(), 0, "drops");
    }

    uint32_t m_size; //!< bytes of payload
};

/** Tests that each bad frame is counted under the reason of its drop, and that no bad frame ends
 * the simulator. */
class RxDropTestCase : public TestCase
{
  public:
    RxDropTestCase() : TestCase("bad frames are dropped, each with its reason")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        TestDevice d(CreateObject<Node>(), "02:00:00:00:00:01");
        TracedDrops counter(d.device, "MacRxDrop");
        const std::string me = "020000000001 020000000002 ";
        const std::string ipv4 = "0000 0000 4011 0000 0a000001 0a000002 ";
        d.in->push_back(FromHex("0200 0000"));
        d.in->push_back(FromHex(me + "0004 4242")); // 802.3 length longer than the frame
        d.in->push_back(FromHex("020000000009 020000000002 88b5 00"));
        d.in->push_back(FromHex(me + "0800 4500 0014"));         // truncated IPv4 header
        d.in->push_back(FromHex(me + "0800 4500 0040 " + ipv4)); // total length exceeds the frame
        d.in->push_back(FromHex(me + "0800 4500 0018 " + ipv4 + "00010002")); // truncated UDP
        d.in->push_back(FromHex(me + "0806 0001 0800 06 04 0001"));           // truncated ARP
        d.in->push_back(
            FromHex(me + "0800 4600 0018 00000000 4002 0000 0a000001 0a000002 94040000"));
        d.in->push_back(FromHex(me + "88b5"));
        d.in->back().resize(14 + 1501);
        d.in->push_back(FromHex(me + "88b5"));
        d.in->back().resize(14 + 1500); // the maximum length of a frame
        uint32_t received = 0;
        d.device->SetReceiveCallback(
            Callback<bool, Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&>(
                [&](Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address&) {
                    received = packet->GetSize();
                    return true;
                }));
        Simulator::Stop(MilliSeconds(1));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(counter.drops[RingNetDevice::RX_RUNT], 2, "runts");
        NS_TEST_EXPECT_MSG_EQ(counter.drops[RingNetDevice::RX_NOT_FOR_ME], 1, "for others");
        NS_TEST_EXPECT_MSG_EQ(counter.drops[RingNetDevice::RX_MALFORMED], 4, "malformed");
        NS_TEST_EXPECT_MSG_EQ(counter.drops[RingNetDevice::RX_IP_OPTIONS], 1, "options");
        NS_TEST_EXPECT_MSG_EQ(counter.drops[RingNetDevice::RX_TOO_LONG], 1, "too long");
        NS_TEST_EXPECT_MSG_EQ(d.device->GetTotalDrops(), 8, "counted, but those for others");
        NS_TEST_EXPECT_MSG_EQ(received, 1500, "the good one");
    }
};

/** Tests that the device interprets Ethernet II headers, 802.3 headers with SNAP, and the padding
 * of received frames. */
class RxFormatTestCase : public TestCase
{
  public:
    RxFormatTestCase()
        : TestCase("Ethernet II, 802.3 with SNAP, and padding are understood; traces fire")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        Ptr<Node> node = CreateObject<Node>();
        TestDevice d(node, "02:00:00:00:00:01");
        std::ostringstream log;
        d.device->SetReceiveCallback(
            Callback<bool, Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&>(
                [&](Ptr<NetDevice>,
                    Ptr<const Packet> packet,
                    uint16_t protocol,
                    const Address& from) {
                    log << std::hex << protocol << "/" << packet->GetSize() << "/"
                        << Mac48Address::ConvertFrom(from) << "/" << Simulator::GetContext() << " ";
                    return true;
                }));
        int types = 0;
        d.device->SetPromiscReceiveCallback(
            Callback<bool,
                     Ptr<NetDevice>,
                     Ptr<const Packet>,
                     uint16_t,
                     const Address&,
                     const Address&,
                     NetDevice::PacketType>([&](Ptr<NetDevice>,
                                                Ptr<const Packet>,
                                                uint16_t,
                                                const Address&,
                                                const Address&,
                                                NetDevice::PacketType type) {
                types = types * 10 + type;
                return true;
            }));
        int sniffed = 0;
        int promiscuous = 0;
        uint32_t length = 0;
        d.device->TraceConnectWithoutContext(
            "Sniffer", Callback<void, Ptr<const Packet>>([&](Ptr<const Packet>) { sniffed++; }));
        d.device->TraceConnectWithoutContext(
            "PromiscSniffer", Callback<void, Ptr<const Packet>>([&](Ptr<const Packet> packet) {
                promiscuous++;
                length = packet->GetSize();
            }));
        d.in->push_back(FromHex("020000000001 020000000002 88b5 0102"));
        d.in->push_back(FromHex("ffffffffffff 020000000002 000b aaaa03 000000 88b6 010203 0000"));
        d.in->push_back(FromHex("01005e000005 020000000002 0003 424203 00000000"));
        d.in->push_back(FromHex("020000000007 020000000002 88b5 0102"));
        Simulator::Stop(MilliSeconds(1));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(log.str(),
                              "88b5/2/02:00:00:00:00:02/0 88b6/3/02:00:00:00:00:02/0 "
                              "3/3/02:00:00:00:00:02/0 ",
                              "type, payload, source, context");
        NS_TEST_EXPECT_MSG_EQ(types, 1234, "host, broadcast, multicast, other host");
        NS_TEST_EXPECT_MSG_EQ(sniffed, 3, "frames for the device");
        NS_TEST_EXPECT_MSG_EQ(promiscuous, 4, "all frames");
        NS_TEST_EXPECT_MSG_EQ(length, 16, "a whole frame");
        NS_TEST_EXPECT_MSG_EQ(d.device->GetTotalDrops(), 0, "drops");
    }
};

/** The device sends frames in bursts, queues frames that the port does not accept, and drops frames
 * when the queue is full. */
class TxTestCase : public TestCase
{
  public:
    TxTestCase() : TestCase("frames leave in one burst a turn; a full queue drops and recovers")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        Ptr<Node> node = CreateObject<Node>();
        TestDevice d(node, "02:00:00:00:00:01");
        d.device->SetAttribute("TxQueueSize", UintegerValue(10));
        TracedDrops counter(d.device, "MacTxDrop");
        int sent = 0;
        const auto send = [&](int n, uint32_t size) {
            for (int i = 0; i < n; ++i)
            {
                sent +=
                    d.device->Send(Create<Packet>(size), Mac48Address("02:00:00:00:00:02"), 0x88b5);
            }
        };
        send(1, 100); // dropped: the device is not initialized yet
        NS_TEST_EXPECT_MSG_EQ(counter.drops[RingNetDevice::TX_LINK_DOWN], 1, "before the start");
        Simulator::Schedule(MilliSeconds(1), [&] { send(6, 100); });
        Simulator::Schedule(MilliSeconds(2), [&] {
            NS_TEST_EXPECT_MSG_EQ(d.port->m_transmits, 1, "one burst");
            NS_TEST_EXPECT_MSG_EQ(d.out->size(), 6, "frames");
            send(1, 1501);
            send(1, 1500);
        });
        Simulator::Schedule(MilliSeconds(3), [&] {
            NS_TEST_EXPECT_MSG_EQ(counter.drops[RingNetDevice::TX_TOO_LONG], 1, "over the MTU");
            NS_TEST_EXPECT_MSG_EQ(d.out->back().size(), 1514, "as long as the MTU");
            d.port->m_room = 3;
            d.out->clear();
            send(15, 100); // the port accepts 3 frames, the queue 10
            NS_TEST_EXPECT_MSG_EQ(counter.drops[RingNetDevice::TX_QUEUE_FULL], 2, "queue full");
        });
        Simulator::Schedule(MilliSeconds(4), [&] {
            NS_TEST_EXPECT_MSG_EQ(d.out->size(), 3, "taken");
            d.port->m_room = 1000;
        });
        Simulator::Schedule(MilliSeconds(5), [&] {
            NS_TEST_EXPECT_MSG_EQ(d.out->size(), 13, "the rest was kept, and sent");
            d.device->SetLinkUp(false);
            send(1, 100);
        });
        Simulator::Stop(MilliSeconds(6));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(counter.drops[RingNetDevice::TX_LINK_DOWN], 2, "link down");
        NS_TEST_EXPECT_MSG_EQ(sent, 20, "frames that Send() accepted");
        NS_TEST_EXPECT_MSG_EQ(d.device->GetTotalDrops(), 5, "drops");
        const Frame& frame = d.out->front();
        const Frame header = FromHex("020000000002 020000000001 88b5");
        NS_TEST_EXPECT_MSG_EQ(
            std::equal(header.begin(), header.end(), frame.begin()), true, "header");
        NS_TEST_EXPECT_MSG_EQ(frame.size(), 114, "length");
    }
};

/** Frames pass unchanged between two devices under ns-3's bridge. */
class BridgeTestCase : public TestCase
{
  public:
    BridgeTestCase() : TestCase("frames of others pass a bridge unchanged")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        Ptr<Node> node = CreateObject<Node>();
        TestDevice a(node, "02:00:00:00:00:01");
        TestDevice b(node, "02:00:00:00:00:02");
        Ptr<BridgeNetDevice> bridge = CreateObject<BridgeNetDevice>();
        node->AddDevice(bridge);
        bridge->AddBridgePort(a.device);
        bridge->AddBridgePort(b.device);
        const Frame there = FromHex("0200000000bb 0200000000aa 88b5 0102030405");
        const Frame back = FromHex("0200000000aa 0200000000bb 88b5 0607");
        a.in->push_back(there);
        Simulator::Schedule(MilliSeconds(1), [&] { b.in->push_back(back); });
        Simulator::Stop(MilliSeconds(2));
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(b.out->size(), 1, "flooded to the other port");
        NS_TEST_EXPECT_MSG_EQ((b.out->front() == there), true, "unchanged");
        NS_TEST_ASSERT_MSG_EQ(a.out->size(), 1, "learnt");
        NS_TEST_EXPECT_MSG_EQ((a.out->front() == back), true, "unchanged");
    }
};

/** Tests that an event that becomes due interrupts a long burst of received frames. */
class YieldTestCase : public TestCase
{
  public:
    YieldTestCase() : TestCase("a due event interrupts a burst, and no frame is lost")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        Ptr<Node> node = CreateObject<Node>();
        TestDevice d(node, "02:00:00:00:00:01");
        int received = 0;
        int receivedAtEvent = -1;
        Time last;
        d.device->SetReceiveCallback(
            Callback<bool, Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&>(
                [&](Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address&) {
                    uint8_t number;
                    packet->CopyData(&number, 1);
                    NS_TEST_EXPECT_MSG_EQ(static_cast<int>(number), received, "order");
                    NS_TEST_EXPECT_MSG_EQ((Simulator::Now() >= last), true, "time goes forward");
                    last = Simulator::Now();
                    received++;
                    // The clock advances by the time that one frame takes.
                    reactor.Clock().Advance(viaduct::Duration::Microseconds(10));
                    return true;
                }));
        for (int i = 0; i < 60; ++i)
        {
            d.in->push_back(FromHex("020000000001 020000000002 88b5 00"));
            d.in->back().back() = static_cast<std::byte>(i);
        }
        Simulator::Schedule(MicroSeconds(95), [&] { receivedAtEvent = received; });
        Simulator::Stop(MilliSeconds(2));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(received, 60, "frames");
        NS_TEST_EXPECT_MSG_EQ(d.port->m_largestBurst, 60, "received in one burst");
        NS_TEST_EXPECT_MSG_EQ(receivedAtEvent, 12, "the event waited for at most four frames");
    }
};

/** Tests a port that has a file descriptor, under each simulator that runs in real time. No delays
 * are used. */
class SocketTestCase : public TestCase
{
  public:
    /**
     * @param simulator the name of the simulator's TypeId
     */
    explicit SocketTestCase(const std::string& simulator)
        : TestCase("a port with a descriptor under " + simulator), m_simulator(simulator)
    {
    }

  private:
    void DoRun() override
    {
        // The number of frames to send; the queue of a UNIX socket holds all of them
        // (net.unix.max_dgram_qlen).
        constexpr int FRAMES = 8;
        GlobalValue::Bind("SimulatorImplementationType", StringValue(m_simulator));
        int fds[2];
        NS_TEST_ASSERT_MSG_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0, "sockets");
        viaduct::UniqueFd far{fds[1]};
        Ptr<Node> node = CreateObject<Node>();
        Ptr<RingNetDevice> device = CreateObject<RingNetDevice>();
        device->SetAddress(Mac48Address("02:00:00:00:00:01"));
        device->SetPort(std::make_unique<SocketPort>(viaduct::UniqueFd(fds[0])));
        node->AddDevice(device);
        const auto main = std::this_thread::get_id();
        bool wrongThread = false;
        bool wrongContext = false;
        int received = 0;
        device->SetReceiveCallback(
            Callback<bool, Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&>(
                [&](Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address& from) {
                    wrongThread |= std::this_thread::get_id() != main;
                    wrongContext |= Simulator::GetContext() != node->GetId();
                    device->Send(packet->Copy(), from, 0x88b5);
                    if (++received == FRAMES)
                    {
                        Simulator::Stop(Time(1)); // the replies leave before the stop
                    }
                    return true;
                }));
        Frame frame = FromHex("020000000001 020000000002 88b5 00");
        for (int i = 0; i < FRAMES; ++i)
        {
            frame.back() = static_cast<std::byte>(i);
            send(far.get(), frame.data(), frame.size(), MSG_DONTWAIT);
        }
        Simulator::Run();
        const Frame reply = FromHex("020000000002 020000000001 88b5");
        for (int i = 0; i < received; ++i)
        {
            Frame got(64);
            const auto n = recv(far.get(), got.data(), got.size(), MSG_DONTWAIT);
            NS_TEST_ASSERT_MSG_EQ(n, static_cast<ssize_t>(frame.size()), "reply " << i);
            NS_TEST_EXPECT_MSG_EQ(
                std::equal(reply.begin(), reply.end(), got.begin()), true, "header");
            NS_TEST_EXPECT_MSG_EQ(std::to_integer<int>(got[14]), i, "order");
        }
        NS_TEST_EXPECT_MSG_EQ(received, FRAMES, "frames received");
        NS_TEST_EXPECT_MSG_EQ(wrongThread, false, "ns-3 runs in one thread");
        NS_TEST_EXPECT_MSG_EQ(wrongContext, false, "context");
        NS_TEST_EXPECT_MSG_EQ(device->GetTotalDrops(), 0, "drops");
        Simulator::Destroy();
        GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::DefaultSimulatorImpl"));
    }

    std::string m_simulator; //!< name of the simulator's TypeId
};

/** Tests that super-frames are split and partial checksums completed before ns-3 receives the
 * frames: the offloads of local senders leave both to the device. */
class OffloadTestCase : public TestCase
{
  public:
    OffloadTestCase() : TestCase("super-frames are cut and partial checksums completed")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        Ptr<Node> node = CreateObject<Node>();
        TestDevice d(node, "02:00:00:00:00:01");
        const packet::Ethernet ethernet{.source = "02:00:00:00:00:02",
                                        .destination = "02:00:00:00:00:01"};
        Frame whole =
            packet::Build(ethernet / packet::Ipv4{} / packet::Udp{} / packet::Counting(4000));
        constexpr size_t UDP = 14 + 20;
        // The checksum field contains the sum of the pseudo-header (RFC 768), as the kernel leaves
        // it for an offload.
        const uint32_t length = 4008;
        uint32_t sum = 0x0a00 + 0x0001 + 0x0a00 + 0x0002 + 17 + length;
        sum = (sum & 0xffff) + (sum >> 16);
        whole[UDP + 6] = static_cast<std::byte>(sum >> 8);
        whole[UDP + 7] = static_cast<std::byte>(sum & 0xff);
        d.in->push_back(whole);
        d.in->push_back(FromHex("020000000001 020000000002 88b5 01"));
        uint16_t gso = 1400;
        d.port->m_describe = [&gso](viaduct::io::ReceivedFrame& frame) {
            frame.gso_size = std::exchange(gso, 0);
            frame.checksum = viaduct::io::Checksum::kPartial;
            frame.checksum_start = UDP; // beyond the second frame's end
            frame.checksum_offset = 6;
        };
        std::vector<Frame> frames;
        d.device->TraceConnectWithoutContext(
            "MacRx", Callback<void, Ptr<const Packet>>([&](Ptr<const Packet> p) {
                frames.emplace_back(p->GetSize());
                p->CopyData(reinterpret_cast<uint8_t*>(frames.back().data()), p->GetSize());
            }));
        Simulator::Stop(MilliSeconds(1));
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(frames.size(), 3, "frames");
        for (const Frame& frame : frames)
        {
            const std::string text = packet::Describe(frame);
            NS_TEST_EXPECT_MSG_EQ((text.find("checksum good") != std::string::npos), true, text);
        }
        NS_TEST_EXPECT_MSG_EQ(frames.front().size(), UDP + 8 + 1400, "the first");
        NS_TEST_EXPECT_MSG_EQ(frames.back().size(), UDP + 8 + 1200, "the last");
        NS_TEST_EXPECT_MSG_EQ(d.device->GetDrops(RingNetDevice::RX_SUPER_FRAME), 1, "nonsense");
    }
};

/** The tests of ns3::RingNetDevice. */
class RingNetDeviceTestSuite : public TestSuite
{
  public:
    RingNetDeviceTestSuite() : TestSuite("viaduct-ring-device", Type::UNIT)
    {
        AddTestCase(new UdpEchoTestCase(160), TestCase::Duration::QUICK);
        AddTestCase(new UdpEchoTestCase(4000),
                    TestCase::Duration::QUICK); // 3 fragments: the maximum that ARP queues
        AddTestCase(new RxDropTestCase, TestCase::Duration::QUICK);
        AddTestCase(new RxFormatTestCase, TestCase::Duration::QUICK);
        AddTestCase(new TxTestCase, TestCase::Duration::QUICK);
        AddTestCase(new BridgeTestCase, TestCase::Duration::QUICK);
        AddTestCase(new YieldTestCase, TestCase::Duration::QUICK);
        AddTestCase(new OffloadTestCase, TestCase::Duration::QUICK);
        for (const char* simulator : {"ns3::ReactorSimulatorImpl", "ns3::RealtimeSimulatorImpl"})
        {
            AddTestCase(new SocketTestCase(simulator), TestCase::Duration::QUICK);
        }
    }
};

RingNetDeviceTestSuite g_ringNetDeviceTestSuite; //!< registers the suite

} // namespace
