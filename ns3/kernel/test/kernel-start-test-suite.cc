/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test/kernel-test-support.h"

#include "ns3/boolean.h"
#include "ns3/bulk-send-helper.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/integer.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/ipv6-address-helper.h"
#include "ns3/ipv6-static-routing-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/socket.h"
#include "ns3/udp-socket.h"
#include "ns3/uinteger.h"

#include <string>

/**
 * @file
 * @ingroup viaduct
 * Tests of the use of sockets before Simulator::Run() and at the first instant of the simulation.
 */

using namespace ns3;
using viaducttest::KernelTestCase;

namespace
{

const char* const TCP = "ns3::KernelTcpSocketFactory";
const char* const UDP = "ns3::KernelUdpSocketFactory";

/** A test of sockets on four nodes in a line: two hosts, and two routers between the hosts. */
class StartTestCase : public KernelTestCase
{
  public:
    using KernelTestCase::KernelTestCase;

  protected:
    void MakeHops()
    {
        KernelStackHelper stack;
        MakeLine(4, stack);
        Ipv6AddressHelper addresses(Ipv6Address("fd00:1::"), Ipv6Prefix(64));
        for (uint32_t i = 0; i < 6; i += 2)
        {
            m_interfaces6.Add(
                addresses.Assign(NetDeviceContainer(m_devices.Get(i), m_devices.Get(i + 1))));
            addresses.NewNetwork();
        }
    }

    /** Adds static IPv6 routes between the two hosts at the ends of the line. */
    void RouteByHand6()
    {
        for (uint32_t node = 0; node < 4; ++node)
        {
            m_nodes.Get(node)->GetObject<Ipv6>()->SetAttribute("IpForward", BooleanValue(true));
            auto routes =
                Ipv6StaticRoutingHelper().GetStaticRouting(m_nodes.Get(node)->GetObject<Ipv6>());
            if (node < 3) // add a route to the network of the right host
            {
                routes->AddNetworkRouteTo(Ipv6Address("fd00:1:0:2::"),
                                          Ipv6Prefix(64),
                                          m_interfaces6.GetAddress(2 * node + 1, 1),
                                          node == 0 ? 1 : 2);
            }
            if (node > 0)
            {
                routes->AddNetworkRouteTo(Ipv6Address("fd00:1::"),
                                          Ipv6Prefix(64),
                                          m_interfaces6.GetAddress(2 * node - 2, 1),
                                          1);
            }
        }
    }

    Address Server(bool ipv6) const
    {
        return ipv6 ? Address(Inet6SocketAddress(m_interfaces6.GetAddress(5, 1), 5000))
                    : Address(InetSocketAddress(m_interfaces.GetAddress(5), 5000));
    }

    static Address Any(bool ipv6)
    {
        return ipv6 ? Address(Inet6SocketAddress(Ipv6Address::GetAny(), 5000))
                    : Address(InetSocketAddress(Ipv4Address::GetAny(), 5000));
    }

    Ptr<Socket> MakeSocket(uint32_t node, const char* factory) const
    {
        return Socket::CreateSocket(m_nodes.Get(node), TypeId::LookupByName(factory));
    }

    /** Records the time at which a socket is connected, or that the connection failed. */
    void Watch(Ptr<Socket> socket)
    {
        socket->SetConnectCallback(
            Callback<void, Ptr<Socket>>([this](Ptr<Socket>) { m_connected = Simulator::Now(); }),
            Callback<void, Ptr<Socket>>([this](Ptr<Socket>) { m_failed = true; }));
    }

    /** Counts the bytes that a socket, or a socket accepted by a listening socket, receives. */
    void Count(Ptr<Socket> socket)
    {
        const auto read = Callback<void, Ptr<Socket>>([this](Ptr<Socket> reader) {
            while (auto packet = reader->Recv())
            {
                if (packet->GetSize() == 0)
                {
                    break;
                }
                m_received += packet->GetSize();
                m_last = Simulator::Now();
            }
        });
        socket->SetRecvCallback(read);
        socket->SetAcceptCallback(
            MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
            Callback<void, Ptr<Socket>, const Address&>(
                [read](Ptr<Socket> accepted, const Address&) { accepted->SetRecvCallback(read); }));
    }

    void Run(Time stop)
    {
        Simulator::Stop(stop);
        Simulator::Run();
    }

    /** Ends the simulation and resets the members, so that another simulation may follow. */
    void End()
    {
        m_interfaces6 = Ipv6InterfaceContainer();
        Clear();
        m_connected = Time();
        m_last = Time();
        m_received = 0;
        m_failed = false;
    }

    Ipv6InterfaceContainer m_interfaces6; //!< IPv6 addresses, in the order of m_interfaces
    Time m_connected;                     //!< time at which the socket of Watch() was connected
    bool m_failed{false};                 //!< whether the socket of Watch() failed to connect
    Time m_last;                          //!< time at which the last bytes were counted
    uint32_t m_received{0};               //!< bytes counted by Count()
};

/** Tests TCP sockets whose operations are all called before Simulator::Run(), as in many of ns-3's
 * examples. */
class BeforeRunTest : public StartTestCase
{
  public:
    BeforeRunTest()
        : StartTestCase("TCP sockets that listen, connect and send before Run(), over two routers")
    {
    }

  private:
    void RunWithKernel() override
    {
        for (const bool ipv6 : {false, true})
        {
            MakeHops();
            auto listener = MakeSocket(3, TCP);
            NS_TEST_EXPECT_MSG_EQ(listener->Bind(Any(ipv6)), 0, "bind");
            NS_TEST_EXPECT_MSG_EQ(listener->Listen(), 0, "listen");
            Count(listener);
            auto client = MakeSocket(0, TCP);
            Watch(client);
            client->BindToNetDevice(m_devices.Get(0));
            NS_TEST_EXPECT_MSG_EQ(client->Connect(Server(ipv6)), 0, "connect");
            NS_TEST_EXPECT_MSG_EQ(client->Send(Create<Packet>(700)), 700, "send");
            // The routes are added after the calls of Connect() and Send(): the sockets must use
            // the routes that exist at the start of the simulation.
            Ipv4GlobalRoutingHelper::PopulateRoutingTables();
            RouteByHand6();
            Run(Seconds(1));
            NS_TEST_EXPECT_MSG_EQ(m_failed, false, "connected, IPv6 " << ipv6);
            // The maximum delay: 10 ms for each of six links, and a microsecond for each byte of a
            // packet of at most 80 bytes.
            NS_TEST_EXPECT_MSG_EQ_TOL(
                m_connected.GetSeconds(), 0.06, 0.0001, "one round trip, IPv6 " << ipv6);
            NS_TEST_EXPECT_MSG_EQ(m_received, 700, "bytes, IPv6 " << ipv6);
            NS_TEST_EXPECT_MSG_EQ_TOL(
                m_last.GetSeconds(), 0.09, 0.001, "half a round trip later, IPv6 " << ipv6);
            End();
        }
    }
};

/** Tests datagrams that are sent, and multicast groups that are joined, before Simulator::Run(). */
class DatagramsTest : public StartTestCase
{
  public:
    DatagramsTest() : StartTestCase("Datagrams sent and groups joined before Run()")
    {
    }

  private:
    void RunWithKernel() override
    {
        MakeHops();
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
        auto receiver = MakeSocket(3, UDP);
        receiver->Bind(Any(false));
        Count(receiver);
        auto sender = MakeSocket(0, UDP);
        NS_TEST_EXPECT_MSG_EQ(sender->SendTo(Create<Packet>(100), 0, Server(false)), 100, "send");
        auto connected = MakeSocket(0, UDP);
        connected->Connect(Server(false));
        NS_TEST_EXPECT_MSG_EQ(connected->Send(Create<Packet>(20)), 20, "send");
        JoinAndSend();
        Run(Seconds(1));
        NS_TEST_EXPECT_MSG_EQ(m_received, 120, "both datagrams");
        NS_TEST_EXPECT_MSG_EQ_TOL(m_last.GetSeconds(), 0.03, 0.0001, "at once");
        NS_TEST_EXPECT_MSG_EQ(m_group, 30, "the group's, on the interface that was named");
    }

    /** Makes node 1 join a multicast group on its second interface, and node 2 send a datagram to
     * the group through its first interface, which is on the same link. */
    void JoinAndSend()
    {
        const InetSocketAddress group(Ipv4Address("239.1.2.3"), 6000);
        auto member = DynamicCast<UdpSocket>(MakeSocket(1, UDP));
        member->Bind(InetSocketAddress(Ipv4Address::GetAny(), 6000));
        member->MulticastJoinGroup(2, group);
        member->SetRecvCallback(Callback<void, Ptr<Socket>>(
            [this](Ptr<Socket> socket) { m_group += socket->Recv()->GetSize(); }));
        auto sender = MakeSocket(2, UDP);
        sender->SetAttribute("IpMulticastIf", IntegerValue(1));
        NS_TEST_EXPECT_MSG_EQ(sender->SendTo(Create<Packet>(30), 0, group), 30, "to a group");
    }

    uint32_t m_group{0}; //!< bytes sent to the group that node 1 has received
};

/** Tests applications that start at time 0, and a connection right after a change of routes. */
class AtOnceTest : public StartTestCase
{
  public:
    AtOnceTest() : StartTestCase("Applications that start at time 0, and right after a new route")
    {
    }

  private:
    Ptr<PacketSink> Bulk(bool ipv6)
    {
        PacketSinkHelper sinkHelper(TCP, Any(ipv6));
        auto sink = DynamicCast<PacketSink>(sinkHelper.Install(m_nodes.Get(3)).Get(0));
        BulkSendHelper source(TCP, Server(ipv6));
        source.SetAttribute("MaxBytes", UintegerValue(10000));
        source.Install(m_nodes.Get(0)).Start(Seconds(0));
        return sink;
    }

    void RunWithKernel() override
    {
        MakeHops();
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
        RouteByHand6();
        auto sink = Bulk(false);
        auto sink6 = Bulk(true);
        Run(MilliSeconds(200));
        NS_TEST_EXPECT_MSG_EQ(sink->GetTotalRx(), 10000, "bytes");
        NS_TEST_EXPECT_MSG_EQ(sink6->GetTotalRx(), 10000, "bytes over IPv6");
        End();
        ConnectAfterRoute();
    }

    /** Tests a host that gets its route at the instant at which it connects; all other nodes have
     * their routes from the start. */
    void ConnectAfterRoute()
    {
        MakeHops();
        Ipv4StaticRoutingHelper routing;
        const auto add = [&](uint32_t node, const char* network, const char* gateway) {
            auto ipv4 = m_nodes.Get(node)->GetObject<Ipv4>();
            routing.GetStaticRouting(ipv4)->AddNetworkRouteTo(
                Ipv4Address(network),
                Ipv4Mask("255.255.255.0"),
                Ipv4Address(gateway),
                node == 0 || std::string(network) == "10.0.0.0" ? 1 : 2);
        };
        add(1, "10.0.2.0", "10.0.1.2");
        add(2, "10.0.0.0", "10.0.1.1");
        add(3, "10.0.0.0", "10.0.2.1");
        auto listener = MakeSocket(3, TCP);
        listener->Bind(Any(false));
        listener->Listen();
        auto client = MakeSocket(0, TCP);
        Watch(client);
        Simulator::Schedule(MilliSeconds(510), [&] {
            add(0, "10.0.2.0", "10.0.0.2");
            client->Connect(Server(false));
        });
        Run(Seconds(1));
        NS_TEST_EXPECT_MSG_EQ(m_failed, false, "connected by the route of the same instant");
        NS_TEST_EXPECT_MSG_EQ_TOL(m_connected.GetSeconds(), 0.57, 0.0001, "at once");
        End();
    }
};

class KernelStartTestSuite : public TestSuite
{
  public:
    KernelStartTestSuite() : TestSuite("viaduct-kernel-start", Type::SYSTEM)
    {
        AddTestCase(new BeforeRunTest, Duration::QUICK);
        AddTestCase(new DatagramsTest, Duration::QUICK);
        AddTestCase(new AtOnceTest, Duration::QUICK);
    }
};

KernelStartTestSuite g_kernelStartTestSuite; //!< registers the suite

} // namespace
