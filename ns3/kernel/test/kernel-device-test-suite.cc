/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test/kernel-test-support.h"

#include "ns3/bridge-helper.h"
#include "ns3/bulk-send-helper.h"
#include "ns3/csma-helper.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/ipv6-address-helper.h"
#include "ns3/ipv6-static-routing-helper.h"
#include "ns3/olsr-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/udp-client-server-helper.h"
#include "ns3/udp-server.h"
#include "ns3/uinteger.h"

/**
 * @file
 * @ingroup viaduct
 * Tests of kernel nodes with different devices of ns-3, and in networks with nodes that have ns-3's
 * own stack.
 */

using namespace ns3;
using viaducttest::KernelTestCase;

namespace
{

/** A test of transfers between nodes of a network. */
class NetworkTestCase : public KernelTestCase
{
  public:
    using KernelTestCase::KernelTestCase;

  protected:
    /** The receivers of a transfer, which consists of a TCP stream and a series of datagrams. */
    struct Expected
    {
        std::string name;    //!< the transfer's name
        Ptr<PacketSink> tcp; //!< receiver of BYTES by TCP
        Ptr<UdpServer> udp;  //!< receiver of DATAGRAMS by UDP
    };

    static constexpr uint32_t BYTES = 200000;
    static constexpr uint32_t DATAGRAMS = 20;

    /** Installs a transfer from one node to an address of another node. The socket factories,
     * TcpSocketFactory and UdpSocketFactory, exist in ns-3's stack and in kernel stacks. */
    void Send(const std::string& name, Ptr<Node> from, Ptr<Node> to, const Address& address)
    {
        const auto port = static_cast<uint16_t>(5000 + 2 * m_expected.size());
        const bool ipv6 = Ipv6Address::IsMatchingType(address);
        const auto place = [&](uint16_t number) {
            return ipv6 ? Address(Inet6SocketAddress(Ipv6Address::ConvertFrom(address), number))
                        : Address(InetSocketAddress(Ipv4Address::ConvertFrom(address), number));
        };
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              ipv6 ? Address(Inet6SocketAddress(Ipv6Address::GetAny(), port))
                                   : Address(InetSocketAddress(Ipv4Address::GetAny(), port)));
        BulkSendHelper source("ns3::TcpSocketFactory", place(port));
        source.SetAttribute("MaxBytes", UintegerValue(BYTES));
        source.Install(from).Start(m_start);
        UdpClientHelper client(place(port + 1));
        client.SetAttribute("MaxPackets", UintegerValue(DATAGRAMS));
        client.SetAttribute("Interval", TimeValue(MilliSeconds(20)));
        client.Install(from).Start(m_start);
        m_expected.push_back(
            {name,
             DynamicCast<PacketSink>(sink.Install(to).Get(0)),
             DynamicCast<UdpServer>(UdpServerHelper(port + 1).Install(to).Get(0))});
    }

    /** Runs the simulation and checks that all data of all transfers has arrived. */
    void RunAndExpect(Time duration = Seconds(10))
    {
        Simulator::Stop(m_start + duration);
        Simulator::Run();
        for (const Expected& expected : m_expected)
        {
            NS_TEST_EXPECT_MSG_EQ(expected.tcp->GetTotalRx(), BYTES, "TCP, " << expected.name);
            NS_TEST_EXPECT_MSG_EQ(expected.udp->GetReceived(), DATAGRAMS, "UDP, " << expected.name);
        }
        m_expected.clear();
        Clear();
    }

    Time m_start{Seconds(1)};         //!< time at which transfers begin
    std::vector<Expected> m_expected; //!< receivers of all transfers
};

/** Tests kernel nodes with SimpleNetDevice, ns-3's simplest device, which does not report the end
 * of a transmission. */
class SimpleDeviceTest : public NetworkTestCase
{
  public:
    SimpleDeviceTest() : NetworkTestCase("SimpleNetDevice")
    {
    }

  private:
    void RunWithKernel() override
    {
        for (const bool pointToPoint : {false, true})
        {
            m_nodes.Create(2);
            KernelStackHelper().Install(m_nodes);
            SimpleNetDeviceHelper link;
            link.SetNetDevicePointToPointMode(pointToPoint);
            link.SetDeviceAttribute("DataRate", StringValue("50Mbps"));
            link.SetChannel("ns3::SimpleChannel", "Delay", StringValue("2ms"));
            const auto to =
                Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(link.Install(m_nodes));
            Send("forth", m_nodes.Get(0), m_nodes.Get(1), to.GetAddress(1));
            Send("back", m_nodes.Get(1), m_nodes.Get(0), to.GetAddress(0));
            RunAndExpect();
        }
    }
};

/** Tests a switch (BridgeNetDevice) between kernel nodes, and a kernel node whose device is the
 * switch. */
class BridgeTest : public NetworkTestCase
{
  public:
    BridgeTest() : NetworkTestCase("BridgeNetDevice: a switch, and on a kernel node itself")
    {
    }

  private:
    // Uses the network host 0 -- switch 2 -- host 1, first with a switch without a stack, then with
    // a switch that has a kernel stack.
    void RunWithKernel() override
    {
        for (const bool middle : {false, true})
        {
            m_nodes.Create(3);
            NodeContainer kernels(m_nodes.Get(0), m_nodes.Get(1));
            if (middle)
            {
                kernels.Add(m_nodes.Get(2));
            }
            KernelStackHelper().Install(kernels);
            CsmaHelper link;
            link.SetChannelAttribute("DataRate", StringValue("100Mbps"));
            NetDeviceContainer hosts;
            NetDeviceContainer ports;
            for (uint32_t i = 0; i < 2; ++i)
            {
                const auto ends = link.Install(NodeContainer(m_nodes.Get(i), m_nodes.Get(2)));
                hosts.Add(ends.Get(0));
                ports.Add(ends.Get(1));
            }
            const auto bridge = BridgeHelper().Install(m_nodes.Get(2), ports);
            Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
            const auto to = addresses.Assign(hosts);
            Send("through the bridge", m_nodes.Get(0), m_nodes.Get(1), to.GetAddress(1));
            if (middle)
            {
                const auto own = addresses.Assign(bridge);
                Send("to the bridge", m_nodes.Get(0), m_nodes.Get(2), own.GetAddress(0));
                Send("from the bridge", m_nodes.Get(2), m_nodes.Get(1), to.GetAddress(1));
            }
            RunAndExpect();
        }
    }
};

/** Tests routers with ns-3's own stack between kernel hosts, and kernel routers between hosts with
 * ns-3's own stack. */
class MixedRoutersTest : public NetworkTestCase
{
  public:
    MixedRoutersTest()
        : NetworkTestCase("Kernel hosts behind ns-3 routers, ns-3 hosts behind kernels")
    {
    }

  private:
    enum class Routing
    {
        GLOBAL,
        STATIC,
        OLSR
    };

    /** Tests transfers on a line of four nodes, of which the two nodes at the ends, or the two
     * nodes in the middle, have kernels. */
    void Line(bool kernelsAtEnds, Routing routing)
    {
        m_nodes.Create(4);
        const NodeContainer ends(m_nodes.Get(0), m_nodes.Get(3));
        const NodeContainer middle(m_nodes.Get(1), m_nodes.Get(2));
        KernelStackHelper kernels;
        InternetStackHelper natives;
        if (routing == Routing::OLSR)
        {
            kernels.SetRoutingHelper(OlsrHelper());
            natives.SetRoutingHelper(OlsrHelper());
        }
        kernels.Install(kernelsAtEnds ? ends : middle);
        natives.Install(kernelsAtEnds ? middle : ends);
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue("50Mbps"));
        link.SetChannelAttribute("Delay", StringValue("1ms"));
        Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
        Ipv4InterfaceContainer to;
        for (uint32_t i = 0; i < 3; ++i)
        {
            to.Add(addresses.Assign(link.Install(m_nodes.Get(i), m_nodes.Get(i + 1))));
            addresses.NewNetwork();
        }
        if (routing == Routing::GLOBAL)
        {
            Ipv4GlobalRoutingHelper::PopulateRoutingTables();
        }
        else if (routing == Routing::STATIC)
        {
            RouteByHand(to);
        }
        m_start = routing == Routing::OLSR ? Seconds(30) : Seconds(1);
        Send("forth", m_nodes.Get(0), m_nodes.Get(3), to.GetAddress(5));
        Send("back", m_nodes.Get(3), m_nodes.Get(0), to.GetAddress(0));
        RunAndExpect();
        m_start = Seconds(1);
    }

    /** Adds static routes: from the nodes on the left to the right end, and from the nodes on the
     * right to the left end. */
    void RouteByHand(const Ipv4InterfaceContainer& to)
    {
        const auto table = [this](uint32_t node) {
            return Ipv4StaticRoutingHelper().GetStaticRouting(m_nodes.Get(node)->GetObject<Ipv4>());
        };
        table(0)->SetDefaultRoute(to.GetAddress(1), 1);
        table(1)->AddNetworkRouteTo("10.0.2.0", "255.255.255.0", to.GetAddress(3), 2);
        table(2)->AddNetworkRouteTo("10.0.0.0", "255.255.255.0", to.GetAddress(2), 1);
        table(3)->SetDefaultRoute(to.GetAddress(4), 1);
    }

    void RunWithKernel() override
    {
        for (const bool kernelsAtEnds : {true, false})
        {
            for (const Routing routing : {Routing::GLOBAL, Routing::STATIC, Routing::OLSR})
            {
                Line(kernelsAtEnds, routing);
            }
        }
    }
};

/** Tests transfers over IPv6 through a kernel router, with ns-3's static routes. */
class Ipv6RoutersTest : public NetworkTestCase
{
  public:
    Ipv6RoutersTest() : NetworkTestCase("IPv6 by static routes")
    {
    }

  private:
    // Makes the links of the network host 0 -- router 1 -- host 2.
    NetDeviceContainer Links()
    {
        CsmaHelper link;
        link.SetChannelAttribute("DataRate", StringValue("100Mbps"));
        NetDeviceContainer devices = link.Install(NodeContainer(m_nodes.Get(0), m_nodes.Get(1)));
        devices.Add(link.Install(NodeContainer(m_nodes.Get(1), m_nodes.Get(2))));
        return devices;
    }

    void ByRoutes()
    {
        m_nodes.Create(3);
        KernelStackHelper().Install(m_nodes);
        const auto devices = Links();
        Ipv6AddressHelper addresses(Ipv6Address("fd00:1::"), Ipv6Prefix(64));
        auto left = addresses.Assign(NetDeviceContainer(devices.Get(0), devices.Get(1)));
        addresses.NewNetwork();
        auto right = addresses.Assign(NetDeviceContainer(devices.Get(2), devices.Get(3)));
        left.SetForwarding(1, true);
        right.SetForwarding(0, true);
        left.SetDefaultRouteInAllNodes(1);
        right.SetDefaultRouteInAllNodes(0);
        Send("static", m_nodes.Get(0), m_nodes.Get(2), right.GetAddress(1, 1));
        RunAndExpect();
    }

    void RunWithKernel() override
    {
        ByRoutes();
    }
};

class KernelDeviceTestSuite : public TestSuite
{
  public:
    KernelDeviceTestSuite() : TestSuite("viaduct-kernel-device", Type::SYSTEM)
    {
        AddTestCase(new SimpleDeviceTest, Duration::QUICK);
        AddTestCase(new BridgeTest, Duration::QUICK);
        AddTestCase(new MixedRoutersTest, Duration::QUICK);
        AddTestCase(new Ipv6RoutersTest, Duration::QUICK);
    }
};

KernelDeviceTestSuite g_kernelDeviceTestSuite; //!< registers the suite

} // namespace
