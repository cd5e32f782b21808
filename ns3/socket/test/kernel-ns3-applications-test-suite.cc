/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test/kernel-pair-test-case.h"

#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/icmpv6-header.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/ipv6-address-helper.h"
#include "ns3/ipv6-header.h"
#include "ns3/ipv6-routing-helper.h"
#include "ns3/ping-helper.h"
#include "ns3/ping.h"
#include "ns3/pointer.h"
#include "ns3/radvd-helper.h"
#include "ns3/socket.h"
#include "ns3/three-gpp-http-client.h"
#include "ns3/three-gpp-http-helper.h"
#include "ns3/three-gpp-http-server.h"
#include "ns3/three-gpp-http-variables.h"
#include "ns3/udp-client-server-helper.h"
#include "ns3/udp-echo-helper.h"
#include "ns3/udp-server.h"
#include "ns3/uinteger.h"

#include <vector>

/**
 * @file
 * @ingroup viaduct
 * Tests of ns-3's own unmodified applications on kernel nodes. BulkSend, OnOff and PacketSink are
 * in viaduct-kernel-transfer.
 */

using namespace ns3;
using PairTestCase = viaducttest::KernelPairTestCase;

namespace
{

/** Tests web pages: TCP connections that carry requests and objects. */
class HttpTest : public PairTestCase
{
  public:
    HttpTest() : PairTestCase("ThreeGppHttpClient gets whole pages of ThreeGppHttpServer")
    {
    }

  private:
    void RunWithKernel() override
    {
        for (const bool ipv6 : {false, true})
        {
            MakePair();
            uint64_t served = 0;
            uint64_t got = 0;
            uint32_t pages = 0;
            ThreeGppHttpServerHelper serverHelper(Any(ipv6, 80));
            auto server = serverHelper.Install(m_nodes.Get(1)).Get(0);
            const Callback<void, uint32_t> serve([&](uint32_t size) { served += size; });
            server->TraceConnectWithoutContext("MainObject", serve);
            server->TraceConnectWithoutContext("EmbeddedObject", serve);
            ThreeGppHttpClientHelper clientHelper(Server(ipv6, 80));
            auto client = clientHelper.Install(m_nodes.Get(0)).Get(0);
            PointerValue variables;
            client->GetAttribute("Variables", variables);
            variables.Get<ThreeGppHttpVariables>()->SetReadingTimeMean(Seconds(2));
            client->TraceConnectWithoutContext(
                "RxPage",
                Callback<void, Ptr<const ThreeGppHttpClient>, const Time&, uint32_t, uint32_t>(
                    [&](auto, const Time&, uint32_t, uint32_t bytes) {
                        ++pages;
                        got += bytes;
                        if (pages == 2)
                        {
                            Simulator::Stop();
                        }
                    }));
            Run(Seconds(100));
            NS_TEST_EXPECT_MSG_EQ(pages, 2, "pages, IPv6 " << ipv6);
            NS_TEST_EXPECT_MSG_GT(got, 10000, "bytes of them");
            NS_TEST_EXPECT_MSG_EQ(got, served, "all that was served, IPv6 " << ipv6);
            End();
        }
    }
};

/** Tests UDP applications: datagrams and their answers. */
class UdpTest : public PairTestCase
{
  public:
    UdpTest() : PairTestCase("UdpEcho, UdpClient, UdpTraceClient and UdpServer")
    {
    }

  private:
    void Echo(bool ipv6, uint32_t* echoes)
    {
        UdpEchoServerHelper(9).Install(m_nodes.Get(1));
        UdpEchoClientHelper client(Host(ipv6), 9);
        client.SetAttribute("MaxPackets", UintegerValue(3));
        client.SetAttribute("Interval", TimeValue(MilliSeconds(100)));
        auto installed = client.Install(m_nodes.Get(0));
        installed.Get(0)->TraceConnectWithoutContext(
            "Rx", Callback<void, Ptr<const Packet>>([echoes](Ptr<const Packet> packet) {
                *echoes += packet->GetSize() == 100;
            }));
    }

    Ptr<UdpServer> Serve(uint16_t port)
    {
        return DynamicCast<UdpServer>(UdpServerHelper(port).Install(m_nodes.Get(1)).Get(0));
    }

    void RunWithKernel() override
    {
        for (const bool ipv6 : {false, true})
        {
            MakePair();
            uint32_t echoes = 0;
            Echo(ipv6, &echoes);
            auto counted = Serve(4000);
            UdpClientHelper client(Host(ipv6), 4000);
            client.SetAttribute("MaxPackets", UintegerValue(20));
            client.SetAttribute("Interval", TimeValue(MilliSeconds(20)));
            client.Install(m_nodes.Get(0));
            auto traced = Serve(4001);
            UdpTraceClientHelper trace(Host(ipv6), 4001); // sends the first frames of a film
            trace.SetAttribute("MaxPacketSize", UintegerValue(1024));
            trace.Install(m_nodes.Get(0));
            Run(Seconds(1));
            NS_TEST_EXPECT_MSG_EQ(echoes, 3, "echoes, IPv6 " << ipv6);
            NS_TEST_EXPECT_MSG_EQ(counted->GetReceived(), 20, "numbered, IPv6 " << ipv6);
            NS_TEST_EXPECT_MSG_EQ(counted->GetLost(), 0, "lost, IPv6 " << ipv6);
            NS_TEST_EXPECT_MSG_GT(traced->GetReceived(), 20, "of the trace, IPv6 " << ipv6);
            NS_TEST_EXPECT_MSG_EQ(traced->GetLost(), 0, "lost of it, IPv6 " << ipv6);
            End();
        }
    }
};

/** Tests ICMP echo by raw sockets. */
class PingTest : public PairTestCase
{
  public:
    PingTest() : PairTestCase("Ping over IPv4 and IPv6, exact to the nanosecond")
    {
    }

  private:
    void RunWithKernel() override
    {
        for (const bool ipv6 : {false, true})
        {
            MakePair();
            std::vector<Time> times;
            PingHelper helper(Host(ipv6));
            helper.SetAttribute("Count", UintegerValue(3));
            helper.SetAttribute("Interval", TimeValue(MilliSeconds(100)));
            helper.SetAttribute("VerboseMode", EnumValue(Ping::VerboseMode::SILENT));
            auto installed = helper.Install(m_nodes.Get(0));
            // Starts after the kernels have sent their own first frames.
            installed.Start(MilliSeconds(500));
            auto ping = installed.Get(0);
            ping->TraceConnectWithoutContext(
                "Rtt",
                Callback<void, uint16_t, Time>([&](uint16_t, Time rtt) { times.push_back(rtt); }));
            Run(Seconds(1));
            // The round-trip time: in each direction a delay of 10 ms, and 80 ns a byte for 56
            // bytes of payload, 8 of ICMP, the IP header and 2 of PPP.
            const int64_t expected = 2 * (10000000 + 80 * (56 + 8 + (ipv6 ? 40 : 20) + 2));
            NS_TEST_EXPECT_MSG_EQ(times.size(), 3, "answers, IPv6 " << ipv6);
            for (const Time& time : times)
            {
                NS_TEST_EXPECT_MSG_EQ(time.GetNanoSeconds(), expected, "IPv6 " << ipv6);
            }
            End();
        }
    }
};

/** Tests functions of raw IPv6 sockets beyond those that Ping needs. */
class Raw6Test : public PairTestCase
{
  public:
    Raw6Test() : PairTestCase("Raw IPv6 sockets: headers, hop limits of packets, groups")
    {
    }

  private:
    Ptr<Socket> MakeRaw(uint32_t node) const
    {
        auto socket = Socket::CreateSocket(m_nodes.Get(node),
                                           TypeId::LookupByName("ns3::Ipv6RawSocketFactory"));
        socket->SetRecvPktInfo(true);
        return socket;
    }

    /** Makes a socket record the hop limits of received packets of protocol 253, which is
     * unassigned. */
    static void Note(Ptr<Socket> socket, std::vector<int>& hopLimits)
    {
        socket->SetRecvCallback(Callback<void, Ptr<Socket>>([&hopLimits](Ptr<Socket> reader) {
            while (auto packet = reader->Recv())
            {
                Ipv6Header header;
                packet->RemoveHeader(header);
                if (packet->GetSize() == 50 && header.GetNextHeader() == 253)
                {
                    hopLimits.push_back(header.GetHopLimit());
                }
            }
        }));
    }

    void RunWithKernel() override
    {
        MakePair();
        const Ipv6Address group("ff05::99");
        std::vector<int> all;
        std::vector<int> grouped;
        auto any = MakeRaw(1);
        any->SetAttribute("Protocol", UintegerValue(253));
        any->Bind(Inet6SocketAddress(Ipv6Address::GetAny(), 0));
        Note(any, all);
        auto member = MakeRaw(1); // the protocol is set after Bind(), as Radvd does
        member->Bind(Inet6SocketAddress(Ipv6Address::GetAllNodesMulticast(), 0));
        member->SetAttribute("Protocol", UintegerValue(253));
        Note(member, grouped);
        auto sender = MakeRaw(0);
        sender->Bind(Inet6SocketAddress(m_interfaces6.GetLinkLocalAddress(0), 0));
        sender->SetAttribute("Protocol", UintegerValue(253));
        const auto send = [&](const Ipv6Address& to, int hopLimit) {
            auto packet = Create<Packet>(50);
            if (hopLimit > 0)
            {
                SocketIpTtlTag tag;
                tag.SetTtl(hopLimit);
                packet->AddPacketTag(tag);
            }
            NS_TEST_EXPECT_MSG_EQ(sender->SendTo(packet, 0, Inet6SocketAddress(to, 0)), 50, "sent");
        };
        Simulator::Schedule(MilliSeconds(100), [&] {
            send(m_interfaces6.GetAddress(1, 1), 0);
            send(m_interfaces6.GetLinkLocalAddress(1), 7);
            send(Ipv6Address::GetAllNodesMulticast(), 255);
            send(m_interfaces6.GetAddress(1, 1), 0);
            Address name;
            sender->GetSockName(name);
            NS_TEST_EXPECT_MSG_EQ(Inet6SocketAddress::ConvertFrom(name).GetIpv6(),
                                  m_interfaces6.GetLinkLocalAddress(0),
                                  "its name");
        });
        Run(MilliSeconds(200));
        NS_TEST_EXPECT_MSG_EQ((all == std::vector<int>{64, 7, 255, 64}), true, "of all packets");
        NS_TEST_EXPECT_MSG_EQ((grouped == std::vector<int>{255}), true, "of the group's alone");
        End();
    }
};

/** Tests that a kernel host gets its address and default route from ns-3's router advertisements.
 */
class RadvdTest : public PairTestCase
{
  public:
    RadvdTest() : PairTestCase("Radvd on a router gives a host its address and its route")
    {
    }

  private:
    void RunWithKernel() override
    {
        // The line is host - router - far node; only the router configures the host.
        KernelStackHelper stack;
        MakeLine(3, stack);
        Ipv6AddressHelper addresses(Ipv6Address("fd00:7::"), Ipv6Prefix(64));
        auto host = addresses.AssignWithoutAddress(NetDeviceContainer(m_devices.Get(0)));
        auto router = addresses.Assign(NetDeviceContainer(m_devices.Get(1)));
        addresses.SetBase(Ipv6Address("fd00:8::"), Ipv6Prefix(64));
        auto far = addresses.Assign(NetDeviceContainer(m_devices.Get(2), m_devices.Get(3)));
        router.SetForwarding(0, true);
        far.SetForwarding(0, true);
        far.SetDefaultRouteInAllNodes(0);
        RadvdHelper radvd;
        radvd.AddAnnouncedPrefix(router.GetInterfaceIndex(0), Ipv6Address("fd00:7::"), 64);
        radvd.Install(m_nodes.Get(1)).Start(MilliSeconds(500));
        const Ipv6Address expected = Ipv6Address::MakeAutoconfiguredAddress(
            Mac48Address::ConvertFrom(m_devices.Get(0)->GetAddress()), Ipv6Address("fd00:7::"));
        uint32_t answers = 0;
        uint32_t replies = 0;
        Ping6(2, expected, &answers);             // from the far node to the host
        Ping6(0, far.GetAddress(1, 1), &replies); // from the host to the far node
        Run(Seconds(4));
        NS_TEST_EXPECT_MSG_EQ(answers, 2, "the host answers on " << expected);
        NS_TEST_EXPECT_MSG_EQ(replies, 2, "it reaches what is beyond the router");
        End();
    }

    void Ping6(uint32_t node, const Ipv6Address& to, uint32_t* answers)
    {
        PingHelper helper{Address(to)};
        helper.SetAttribute("Count", UintegerValue(2));
        helper.SetAttribute("VerboseMode", EnumValue(Ping::VerboseMode::SILENT));
        auto ping = helper.Install(m_nodes.Get(node));
        ping.Start(Seconds(2));
        ping.Get(0)->TraceConnectWithoutContext(
            "Rtt", Callback<void, uint16_t, Time>([answers](uint16_t, Time) { ++*answers; }));
    }
};

class KernelNs3ApplicationsTestSuite : public TestSuite
{
  public:
    KernelNs3ApplicationsTestSuite() : TestSuite("viaduct-kernel-ns3-applications", Type::SYSTEM)
    {
        AddTestCase(new HttpTest, Duration::QUICK);
        AddTestCase(new UdpTest, Duration::QUICK);
        AddTestCase(new Raw6Test, Duration::QUICK);
        AddTestCase(new RadvdTest, Duration::QUICK);
        AddTestCase(new PingTest, Duration::QUICK);
    }
};

KernelNs3ApplicationsTestSuite g_kernelNs3ApplicationsTestSuite; //!< registers itself

} // namespace
