/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test/viaduct-test-support.h"

#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv6-address-helper.h"
#include "ns3/net-device-container.h"
#include "ns3/offload/program-port.h"
#include "ns3/socket.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/test.h"
#include "ns3/udp-socket-factory.h"

#include "base/wire/test/packet_builder.h"

#include <map>

/**
 * @file
 * @ingroup viaduct
 * Tests of ns3::ProgramPort over ports in memory.
 */

using namespace ns3;
using namespace ns3::viaducttest;
namespace packet = viaduct::wire::packet;

namespace
{

/** A node with one interface, 10.1.1.1/24, and programs behind a port. */
struct ProgramNode
{
    Ptr<Node> node = CreateObject<Node>();                       //!< the node
    TestDevice device{node, "02:00:00:00:00:01"};                //!< the node's interface
    std::shared_ptr<Wire> programs = std::make_shared<Wire>();   //!< packets that programs send
    std::shared_ptr<Wire> toPrograms = std::make_shared<Wire>(); //!< packets that programs receive
    Ptr<ProgramPort> port;                                       //!< the program port

    /** @param resolves whether the addresses of the node's neighbours must be resolved */
    explicit ProgramNode(bool resolves = false)
    {
        device.device->SetAttribute("NeedsArp", BooleanValue(resolves));
        InternetStackHelper().Install(node);
        Ipv4AddressHelper("10.1.1.0", "255.255.255.0").Assign(NetDeviceContainer(device.device));
        Ipv6AddressHelper addresses(Ipv6Address("2001:db8::"), Ipv6Prefix(64));
        addresses.Assign(NetDeviceContainer(device.device));
        device.out->clear();
        port = ProgramPort::Install(node, std::make_unique<QueuePort>(programs, toPrograms));
    }

    /**
     * Runs the simulation for a while; frames sent on start-up (router solicitations) are
     * discarded.
     * @param received frames that arrive on the interface
     * @param sent packets that programs send
     */
    void Run(const std::vector<Frame>& received, const std::vector<Frame>& sent)
    {
        Simulator::Schedule(Seconds(10), [this, &received, &sent] {
            device.out->clear();
            toPrograms->clear();
            device.in->insert(device.in->end(), received.begin(), received.end());
            programs->insert(programs->end(), sent.begin(), sent.end());
        });
        Simulator::Stop(Seconds(10) + MilliSeconds(200));
        Simulator::Run();
    }

    /**
     * @return the frames that the node sent, one a line
     */
    std::string Sent() const
    {
        std::string all;
        for (const Frame& frame : *device.out)
        {
            all += packet::Describe(frame) + "\n";
        }
        return all;
    }

    /**
     * @return the packets that programs received, one a line
     */
    std::string Received() const
    {
        std::string all;
        for (const Frame& frame : *toPrograms)
        {
            all += packet::DescribePacket(frame) + "\n";
        }
        return all;
    }
};

const packet::Ethernet TO_NODE{.source = "02:00:00:00:00:02", .destination = "02:00:00:00:00:01"};

/** Tests that packets of programs keep their headers. */
class FromProgramTestCase : public TestCase
{
  public:
    FromProgramTestCase() : TestCase("programs' packets are routed with their headers as they are")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        ProgramNode n;
        const auto udp = packet::Build(packet::Ipv4{.source = "10.1.1.1",
                                                    .destination = "10.1.1.9",
                                                    .ttl = 33,
                                                    .tos = 0xb9,
                                                    .id = 4711,
                                                    .dont_fragment = true} /
                                       packet::Udp{.source = 5000, .destination = 53} /
                                       packet::Payload{"query"});
        const auto broadcast = packet::Build(
            packet::Ipv4{.source = "10.1.1.1", .destination = "255.255.255.255", .ttl = 1} /
            packet::Udp{.source = 5001, .destination = 67} / packet::Payload{"x"});
        n.Run({}, {udp, broadcast});
        NS_TEST_ASSERT_MSG_EQ(n.device.out->size(), 2, n.Sent());
        const Frame& frame = n.device.out->front();
        const Frame ip(frame.begin() + 14, frame.end());
        NS_TEST_EXPECT_MSG_EQ((ip == udp), true, n.Sent());
        const Frame second(n.device.out->back().begin() + 14, n.device.out->back().end());
        NS_TEST_EXPECT_MSG_EQ((second == broadcast), true, n.Sent());
        NS_TEST_EXPECT_MSG_EQ(n.toPrograms->size(), 0, n.Received());
    }
};

/** Tests that a packet that cannot be sent results in an ICMP error and is counted. */
class UnreachableTestCase : public TestCase
{
  public:
    UnreachableTestCase() : TestCase("programs are told of what cannot be sent")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        ProgramNode n;
        const auto noRoute =
            packet::Build(packet::Ipv4{.source = "10.1.1.1", .destination = "192.0.2.1"} /
                          packet::Udp{} / packet::Payload{"x"});
        const auto tooLong = packet::Build(
            packet::Ipv4{.source = "10.1.1.1", .destination = "10.1.1.9", .dont_fragment = true} /
            packet::Udp{} / packet::Counting(1480));
        const auto fragmented =
            packet::Build(packet::Ipv4{.source = "10.1.1.1", .destination = "10.1.1.9"} /
                          packet::Udp{} / packet::Counting(1480));
        n.Run({}, {noRoute, tooLong, fragmented, FromHex("4500"), FromHex("00"), Frame{}});
        NS_TEST_EXPECT_MSG_EQ(n.port->GetDrops(ProgramPort::FROM_PROGRAM_NO_ROUTE), 1, "no route");
        NS_TEST_EXPECT_MSG_EQ(n.port->GetDrops(ProgramPort::FROM_PROGRAM_TOO_LONG), 1, "too long");
        NS_TEST_EXPECT_MSG_EQ(
            n.port->GetDrops(ProgramPort::FROM_PROGRAM_MALFORMED), 3, "malformed");
        NS_TEST_EXPECT_MSG_EQ(n.device.out->size(), 2, "two fragments: " << n.Sent());
        NS_TEST_ASSERT_MSG_EQ(n.toPrograms->size(), 2, n.Received());
        const Frame& net = n.toPrograms->front();
        const Frame& fragmentation = n.toPrograms->back();
        const auto byte = [](const Frame& frame, size_t at) {
            return std::to_integer<int>(frame.at(at));
        };
        NS_TEST_EXPECT_MSG_EQ(byte(net, 9), 1, "ICMP");
        NS_TEST_EXPECT_MSG_EQ(byte(net, 20), 3, "destination unreachable");
        NS_TEST_EXPECT_MSG_EQ(byte(net, 21), 0, "net unreachable");
        NS_TEST_EXPECT_MSG_EQ(std::equal(noRoute.begin(), noRoute.begin() + 28, net.begin() + 28),
                              true,
                              "the packet it is about");
        NS_TEST_EXPECT_MSG_EQ(byte(fragmentation, 21), 4, "fragmentation needed");
        NS_TEST_EXPECT_MSG_EQ(byte(fragmentation, 26) * 256 + byte(fragmentation, 27), 1500, "MTU");
    }
};

/** Tests that an echo request without a route is answered by an ICMP error, and that an ICMP error
 * without a route is not answered. */
class UnreachableIcmpTestCase : public TestCase
{
  public:
    UnreachableIcmpTestCase() : TestCase("no error is sent about an ICMP error")
    {
    }

  private:
    void DoRun() override
    {
        for (const auto& [type, isError] : std::map<uint8_t, bool>{
                 {8, false}, {13, false}, {3, true}, {4, true}, {5, true}, {11, true}, {12, true}})
        {
            ReactorScope reactor;
            ProgramNode n;
            n.Run({},
                  {packet::Build(packet::Ipv4{.source = "10.1.1.1", .destination = "192.0.2.1"} /
                                 packet::Icmp{.type = type} / packet::Payload{"x"})});
            NS_TEST_EXPECT_MSG_EQ(n.toPrograms->size(), (isError ? 0U : 1U), "type " << +type);
            NS_TEST_EXPECT_MSG_EQ(
                n.port->GetDrops(ProgramPort::FROM_PROGRAM_NO_ROUTE), 1, "no route");
        }
    }
};

/** Tests UDP: datagrams for an ns-3 socket go to that socket, all other datagrams to the programs.
 */
class UdpClaimTestCase : public TestCase
{
  public:
    UdpClaimTestCase() : TestCase("UDP for ns-3's sockets and for programs is told apart")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        ProgramNode n;
        uint32_t claimed = 0;
        Ptr<Socket> socket = Socket::CreateSocket(n.node, UdpSocketFactory::GetTypeId());
        socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), 698));
        socket->SetRecvCallback(
            Callback<void, Ptr<Socket>>([&](Ptr<Socket> s) { claimed += s->Recv()->GetSize(); }));
        const packet::Ipv4 header{
            .source = "10.1.1.2", .destination = "10.1.1.1", .ttl = 9, .tos = 0x2e, .id = 77};
        const packet::Ipv4 toAll{.source = "10.1.1.2", .destination = "10.1.1.255", .id = 78};
        const auto forNs3 = TO_NODE / header / packet::Udp{.source = 698, .destination = 698} /
                            packet::Payload{"1234"};
        const auto forPrograms = TO_NODE / header / packet::Udp{.source = 9, .destination = 5353} /
                                 packet::Payload{"12345"};
        const auto forBoth = TO_NODE / toAll / packet::Udp{.source = 698, .destination = 698} /
                             packet::Payload{"123456"};
        n.Run({packet::Build(forNs3), packet::Build(forPrograms), packet::Build(forBoth)}, {});
        NS_TEST_EXPECT_MSG_EQ(claimed, 10, "bytes the ns-3 socket received");
        NS_TEST_ASSERT_MSG_EQ(n.toPrograms->size(), 2, n.Received());
        const Frame whole = packet::Build(forPrograms);
        NS_TEST_EXPECT_MSG_EQ(
            (n.toPrograms->front() == Frame(whole.begin() + 14, whole.end())), true, n.Received());
        NS_TEST_EXPECT_MSG_EQ(n.Sent(), "", "no port unreachable");
    }
};

/** Tests TCP: segments that may be for a program get no reset, and ns-3's own listeners answer. */
class TcpClaimTestCase : public TestCase
{
  public:
    TcpClaimTestCase()
        : TestCase("TCP for ns-3's sockets and for programs is told apart, without resets")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        ProgramNode n;
        Ptr<Socket> listener = Socket::CreateSocket(n.node, TcpSocketFactory::GetTypeId());
        listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), 8000));
        listener->Listen();
        const packet::Ipv4 in{.source = "10.1.1.2", .destination = "10.1.1.1"};
        const packet::Ipv4 out{.source = "10.1.1.1", .destination = "10.1.1.2"};
        namespace flag = viaduct::wire::tcp_flag;
        const auto toProgram = packet::Build(
            TO_NODE / in /
            packet::Tcp{.source = 1234, .destination = 80, .sequence = 1, .flags = flag::kSyn});
        const auto toNs3 = packet::Build(
            TO_NODE / in /
            packet::Tcp{.source = 1235, .destination = 8000, .sequence = 1, .flags = flag::kSyn});
        const auto fromProgram = packet::Build(out / packet::Tcp{.source = 80,
                                                                 .destination = 1234,
                                                                 .sequence = 100,
                                                                 .acknowledgment = 2,
                                                                 .flags = flag::kSyn | flag::kAck});
        n.Run({toProgram, toNs3}, {fromProgram});
        NS_TEST_ASSERT_MSG_EQ(n.toPrograms->size(), 1, n.Received());
        NS_TEST_EXPECT_MSG_EQ(
            (n.toPrograms->front() == Frame(toProgram.begin() + 14, toProgram.end())),
            true,
            n.Received());
        NS_TEST_ASSERT_MSG_EQ(n.device.out->size(), 2, n.Sent());
        const int synAck = flag::kSyn | flag::kAck;
        int fromListener = 0;
        int fromPrograms = 0;
        for (const Frame& frame : *n.device.out)
        {
            constexpr size_t TCP_HEADER = 14 + 20;
            const auto at = [&frame](size_t i) { return std::to_integer<int>(frame.at(i)); };
            NS_TEST_EXPECT_MSG_EQ((at(TCP_HEADER + 13) & 0x3f), synAck, n.Sent());
            const int port = at(TCP_HEADER) * 256 + at(TCP_HEADER + 1);
            fromListener += port == 8000;
            fromPrograms += port == 80;
        }
        NS_TEST_EXPECT_MSG_EQ(fromListener, 1, n.Sent());
        NS_TEST_EXPECT_MSG_EQ(fromPrograms, 1, n.Sent());
    }
};

/** Tests ICMP: echo requests are answered once, echo replies and errors reach programs. */
class IcmpTestCase : public TestCase
{
  public:
    IcmpTestCase() : TestCase("echo requests are answered once; replies and errors reach programs")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        ProgramNode n;
        const packet::Ipv4 header{.source = "10.1.1.2", .destination = "10.1.1.1"};
        const auto request = packet::Build(
            TO_NODE / header / packet::Icmp{.type = 8, .rest = 0x10001} / packet::Counting(56));
        const auto reply = packet::Build(
            TO_NODE / header / packet::Icmp{.type = 0, .rest = 0x20001} / packet::Counting(56));
        n.Run({request, reply}, {});
        NS_TEST_ASSERT_MSG_EQ(n.device.out->size(), 1, n.Sent());
        NS_TEST_EXPECT_MSG_EQ(std::to_integer<int>(n.device.out->front().at(34)), 0, "echo reply");
        NS_TEST_ASSERT_MSG_EQ(n.toPrograms->size(), 1, n.Received());
        NS_TEST_EXPECT_MSG_EQ(
            (n.toPrograms->front() == Frame(reply.begin() + 14, reply.end())), true, n.Received());
    }
};

/** Tests that a datagram that arrived in fragments is delivered as one packet, even if the packet
 * is longer than the ring's slots. */
class ReassemblyTestCase : public TestCase
{
  public:
    ReassemblyTestCase() : TestCase("programs receive reassembled datagrams of any length")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        ProgramNode n;
        const auto whole =
            packet::Build(packet::Ipv4{.source = "10.1.1.2", .destination = "10.1.1.1", .id = 5} /
                          packet::Udp{.source = 9, .destination = 5353} / packet::Counting(4000));
        std::vector<Frame> fragments;
        constexpr size_t PART = 1480;
        for (size_t at = 20; at < whole.size(); at += PART)
        {
            const size_t length = std::min(PART, whole.size() - at);
            const std::string part(reinterpret_cast<const char*>(whole.data()) + at, length);
            fragments.push_back(
                packet::Build(TO_NODE /
                              packet::Ipv4{.source = "10.1.1.2",
                                           .destination = "10.1.1.1",
                                           .id = 5,
                                           .more_fragments = at + PART < whole.size(),
                                           .fragment_offset = static_cast<uint16_t>((at - 20) / 8),
                                           .protocol = 17} /
                              packet::Payload{part}));
        }
        std::swap(fragments.front(), fragments.back()); // the first fragment arrives last
        n.Run(fragments, {});
        NS_TEST_ASSERT_MSG_EQ(n.toPrograms->size(), 1, n.Received());
        NS_TEST_EXPECT_MSG_EQ((n.toPrograms->front() == whole), true, n.Received());
    }
};

/** Tests IPv6 packets from programs and to programs. */
class Ipv6TestCase : public TestCase
{
  public:
    Ipv6TestCase() : TestCase("IPv6 packets of and for programs")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        ProgramNode n;
        // Interface identifier (EUI-64) of the device's MAC address.
        const std::string own = "2001:db8::ff:fe00:1";
        const auto in =
            packet::Build(TO_NODE / packet::Ipv6{.source = "2001:db8::9", .destination = own} /
                          packet::Udp{.source = 9, .destination = 5353} / packet::Payload{"12345"});
        const auto out =
            packet::Build(packet::Ipv6{.source = own,
                                       .destination = "2001:db8::9",
                                       .hop_limit = 33,
                                       .traffic_class = 0xb8} /
                          packet::Udp{.source = 5353, .destination = 9} / packet::Payload{"123"});
        const auto nowhere =
            packet::Build(packet::Ipv6{.source = own, .destination = "2001:db8:1::9"} /
                          packet::Udp{} / packet::Payload{"x"});
        n.Run({in}, {out, nowhere});
        NS_TEST_ASSERT_MSG_EQ(n.toPrograms->size(), 2, n.Received());
        const bool first = n.toPrograms->front() == Frame(in.begin() + 14, in.end());
        const Frame& given = first ? n.toPrograms->front() : n.toPrograms->back();
        const Frame& error = first ? n.toPrograms->back() : n.toPrograms->front();
        NS_TEST_EXPECT_MSG_EQ((given == Frame(in.begin() + 14, in.end())), true, n.Received());
        NS_TEST_EXPECT_MSG_NE(packet::DescribePacket(error).find("icmpv6 1/0"),
                              std::string::npos,
                              "no route: " << n.Received());
        NS_TEST_ASSERT_MSG_EQ(n.device.out->size(), 1, n.Sent());
        const Frame& frame = n.device.out->front();
        // ns-3 writes a flow label, which DescribePacket() leaves out.
        NS_TEST_EXPECT_MSG_EQ(packet::DescribePacket(Frame(frame.begin() + 14, frame.end())),
                              packet::DescribePacket(out),
                              "header and payload as they were");
        NS_TEST_EXPECT_MSG_EQ(n.port->GetDrops(ProgramPort::FROM_PROGRAM_NO_ROUTE), 1, "no route");
    }
};

/** Tests ICMPv6: echo requests are answered once, echo replies and errors reach programs. */
class Icmpv6TestCase : public TestCase
{
  public:
    Icmpv6TestCase()
        : TestCase("IPv6: requests are answered once; replies and errors go to programs")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        ProgramNode n;
        const packet::Ipv6 header{.source = "2001:db8::9", .destination = "2001:db8::ff:fe00:1"};
        const auto request = packet::Build(
            TO_NODE / header / packet::Icmpv6{.type = 128, .rest = 0x10001} / packet::Counting(56));
        const auto reply = packet::Build(
            TO_NODE / header / packet::Icmpv6{.type = 129, .rest = 0x20001} / packet::Counting(56));
        const auto tooBig = packet::Build(
            TO_NODE / header / packet::Icmpv6{.type = 2, .rest = 1280} / packet::Counting(56));
        n.Run({request, reply, tooBig}, {});
        NS_TEST_ASSERT_MSG_EQ(n.device.out->size(), 1, n.Sent());
        NS_TEST_EXPECT_MSG_EQ(
            std::to_integer<int>(n.device.out->front().at(54)), 129, "echo reply");
        NS_TEST_ASSERT_MSG_EQ(n.toPrograms->size(), 2, n.Received());
        NS_TEST_EXPECT_MSG_EQ(
            (n.toPrograms->front() == Frame(reply.begin() + 14, reply.end())), true, n.Received());
        NS_TEST_EXPECT_MSG_EQ(
            (n.toPrograms->back() == Frame(tooBig.begin() + 14, tooBig.end())), true, n.Received());
    }
};

/** Tests that ns-3's neighbour discovery still works on a node with a program port. */
class NeighbourDiscoveryTestCase : public TestCase
{
  public:
    NeighbourDiscoveryTestCase() : TestCase("IPv6 neighbours of programs are resolved by ns-3")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        ProgramNode n(true);
        const auto out = packet::Build(
            packet::Ipv6{.source = "2001:db8::ff:fe00:1", .destination = "2001:db8::9"} /
            packet::Udp{.source = 5353, .destination = 9} / packet::Payload{"123"});
        n.Run({}, {out});
        NS_TEST_ASSERT_MSG_EQ(n.device.out->size(), 1, n.Sent());
        NS_TEST_EXPECT_MSG_NE(n.Sent().find("icmpv6 135/0"), std::string::npos, n.Sent());
    }
};

/** Tests that a host that has the node's addresses, and that a carrier connects, answers pings
 * itself. */
class CarrierTestCase : public TestCase
{
  public:
    CarrierTestCase() : TestCase("a host that has the node's addresses answers pings itself")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        TestDevice device{CreateObject<Node>(), "02:00:00:00:00:01"};
        const Ptr<Node> node = device.device->GetNode();
        device.device->SetAttribute("NeedsArp", BooleanValue(false));
        InternetStackHelper().Install(node);
        Ipv4AddressHelper("10.1.1.0", "255.255.255.0").Assign(NetDeviceContainer(device.device));
        std::vector<Frame> carried;
        const auto port = ProgramPort::Install(node, [&](std::span<const std::byte> bytes) {
            carried.emplace_back(bytes.begin(), bytes.end());
        });
        port->SetAttribute("AnswersEcho", BooleanValue(false));
        const auto request = packet::Build(
            packet::Ipv4{.source = "10.1.1.2", .destination = "10.1.1.1"} / packet::Icmp{});
        const auto answer =
            packet::Build(packet::Ipv4{.source = "10.1.1.1", .destination = "10.1.1.2"} /
                          packet::Icmp{.type = 0});
        Simulator::Schedule(Seconds(10), [&] {
            device.out->clear();
            device.in->push_back(packet::Build(
                TO_NODE / packet::Ipv4{.source = "10.1.1.2", .destination = "10.1.1.1"} /
                packet::Icmp{}));
        });
        Simulator::Schedule(Seconds(10) + MilliSeconds(200), [&] {
            NS_TEST_EXPECT_MSG_EQ(device.out->size(), 0, "ns-3 has answered");
            NS_TEST_ASSERT_MSG_EQ(carried.size(), 1, "the request");
            NS_TEST_EXPECT_MSG_EQ((carried.front() == request), true, "as it came");
            port->FromProgram(answer);
            port->FromProgram({});
        });
        Simulator::Stop(Seconds(10) + MilliSeconds(400));
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(device.out->size(), 1, "the answer");
        const Frame& sent = device.out->front();
        NS_TEST_EXPECT_MSG_EQ((Frame(sent.begin() + 14, sent.end()) == answer), true, "as given");
        NS_TEST_EXPECT_MSG_EQ(port->GetDrops(ProgramPort::FROM_PROGRAM_MALFORMED), 1, "no packet");
    }
};

/** The test suite of ns3::ProgramPort. */
class ProgramPortTestSuite : public TestSuite
{
  public:
    ProgramPortTestSuite() : TestSuite("viaduct-program-port", Type::UNIT)
    {
        AddTestCase(new FromProgramTestCase, TestCase::Duration::QUICK);
        AddTestCase(new UnreachableTestCase, TestCase::Duration::QUICK);
        AddTestCase(new UnreachableIcmpTestCase, TestCase::Duration::QUICK);
        AddTestCase(new UdpClaimTestCase, TestCase::Duration::QUICK);
        AddTestCase(new TcpClaimTestCase, TestCase::Duration::QUICK);
        AddTestCase(new IcmpTestCase, TestCase::Duration::QUICK);
        AddTestCase(new ReassemblyTestCase, TestCase::Duration::QUICK);
        AddTestCase(new Ipv6TestCase, TestCase::Duration::QUICK);
        AddTestCase(new Icmpv6TestCase, TestCase::Duration::QUICK);
        AddTestCase(new NeighbourDiscoveryTestCase, TestCase::Duration::QUICK);
        AddTestCase(new CarrierTestCase, TestCase::Duration::QUICK);
    }
};

ProgramPortTestSuite g_programPortTestSuite; //!< registers the suite

} // namespace
