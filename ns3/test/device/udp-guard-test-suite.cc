/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../viaduct-test-support.h"

#include "ns3/datagram-check.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/olsr-helper.h"
#include "ns3/olsr-routing-protocol.h"
#include "ns3/test.h"
#include "ns3/udp-guard.h"

#include "wire/test/packet_builder.h"

#include <random>

/**
 * @file
 * @ingroup viaduct
 * Tests of ns3::UdpGuard and ns3::IsReadableDatagram().
 */

using namespace ns3;
using namespace ns3::viaducttest;
namespace packet = viaduct::wire::packet;

namespace
{

// OLSR packets of one message each (RFC 3626): length, sequence; type, vtime, size, originator,
// TTL, hops, sequence; body.
const std::string MESSAGE_END = "0a000002 01 00 0001 ";
const std::string HELLO = "0014 0001 01 86 0010 " + MESSAGE_END + "0000 05 03";
const std::string HELLO_WITH_LINK =
    "001c 0001 01 86 0018 " + MESSAGE_END + "0000 05 03 06 00 0008 0a000001";
const std::string HELLO_UNSPECIFIED =
    "001c 0001 01 86 0018 " + MESSAGE_END + "0000 05 03 00 00 0008 0a000001";
const std::string TC = "0018 0001 02 86 0014 " + MESSAGE_END + "0001 0000 0a000003";
const std::string MID = "0014 0001 03 86 0010 " + MESSAGE_END + "0a000103";
const std::string HNA = "0018 0001 04 86 0014 " + MESSAGE_END + "0a090000 ffff0000";

/** Datagrams that ns-3 can read, and those that would end it. */
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
                 std::string("0003 0001"),                             // length
                 std::string("0005 0001 01"),                          // no whole message
                 "0014 0001 01 86 000b " + MESSAGE_END + "0000 05 03", // its size
                 "0014 0001 01 86 0020 " + MESSAGE_END + "0000 05 03", // too large
                 "0014 0001 05 86 0010 " + MESSAGE_END + "0000 05 03", // unknown type
                 "0012 0001 01 86 000e " + MESSAGE_END + "0000",       // short HELLO
                 "0018 0001 01 86 0014 " + MESSAGE_END + "0000 05 03 06 00 0000", // link's size
                 "0018 0001 01 86 0014 " + MESSAGE_END + "0000 05 03 06 00 0008",
                 "0019 0001 01 86 0015 " + MESSAGE_END + "0000 05 03 06 00 0005 00",
                 "0012 0001 02 86 000e " + MESSAGE_END + "0001",     // short TC
                 "0012 0001 03 86 000e " + MESSAGE_END + "0a00",     // half an address
                 "0014 0001 04 86 0010 " + MESSAGE_END + "0a090000", // no mask
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

/** A node with OLSR survives whatever is sent to its port, and still hears its neighbours. */
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

    /** @return a mutation of a well-formed packet, or random bytes */
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
        Ptr<UdpGuard> guard = UdpGuard::Install(node);
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

    std::mt19937 m_random{std::random_device{}()}; //!< other datagrams each time
};

/** Datagrams for a port that ns-3 does not use are a program's, whatever they are. */
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
        Ptr<UdpGuard> guard = UdpGuard::Install(node);
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

/** The tests of ns3::UdpGuard. */
class UdpGuardTestSuite : public TestSuite
{
  public:
    UdpGuardTestSuite() : TestSuite("viaduct-udp-guard", Type::UNIT)
    {
        AddTestCase(new DatagramCheckTestCase, TestCase::Duration::QUICK);
        AddTestCase(new OlsrSurvivesTestCase, TestCase::Duration::QUICK);
        AddTestCase(new UnboundPortTestCase, TestCase::Duration::QUICK);
    }
};

UdpGuardTestSuite g_udpGuardTestSuite; //!< registers the suite

} // namespace
