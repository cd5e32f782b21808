/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test/viaduct-test-support.h"

#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/names.h"
#include "ns3/path/path-helper.h"
#include "ns3/test.h"
#include "ns3/tunnel/remote-hub.h"
#include "ns3/uinteger.h"

#include "base/wire/layers.h"
#include "base/wire/test/packet_builder.h"
#include "base/wire/vxlan.h"
#include "remote/tunnel/underlay.h"

#include <functional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup viaduct
 * Tests of ns3::RemoteHub; the clients are UDP sockets of the test process.
 */

using namespace ns3;
using namespace ns3::viaducttest;
namespace packet = viaduct::wire::packet;

namespace
{

using viaduct::tunnel::Peer;
using viaduct::tunnel::Underlay;
using viaduct::wire::IpAddress;
using viaduct::wire::VxlanHeader;
using Frame = std::vector<std::byte>;

/** A client of the hub: a UDP socket that sends and receives VXLAN datagrams. */
class RemoteClient
{
  public:
    /**
     * @param address the client's IP address
     */
    explicit RemoteClient(const std::string& address)
        : m_socket({.address = address, .max_datagram = 2000})
    {
    }

    /** @return the client's UDP port */
    uint16_t GetPort() const
    {
        return m_socket.port();
    }

    /** Sends a frame to a hub.
     * @param hub the hub
     * @param vni the VXLAN identifier of the client's node
     * @param frame the frame
     */
    void Send(viaduct::tunnel::ClientHub& hub, uint32_t vni, const Frame& frame)
    {
        const Peer to(IpAddress::Parse("127.0.0.1"), hub.underlay().port());
        const auto room = m_socket.Queue(to, VxlanHeader::kSize + frame.size(), 0);
        VxlanHeader{vni}.Write(room);
        std::copy(frame.begin(), frame.end(), room.begin() + VxlanHeader::kSize);
        m_socket.Flush([](uint32_t, size_t) {});
    }

    /** @return the descriptions of the frames that the client has received */
    std::vector<std::string> Receive()
    {
        std::vector<std::string> all;
        m_socket.Receive([&](const Underlay::Message& message) {
            std::span<const std::byte> rest = message.bytes;
            while (!rest.empty())
            {
                const size_t size =
                    message.segment > 0 ? std::min(message.segment, rest.size()) : rest.size();
                all.push_back(packet::Describe(rest.first(size).subspan(VxlanHeader::kSize)));
                rest = rest.subspan(size);
            }
        });
        return all;
    }

  private:
    Underlay m_socket; //!< the client's socket
};

/** Tests frames between a client, whose node is on a link, and a simulated node at the link's other
 * end; frames of a host that is not the node's client are dropped. */
class RemoteHubTestCase : public TestCase
{
  public:
    RemoteHubTestCase() : TestCase("Frames between clients and the simulation")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        NodeContainer nodes(2);
        PathHelper helper;
        const NetDeviceContainer devices = helper.Install(nodes);
        InternetStackHelper().Install(nodes);
        Ipv4AddressHelper addresses("10.1.1.0", "255.255.255.0");
        addresses.Assign(devices);
        devices.Get(1)->SetAddress(Mac48Address("02:00:00:00:00:02"));

        RemoteClient client("127.0.0.1");
        RemoteClient stranger("127.0.0.2");
        Ptr<RemoteHub> remote = CreateObject<RemoteHub>();
        remote->SetAttribute("Port", UintegerValue(0));
        const std::size_t index = remote->Add(devices.Get(0), 0, {});
        remote->Start();
        viaduct::tunnel::ClientHub& hub = remote->GetHub();
        NS_TEST_EXPECT_MSG_EQ(hub.nodes()[index].vni, 1, "the lowest free number");
        hub.Claim(index, IpAddress::Parse("127.0.0.1"), client.GetPort());

        const packet::Ethernet toServer{.source = "02:00:00:00:00:09",
                                        .destination = "02:00:00:00:00:02"};
        const Frame arp = packet::Build(
            packet::Ethernet{.source = "02:00:00:00:00:09", .destination = "ff:ff:ff:ff:ff:ff"} /
            packet::Arp{.sender_mac = "02:00:00:00:00:09",
                        .sender_ip = "10.1.1.1",
                        .target_ip = "10.1.1.2"});
        const Frame ping =
            packet::Build(toServer / packet::Ipv4{"10.1.1.1", "10.1.1.2"} / packet::Icmp{});
        Frame options = packet::Build(
            toServer /
            packet::Ipv4{.source = "10.1.1.1", .destination = "10.1.1.2", .protocol = 253} /
            packet::Payload{"01234567"});
        options[14] = std::byte{0x46};
        Frame broken = ping;
        broken[16] = std::byte{0xff}; // an IP length beyond the frame's end
        Simulator::Schedule(MilliSeconds(1), [&] {
            client.Send(hub, 1, arp);
            client.Send(hub, 1, ping);
            client.Send(hub, 1, options);
            client.Send(hub, 1, broken);
            stranger.Send(hub, 1, ping);
        });
        const Frame answer =
            packet::Build(toServer / packet::Arp{.operation = viaduct::wire::ArpPacket::kReply,
                                                 .sender_mac = "02:00:00:00:00:09",
                                                 .sender_ip = "10.1.1.1",
                                                 .target_mac = "02:00:00:00:00:02",
                                                 .target_ip = "10.1.1.2"});
        Simulator::Schedule(MilliSeconds(100), [&] { client.Send(hub, 1, answer); });
        // The test runs until the hub has handled all frames; the time depends on the machine's
        // load.
        const std::function<void()> look = [&] {
            const auto seen = hub.CountersOf(index);
            if (seen.rx_frames >= 5 && seen.rx_dropped_spoofed >= 1 && seen.tx_frames >= 3)
            {
                Simulator::Stop(MilliSeconds(10));
                return;
            }
            Simulator::Schedule(MilliSeconds(10), look);
        };
        Simulator::Schedule(MilliSeconds(150), look);
        Simulator::Stop(Seconds(60));
        Simulator::Run();

        const auto& counters = hub.CountersOf(index);
        NS_TEST_EXPECT_MSG_EQ(counters.rx_frames, 5, "the client's");
        NS_TEST_EXPECT_MSG_EQ(counters.rx_dropped_spoofed, 1, "the stranger's");
        NS_TEST_EXPECT_MSG_EQ(remote->GetDrops(index, RemoteHub::RX_MALFORMED), 1, "broken");
        NS_TEST_EXPECT_MSG_EQ(remote->GetDrops(index, RemoteHub::RX_IP_OPTIONS), 1, "options");
        const std::vector<std::string> got = client.Receive();
        const auto has = [&](const std::string& text) {
            return std::any_of(got.begin(), got.end(), [&](const std::string& each) {
                return each.find(text) != std::string::npos;
            });
        };
        NS_TEST_EXPECT_MSG_EQ(
            has("arp 10.1.1.2 is-at 02:00:00:00:00:02"), true, "the simulated node answers ARP");
        NS_TEST_EXPECT_MSG_EQ(has("icmp 0/0"), true, "and the ping");
        NS_TEST_EXPECT_MSG_EQ(has("10.1.1.2 > 10.1.1.1"), true, "to the client's address");
        NS_TEST_EXPECT_MSG_EQ(counters.tx_frames, got.size(), "all that was sent arrives");
        remote->Dispose();
    }
};

/** Tests a client that runs the programs of a node (RemoteHub::AddPrograms()). */
class ProgramsTestCase : public TestCase
{
  public:
    ProgramsTestCase() : TestCase("A client has the programs of a node")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        NodeContainer nodes(2);
        PathHelper helper;
        const NetDeviceContainer devices = helper.Install(nodes);
        GlobalValue::Bind("ChecksumEnabled", BooleanValue(true));
        InternetStackHelper().Install(nodes);
        Ipv4AddressHelper("10.1.1.0", "255.255.255.0").Assign(devices);
        RemoteClient client("127.0.0.1");
        Ptr<RemoteHub> remote = CreateObject<RemoteHub>();
        remote->SetAttribute("Port", UintegerValue(0));
        const std::size_t index = remote->AddPrograms(nodes.Get(0), 0, {});
        remote->Start();
        viaduct::tunnel::ClientHub& hub = remote->GetHub();
        hub.Claim(index, IpAddress::Parse("127.0.0.1"), client.GetPort());

        const packet::Ethernet toHub{.source = "02:00:00:00:00:09",
                                     .destination = "06:76:64:00:00:01"};
        const auto ask = [&](const std::string& target) {
            return packet::Build(toHub / packet::Arp{.sender_mac = "02:00:00:00:00:09",
                                                     .sender_ip = "10.1.1.1",
                                                     .target_ip = target});
        };
        const Frame ping =
            packet::Build(toHub / packet::Ipv4{"10.1.1.1", "10.1.1.2", 9} / packet::Icmp{});
        Frame options = ping;
        options[14] = std::byte{0x46};
        Simulator::Schedule(MilliSeconds(1), [&] {
            client.Send(hub, 1, ask("10.1.1.1")); // request for the client's address: not answered
            client.Send(hub, 1, ask("192.0.2.7"));
            client.Send(hub, 1, options);
            client.Send(hub, 1, ping);
        });
        const std::function<void()> look = [&] {
            const auto seen = hub.CountersOf(index);
            if (seen.rx_frames >= 4 && seen.tx_frames >= 2)
            {
                Simulator::Stop(MilliSeconds(10));
                return;
            }
            Simulator::Schedule(MilliSeconds(10), look);
        };
        Simulator::Schedule(MilliSeconds(100), look);
        Simulator::Stop(Seconds(60));
        Simulator::Run();

        const std::vector<std::string> got = client.Receive();
        NS_TEST_ASSERT_MSG_EQ(got.size(), 2, "two answers");
        const auto has = [&](std::size_t which, const std::string& text) {
            return got[which].find(text) != std::string::npos;
        };
        NS_TEST_EXPECT_MSG_EQ(has(0, "arp 192.0.2.7 is-at 06:76:64:00:00:01"), true, got[0]);
        NS_TEST_EXPECT_MSG_EQ(has(1, "06:76:64:00:00:01 > 02:00:00:00:00:09"), true, got[1]);
        NS_TEST_EXPECT_MSG_EQ(has(1, "10.1.1.2 > 10.1.1.1"), true, "of the other node");
        NS_TEST_EXPECT_MSG_EQ(has(1, "icmp 0/0"), true, "to the ping");
        const auto drops =
            remote->GetPrograms(index)->GetDrops(ProgramPort::FROM_PROGRAM_MALFORMED);
        NS_TEST_EXPECT_MSG_EQ(drops, 1, "the header is longer than it is");
        NS_TEST_EXPECT_MSG_EQ(remote->GetUnresolved(index), 0, "the client is known");
        remote->Dispose();
    }
};

/** The test suite of ns3::RemoteHub. */
class RemoteHubTestSuite : public TestSuite
{
  public:
    RemoteHubTestSuite() : TestSuite("viaduct-remote-hub", Type::UNIT)
    {
        AddTestCase(new RemoteHubTestCase, TestCase::Duration::QUICK);
        AddTestCase(new ProgramsTestCase, TestCase::Duration::QUICK);
    }
};

RemoteHubTestSuite g_remoteHubTestSuite; //!< registers the suite

} // namespace
