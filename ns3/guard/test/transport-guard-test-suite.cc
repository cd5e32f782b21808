/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test/viaduct-test-support.h"

#include "ns3/guard/datagram-check.h"
#include "ns3/guard/frame-check.h"
#include "ns3/guard/segment-check.h"
#include "ns3/guard/transport-guard.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/olsr-helper.h"
#include "ns3/olsr-routing-protocol.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/test.h"

#include "base/wire/ip.h"
#include "base/wire/test/packet_builder.h"

#include <cstdio>
#include <random>

/**
 * @file
 * @ingroup viaduct
 * Tests of ns3::TransportGuard, ns3::IsReadableDatagram(), ns3::IsReadableSegment() and
 * ns3::IsParsable().
 */

using namespace ns3;
using namespace ns3::viaducttest;
namespace packet = viaduct::wire::packet;

namespace
{

// OLSR packets of one message each, in hexadecimal (RFC 3626). The fields of a packet: packet
// length, packet sequence number, message type, vtime, message size, originator, TTL, hop count,
// message sequence number, message body.
const std::string MESSAGE_END = "0a000002 01 00 0001 ";
const std::string HELLO = "0014 0001 01 86 0010 " + MESSAGE_END + "0000 05 03";
const std::string HELLO_WITH_LINK =
    "001c 0001 01 86 0018 " + MESSAGE_END + "0000 05 03 06 00 0008 0a000001";
const std::string HELLO_UNSPECIFIED =
    "001c 0001 01 86 0018 " + MESSAGE_END + "0000 05 03 00 00 0008 0a000001";
const std::string TC = "0018 0001 02 86 0014 " + MESSAGE_END + "0001 0000 0a000003";
const std::string MID = "0014 0001 03 86 0010 " + MESSAGE_END + "0a000103";
const std::string HNA = "0018 0001 04 86 0014 " + MESSAGE_END + "0a090000 ffff0000";

/** Checks datagrams that ns-3's routing protocols can read, and datagrams that would end ns-3. */
class DatagramCheckTestCase : public TestCase
{
  public:
    DatagramCheckTestCase()
        : TestCase("a routing protocol's datagram is checked before it reads it")
    {
    }

  private:
    static bool IsReadable(DatagramPorts ports, const std::string& hex)
    {
        return IsReadableDatagram(ports, FromHex(hex), [](Ipv4Address address) {
            return address == Ipv4Address("10.0.0.1");
        });
    }

    void DoRun() override
    {
        const DatagramPorts olsr{698, 698};
        for (const std::string& good :
             {std::string("0004 0001"), HELLO, HELLO_WITH_LINK, TC, MID, HNA})
        {
            NS_TEST_EXPECT_MSG_EQ(IsReadable(olsr, good), true, good);
            NS_TEST_EXPECT_MSG_EQ(IsReadable({1024, 698}, good), false, "from another port");
            NS_TEST_EXPECT_MSG_EQ(IsReadable(olsr, good + "00"), true, "what follows is ignored");
            Frame cut = FromHex(good);
            cut.pop_back();
            NS_TEST_EXPECT_MSG_EQ(IsReadableDatagram(olsr, cut, nullptr), false, "cut: " << good);
        }
        for (const std::string& bad : {
                 std::string(),
                 std::string("0003 0001"),                             // packet length below 4
                 std::string("0005 0001 01"),                          // incomplete message
                 "0014 0001 01 86 000b " + MESSAGE_END + "0000 05 03", // message size too small
                 "0014 0001 01 86 0020 " + MESSAGE_END + "0000 05 03", // message size too large
                 "0014 0001 05 86 0010 " + MESSAGE_END + "0000 05 03", // unknown message type
                 "0012 0001 01 86 000e " + MESSAGE_END + "0000",       // incomplete HELLO
                 // HELLO messages with a link message of a wrong size:
                 "0018 0001 01 86 0014 " + MESSAGE_END + "0000 05 03 06 00 0000",
                 "0018 0001 01 86 0014 " + MESSAGE_END + "0000 05 03 06 00 0008",
                 "0019 0001 01 86 0015 " + MESSAGE_END + "0000 05 03 06 00 0005 00",
                 "0012 0001 02 86 000e " + MESSAGE_END + "0001",     // incomplete TC
                 "0012 0001 03 86 000e " + MESSAGE_END + "0a00",     // MID with half an address
                 "0014 0001 04 86 0010 " + MESSAGE_END + "0a090000", // HNA without mask
                 HELLO_UNSPECIFIED,
             })
        {
            NS_TEST_EXPECT_MSG_EQ(IsReadable(olsr, bad), false, bad);
        }
        for (const uint16_t rip : {520, 521})
        {
            NS_TEST_EXPECT_MSG_EQ(IsReadable({4000, rip}, "02020000"), true, "no entries");
            NS_TEST_EXPECT_MSG_EQ(IsReadable({4000, rip}, "020200"), false, "no header");
        }
        NS_TEST_EXPECT_MSG_EQ(IsReadable({269, 269}, "0a000001 00000001 00000002"), true, "DSDV");
        NS_TEST_EXPECT_MSG_EQ(IsReadable({269, 269}, "0a000001 00000001 000000"), false, "DSDV");
        NS_TEST_EXPECT_MSG_EQ(IsReadable({654, 654}, ""), false, "AODV: empty");
        NS_TEST_EXPECT_MSG_EQ(IsReadable({654, 654}, "01 000000"), false, "AODV: short request");
        NS_TEST_EXPECT_MSG_EQ(IsReadable({654, 654}, "02 000000"), false, "AODV: short reply");
        const std::string lost = "0a000001 00000001";
        NS_TEST_EXPECT_MSG_EQ(IsReadable({654, 654}, "03 000001" + lost), true, "AODV: error");
        NS_TEST_EXPECT_MSG_EQ(IsReadable({654, 654}, "03 000002" + lost), false, "too few");
        NS_TEST_EXPECT_MSG_EQ(
            IsReadable({654, 654}, "03 000002" + lost + lost), false, "one twice");
        NS_TEST_EXPECT_MSG_EQ(IsReadable({9, 9}, ""), true, "nobody's port");
    }
};

/** Checks packets that ns-3's transport protocols and IPv6 can read, and packets that would end
 * ns-3. */
class SegmentCheckTestCase : public TestCase
{
  public:
    SegmentCheckTestCase()
        : TestCase("options, messages and extension headers are checked before ns-3 reads them")
    {
    }

  private:
    static bool IsTcp(const std::string& options)
    {
        const std::string length(1, "0123456789abcdef"[5 + FromHex(options).size() / 4]);
        return IsReadableSegment(
            6, FromHex("1234 0050 00000001 00000000 " + length + "0 02 ffff 0000 0000" + options));
    }

    static bool IsIpv6(const std::string& next,
                       const std::string& payload,
                       const std::string& destination = "fd000000000000000000000000000001")
    {
        std::string size(4, '0');
        std::snprintf(size.data(), 5, "%04x", static_cast<unsigned>(FromHex(payload).size()));
        return IsParsable(0x86dd,
                          FromHex("60000000" + size + next + "ff" +
                                  "fe800000000000000000000000000002" + destination + payload));
    }

    void DoRun() override
    {
        for (const std::string good : {"",
                                       "020405b4",
                                       "01010101",
                                       "00ffffff",
                                       "02040102 0103030a 0402 080a 00000001 00000002",
                                       "0101 050a 00000001 00000002",
                                       "1e041234"})
        {
            NS_TEST_EXPECT_MSG_EQ(IsTcp(good), true, good);
        }
        for (const std::string bad : {"02000000",
                                      "02030000",
                                      "03040000",
                                      "04030000",
                                      "05040000",
                                      "08020000",
                                      "1e000000",
                                      "01010102",
                                      "010102ff",
                                      "010105ff",
                                      "fe010000"})
        {
            NS_TEST_EXPECT_MSG_EQ(IsTcp(bad), false, bad);
        }
        const std::string quoted = "4500001c000100004011000000000000000000001234567812345678";
        for (const std::string type : {"03", "0b"})
        {
            const std::string head = type + "01000000000000";
            NS_TEST_EXPECT_MSG_EQ(IsReadableSegment(1, FromHex(head + quoted)), true, type);
            NS_TEST_EXPECT_MSG_EQ(
                IsReadableSegment(1, FromHex(head + quoted.substr(0, 54))), false, "cut");
            NS_TEST_EXPECT_MSG_EQ(
                IsReadableSegment(1, FromHex(head + "4f" + quoted.substr(2))), false, "options");
            NS_TEST_EXPECT_MSG_EQ(IsReadableSegment(1, FromHex(head)), false, "nothing quoted");
        }
        const std::string target = "fd000000000000000000000000000001";
        const std::string soliciting = "8700000000000000" + target;
        const std::string address = "0101020000000002";
        for (const std::string& good : {address, address + "0e01000000000000"})
        {
            NS_TEST_EXPECT_MSG_EQ(IsIpv6("3a", soliciting + good), true, good);
        }
        for (const std::string& bad : {std::string("0100"),
                                       std::string(),
                                       "0e01000000000000" + address,
                                       "0100" + address.substr(4),
                                       "01ff" + address.substr(4),
                                       "0102020000000002" + address,
                                       address + address})
        {
            NS_TEST_EXPECT_MSG_EQ(IsIpv6("3a", soliciting + bad), false, bad);
        }
        NS_TEST_EXPECT_MSG_EQ(IsIpv6("3a", soliciting.substr(0, 40)), false, "no whole target");
        const std::string echo = "8000000000010001";
        for (const std::string header : {"00", "3c"})
        {
            NS_TEST_EXPECT_MSG_EQ(IsIpv6(header, "3a00010400000000" + echo), true, "padding");
            NS_TEST_EXPECT_MSG_EQ(IsIpv6(header, "3a00050200000100" + echo), true, "router alert");
            NS_TEST_EXPECT_MSG_EQ(IsIpv6(header, "3aff010400000000" + echo), false, "long");
            NS_TEST_EXPECT_MSG_EQ(IsIpv6(header, "3a0001ff00000000" + echo), false, "option");
            NS_TEST_EXPECT_MSG_EQ(IsIpv6(header, "3a00c20200000100" + echo), false, "jumbo");
            NS_TEST_EXPECT_MSG_EQ(IsIpv6(header, "3a000104"), false, "cut");
            NS_TEST_EXPECT_MSG_EQ(IsIpv6(header, "3a00010400000000"), false, "nothing behind");
        }
        NS_TEST_EXPECT_MSG_EQ(IsIpv6("2b", "3a02000100000000" + target + echo), false, "RFC 5095");
        std::string chain;
        for (int i = 0; i < 31; i++)
        {
            chain += "3c00010400000000";
        }
        chain.replace(chain.size() - 16, 2, "3a");
        NS_TEST_EXPECT_MSG_EQ(IsIpv6("3c", chain + echo), true, "as many as ns-3 can count");
        NS_TEST_EXPECT_MSG_EQ(IsIpv6("3c", "3c00010400000000" + chain + echo), false, "one more");
        NS_TEST_EXPECT_MSG_EQ(IsIpv6("2c", "3a00000100000001" + echo), true, "of an echo");
        NS_TEST_EXPECT_MSG_EQ(IsIpv6("2c", "3a00000100000001" + address), false, "RFC 6980");
        NS_TEST_EXPECT_MSG_EQ(IsIpv6("2c", "3c00000100000001" + echo), false, "of a header");
        NS_TEST_EXPECT_MSG_EQ(
            IsIpv6("2c", "1100fff800000001" + echo.substr(0, 14)), true, "the last place");
        NS_TEST_EXPECT_MSG_EQ(IsIpv6("2c", "1100fff800000001" + echo), false, "beyond");
        const std::string all = "ff020000000000000000000000000001";
        NS_TEST_EXPECT_MSG_EQ(IsIpv6("59", "00"), true, "a protocol that ns-3 has not");
        NS_TEST_EXPECT_MSG_EQ(IsIpv6("59", "00", all), false, "which it would answer to a group");
        NS_TEST_EXPECT_MSG_EQ(IsIpv6("3a", echo, all), true, "an echo");
    }
};

/** Tests that a node with OLSR survives random datagrams to OLSR's port, and still receives the
 * HELLO of a neighbour. */
class OlsrSurvivesTestCase : public TestCase
{
  public:
    OlsrSurvivesTestCase() : TestCase("OLSR behind a guard survives any datagram")
    {
    }

  private:
    static Frame Datagram(const std::string& payload, uint16_t source = 698)
    {
        return packet::Build(
            packet::Ethernet{.source = "02:00:00:00:00:02", .destination = "ff:ff:ff:ff:ff:ff"} /
            packet::Ipv4{.source = "10.0.0.2", .destination = "10.0.0.255"} /
            packet::Udp{source, 698} / packet::Payload{payload});
    }

    /** @return a well-formed OLSR packet of which up to three bytes, and sometimes the length, have
     * been changed at random */
    std::string Mutant()
    {
        const std::string* const seeds[] = {&HELLO, &HELLO_WITH_LINK, &TC, &MID, &HNA};
        const Frame bytes = FromHex(*seeds[m_random() % std::size(seeds)]);
        std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        for (uint32_t changes = m_random() % 4; changes > 0; changes--)
        {
            text[m_random() % text.size()] = static_cast<char>(m_random());
        }
        text.resize(m_random() % 3 == 0 ? m_random() % (text.size() + 8) : text.size());
        return text;
    }

    void DoRun() override
    {
        ReactorScope reactor;
        Ptr<Node> node = CreateObject<Node>();
        TestDevice device(node, "02:00:00:00:00:01");
        device.device->SetAttribute("NeedsArp", BooleanValue(false));
        InternetStackHelper stack;
        stack.SetIpv6StackInstall(false);
        stack.SetRoutingHelper(OlsrHelper());
        stack.Install(node);
        Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(NetDeviceContainer(device.device));
        Ptr<TransportGuard> guard = TransportGuard::Install(node);
        int heard = 0;
        node->GetObject<olsr::RoutingProtocol>()->TraceConnectWithoutContext(
            "Rx",
            Callback<void, const olsr::PacketHeader&, const olsr::MessageList&>(
                [&](const olsr::PacketHeader&, const olsr::MessageList&) { heard++; }));
        constexpr int MUTANTS = 2000;
        Simulator::Schedule(Seconds(1), [&] {
            for (int i = 0; i < MUTANTS; i++)
            {
                device.in->push_back(Datagram(Mutant(), i % 50 == 0 ? 1024 : 698));
            }
        });
        Simulator::Schedule(Seconds(2), [&] {
            NS_TEST_EXPECT_MSG_GT(guard->GetDrops(), MUTANTS / 10, "many were malformed");
            NS_TEST_EXPECT_MSG_EQ(guard->GetDrops() + heard, MUTANTS, "the others were read");
            heard = 0;
            const Frame hello = FromHex(HELLO);
            device.in->push_back(
                Datagram({reinterpret_cast<const char*>(hello.data()), hello.size()}));
        });
        Simulator::Stop(Seconds(3));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(heard, 1, "a neighbour");
    }

    std::mt19937 m_random{std::random_device{}()}; //!< random numbers that differ in each run
};

/** Tests that a node survives random packets, some of them fragmented, to its TCP, ICMP and
 * ICMPv6. */
class StackSurvivesTestCase : public TestCase
{
  public:
    StackSurvivesTestCase() : TestCase("TCP and ICMP behind guards, and ICMPv6, survive any packet")
    {
    }

  private:
    Frame RandomPayload()
    {
        Frame bytes(m_random() % 64);
        for (std::byte& each : bytes)
        {
            each = std::byte(m_random() % 4 == 0 ? m_random() : m_random() % 9);
        }
        return bytes;
    }

    Frame RandomPacket()
    {
        constexpr uint8_t PROTOCOLS[] = {1, 6, 17, 0, 43, 44, 50, 51, 58, 58, 60, 89};
        constexpr uint8_t ICMP_TYPES[] = {1, 2, 3, 4, 8, 11, 128, 133, 134, 135, 136, 137};
        Frame payload = RandomPayload();
        const uint8_t protocol = PROTOCOLS[m_random() % std::size(PROTOCOLS)];
        if (!payload.empty() && (protocol == 1 || protocol == 58))
        {
            payload[0] = std::byte(ICMP_TYPES[m_random() % std::size(ICMP_TYPES)]);
        }
        if (payload.size() > 12 && protocol == 6)
        {
            payload[12] = std::byte(m_random() % 16 << 4);
        }
        Frame packet;
        const bool isIpv4 = m_random() % 2 == 0;
        if (isIpv4)
        {
            packet = FromHex("45000000 0001 0000 40 00 0000 0a000002 0a000001");
            packet[9] = std::byte{protocol};
            packet[6] = std::byte(m_random() % 4 == 0 ? 0x20 : 0);
            packet[7] = std::byte(m_random() % 4 == 0 ? m_random() % 3 : 0);
            packet[3] = std::byte(packet.size() + payload.size());
            viaduct::wire::SetIpv4Checksum(packet);
        }
        else
        {
            packet = FromHex("60000000 0000 00 ff fe800000000000000000000000000002 "
                             "ff020000000000000000000000000001");
            packet[5] = std::byte(payload.size());
            packet[6] = std::byte{protocol};
        }
        Frame frame =
            FromHex(isIpv4 ? "020000000001 020000000002 0800" : "333300000001 020000000002 86dd");
        frame.insert(frame.end(), packet.begin(), packet.end());
        frame.insert(frame.end(), payload.begin(), payload.end());
        return frame;
    }

    void DoRun() override
    {
        ReactorScope reactor;
        Ptr<Node> node = CreateObject<Node>();
        TestDevice device(node, "02:00:00:00:00:01");
        InternetStackHelper().Install(node);
        Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(NetDeviceContainer(device.device));
        Ptr<TransportGuard> guard = TransportGuard::Install(node);
        Simulator::Schedule(Seconds(1), [&] {
            for (int i = 0; i < 20000; i++)
            {
                device.in->push_back(RandomPacket());
            }
        });
        bool isAlive = false;
        Simulator::Schedule(Seconds(2), [&] { isAlive = device.in->empty(); });
        Simulator::Stop(Seconds(3));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(isAlive, true, "all were read");
        NS_TEST_EXPECT_MSG_GT(guard->GetDrops(), 0, "many were malformed");
    }

    std::mt19937 m_random{std::random_device{}()}; //!< random numbers that differ in each run
};

/** Tests segments that start TCP's persist timer, which probes windows of zero, without data to
 * send. */
class NothingToProbeTestCase : public TestCase
{
  public:
    /**
     * @param flags the flags of the segment to the listening port: RST or SYN
     * @param window the segment's window
     */
    NothingToProbeTestCase(uint8_t flags, uint16_t window)
        : TestCase("a listening TCP survives flags " + std::to_string(flags) + ", window " +
                   std::to_string(window)),
          m_flags(flags),
          m_window(window)
    {
    }

  private:
    void DoRun() override
    {
        Ptr<Node> node = CreateObject<Node>();
        InternetStackHelper().Install(node);
        Ptr<TransportGuard> guard = TransportGuard::InstallUnlessGuarded(node);
        NS_TEST_ASSERT_MSG_NE(guard, nullptr, "nobody was there");
        NS_TEST_EXPECT_MSG_EQ(TransportGuard::InstallUnlessGuarded(node), nullptr, "only once");
        Ptr<Socket> listener = Socket::CreateSocket(node, TcpSocketFactory::GetTypeId());
        listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), 9));
        listener->Listen();
        Ptr<Ipv4L3Protocol> ipv4 = node->GetObject<Ipv4L3Protocol>();
        Simulator::Schedule(Seconds(1), [=, this] {
            TcpHeader tcp;
            tcp.SetSourcePort(5000);
            tcp.SetDestinationPort(9);
            tcp.SetFlags(m_flags);
            tcp.SetWindowSize(m_window);
            Ptr<Packet> segment = Create<Packet>();
            segment->AddHeader(tcp);
            Ipv4Header header;
            header.SetSource("127.0.0.1");
            header.SetDestination("127.0.0.1");
            header.SetProtocol(TcpL4Protocol::PROT_NUMBER);
            header.SetPayloadSize(segment->GetSize());
            ipv4->GetProtocol(TcpL4Protocol::PROT_NUMBER, 0)
                ->Receive(segment, header, ipv4->GetInterface(0));
        });
        Simulator::Stop(Seconds(100));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(Simulator::Now(), Seconds(100), "it goes on");
        NS_TEST_EXPECT_MSG_EQ(guard->GetDrops(), 0, "nothing is malformed");
        Simulator::Destroy();
    }

    uint8_t m_flags;   //!< the segment's flags, TcpHeader::Flags_t
    uint16_t m_window; //!< the segment's window, not scaled
};

/** Tests that a datagram for a port without an ns-3 socket is not dropped, whatever its content:
 * such datagrams are for programs. */
class UnboundPortTestCase : public TestCase
{
  public:
    UnboundPortTestCase() : TestCase("a guard lets pass what ns-3 has no socket for")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        Ptr<Node> node = CreateObject<Node>();
        TestDevice device(node, "02:00:00:00:00:01");
        device.device->SetAttribute("NeedsArp", BooleanValue(false));
        InternetStackHelper().Install(node);
        Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(NetDeviceContainer(device.device));
        Ptr<TransportGuard> guard = TransportGuard::Install(node);
        Simulator::Schedule(Seconds(5), [&] {
            device.out->clear();
            device.in->push_back(
                packet::Build(packet::Ethernet{.source = "02:00:00:00:00:02",
                                               .destination = "02:00:00:00:00:01"} /
                              packet::Ipv4{.source = "10.0.0.2", .destination = "10.0.0.1"} /
                              packet::Udp{698, 698} / packet::Payload{"no OLSR"}));
        });
        Simulator::Stop(Seconds(6));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(guard->GetDrops(), 0, "not dropped");
        NS_TEST_ASSERT_MSG_EQ(device.out->size(), 1, "port unreachable");
    }
};

/** The tests of ns3::TransportGuard. */
class TransportGuardTestSuite : public TestSuite
{
  public:
    TransportGuardTestSuite() : TestSuite("viaduct-transport-guard", Type::UNIT)
    {
        AddTestCase(new DatagramCheckTestCase, TestCase::Duration::QUICK);
        AddTestCase(new SegmentCheckTestCase, TestCase::Duration::QUICK);
        AddTestCase(new StackSurvivesTestCase, TestCase::Duration::QUICK);
        AddTestCase(new OlsrSurvivesTestCase, TestCase::Duration::QUICK);
        AddTestCase(new UnboundPortTestCase, TestCase::Duration::QUICK);
        AddTestCase(new NothingToProbeTestCase(TcpHeader::RST, 32768), TestCase::Duration::QUICK);
        AddTestCase(new NothingToProbeTestCase(TcpHeader::SYN, 0), TestCase::Duration::QUICK);
    }
};

TransportGuardTestSuite g_transportGuardTestSuite; //!< registers the suite

} // namespace
