/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test/kernel-test-support.h"

#include "ns3/boolean.h"
#include "ns3/bulk-send-helper.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/ipv6-address-helper.h"
#include "ns3/ipv6-static-routing-helper.h"
#include "ns3/kernel/kernel-application-helper.h"
#include "ns3/kernel/kernel-state.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/path/path-channel.h"
#include "ns3/path/path-helper.h"
#include "ns3/socket/kernel-socket-stack.h"
#include "ns3/uinteger.h"

#include <algorithm>

/**
 * @file
 * @ingroup viaduct
 * Tests of the links of kernel nodes: links that go down and up, and the MTU of links.
 */

using namespace ns3;

namespace
{

using viaducttest::KernelTestCase;

/** A test of TCP transfers between kernel nodes. */
class LinkTestCase : public KernelTestCase
{
  public:
    using KernelTestCase::KernelTestCase;

  protected:
    /** Installs a TCP transfer of `bytes` bytes from one node to another node, which starts at 1 s.
     * @return the receiver of the transfer */
    Ptr<PacketSink> Transfer(uint32_t from, uint32_t to, const Address& address, uint32_t bytes)
    {
        auto sink = PacketSinkHelper("ns3::TcpSocketFactory", address)
                        .Install(m_nodes.Get(to))
                        .Get(0)
                        ->GetObject<PacketSink>();
        BulkSendHelper source("ns3::TcpSocketFactory", address);
        source.SetAttribute("MaxBytes", UintegerValue(bytes));
        source.Install(m_nodes.Get(from)).Start(Seconds(1));
        return sink;
    }

    /** Records in m_largest the size of the largest packet that a device sends. */
    void Measure(Ptr<NetDevice> device)
    {
        device->TraceConnectWithoutContext(
            "MacTx", Callback<void, Ptr<const Packet>>([this](Ptr<const Packet> packet) {
                m_largest = std::max(m_largest, packet->GetSize());
            }));
    }

    uint32_t m_largest{0}; //!< bytes of the largest packet that was sent
};

/** Tests a TCP transfer and the kernel's routes when a link goes down for 3 s. */
class LinkDownTest : public LinkTestCase
{
  public:
    LinkDownTest() : LinkTestCase("TCP survives a link that is down for 3 s, routes know of it")
    {
    }

  private:
    void RunWithKernel() override
    {
        m_nodes.Create(2);
        KernelStackHelper().Install(m_nodes);
        PathHelper link;
        link.SetChannelAttribute("Up", StringValue("delay=10ms rate=10Mbit"));
        link.SetChannelAttribute("Down", StringValue("delay=10ms rate=10Mbit"));
        auto devices = link.Install(m_nodes);
        Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(devices);
        auto sink = Transfer(0, 1, InetSocketAddress("10.0.0.2", 5000), 3000000);
        auto channel = DynamicCast<PathChannel>(devices.Get(0)->GetChannel());
        std::vector<uint64_t> counts;
        const auto count = [&] { counts.push_back(sink->GetTotalRx()); };
        // The bytes are counted 0.5 s after the link goes down, as frames in flight still arrive.
        Simulator::Schedule(Seconds(2), [&] { channel->SetLinkUp(false); });
        Simulator::Schedule(MilliSeconds(2500), count);
        Simulator::Schedule(Seconds(5), count);
        Simulator::Schedule(Seconds(5), [&] { channel->SetLinkUp(true); });
        std::vector<Ptr<KernelApplication>> routes;
        for (const double at : {1.9, 4.9, 6.9})
        {
            KernelApplicationHelper show({"ip", "route", "show", "dev", "eth0"});
            auto application = show.Install(m_nodes.Get(0));
            application.Start(Seconds(at));
            routes.push_back(DynamicCast<KernelApplication>(application.Get(0)));
        }
        Simulator::Stop(Seconds(12));
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(counts.size(), 2, "counted");
        NS_TEST_EXPECT_MSG_GT(counts[0], 1000000, "a second's worth");
        NS_TEST_EXPECT_MSG_EQ(counts[1], counts[0], "nothing gets through");
        NS_TEST_EXPECT_MSG_EQ(sink->GetTotalRx(), 3000000, "and then all of it");
        // The kernel keeps the route of a link without a carrier, but marks the route "linkdown"
        // (fib_sync_down_dev() of net/ipv4/fib_semantics.c).
        const std::string usual = "10.0.0.0/24 proto kernel scope link src 10.0.0.1 ";
        NS_TEST_EXPECT_MSG_EQ(routes[0]->GetOutput(), usual + "\n", "up");
        NS_TEST_EXPECT_MSG_EQ(routes[1]->GetOutput(), usual + "linkdown \n", "down");
        NS_TEST_EXPECT_MSG_EQ(routes[2]->GetOutput(), usual + "\n", "up again");
    }
};

/** Tests frames that are longer than one receive buffer of the kernel, and a change of the MTU. */
class JumboTest : public LinkTestCase
{
  public:
    JumboTest() : LinkTestCase("TCP over an MTU of 9000, and of 1400 from 3 s on")
    {
    }

  private:
    void RunWithKernel() override
    {
        m_nodes.Create(2);
        KernelStackHelper().Install(m_nodes);
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue("10Mbps"));
        link.SetDeviceAttribute("Mtu", UintegerValue(9000));
        link.SetChannelAttribute("Delay", StringValue("1ms"));
        auto devices = link.Install(m_nodes);
        Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(devices);
        auto sink = Transfer(0, 1, InetSocketAddress("10.0.0.2", 5000), 4000000);
        Measure(devices.Get(0));
        uint32_t before = 0;
        Simulator::Schedule(Seconds(3), [&] {
            before = m_largest;
            devices.Get(0)->SetMtu(1400);
            devices.Get(1)->SetMtu(1400);
        });
        // The measurement begins 0.5 s after the change of the MTU, as frames that the kernel
        // passed to its device before the change are still sent.
        Simulator::Schedule(MilliSeconds(3500), [&] { m_largest = 0; });
        Simulator::Stop(Seconds(10));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(before, 9002, "with PPP's header");
        NS_TEST_EXPECT_MSG_EQ(m_largest, 1402, "with PPP's header");
        NS_TEST_EXPECT_MSG_EQ(sink->GetTotalRx(), 4000000, "all of it");
    }
};

/** Tests path MTU discovery for IPv4 (RFC 1191) and IPv6 (RFC 8201). */
class PathMtuTest : public LinkTestCase
{
  public:
    PathMtuTest() : LinkTestCase("Path MTU discovery over a router with a link of 1300")
    {
    }

  private:
    void RunWithKernel() override
    {
        KernelStackHelper stack;
        MakeLine(4, stack);
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
        MakeIpv6();
        for (const uint32_t device : {2, 3})
        {
            m_devices.Get(device)->SetMtu(1300);
        }
        Measure(m_devices.Get(2));
        auto sink4 = Transfer(0, 3, InetSocketAddress(m_interfaces.GetAddress(5), 5000), 300000);
        auto sink6 = Transfer(0, 3, Inet6SocketAddress(m_ipv6[5], 5001), 300000);
        KernelState::Counters counters;
        auto state = m_nodes.Get(0)->GetObject<KernelState>();
        state->TraceConnectWithoutContext(
            "Counters",
            Callback<void, const KernelState::Counters&>(
                [&](const KernelState::Counters& now) { counters = now; }));
        state->SetAttribute("Interval", TimeValue(Seconds(1)));
        Simulator::Stop(Seconds(5));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(sink4->GetTotalRx(), 300000, "over IPv4");
        NS_TEST_EXPECT_MSG_EQ(sink6->GetTotalRx(), 300000, "over IPv6");
        NS_TEST_EXPECT_MSG_EQ(m_largest, 1302, "with PPP's header");
        NS_TEST_EXPECT_MSG_GT(counters["IcmpMsgInType3"], 0, "fragmentation needed");
        NS_TEST_EXPECT_MSG_GT(counters["Icmp6InPktTooBigs"], 0, "packet too big");
    }

    /** Adds IPv6 addresses in fd00:LINK::/64, and routes from node 0 to node 3 and back. */
    void MakeIpv6()
    {
        Ipv6AddressHelper addresses;
        for (uint32_t i = 0; i < 3; ++i)
        {
            addresses.SetBase(Ipv6Address(("fd00:" + std::to_string(i) + "::").c_str()),
                              Ipv6Prefix(64));
            const auto ends = addresses.Assign(
                NetDeviceContainer(m_devices.Get(2 * i), m_devices.Get(2 * i + 1)));
            m_ipv6.push_back(ends.GetAddress(0, 1));
            m_ipv6.push_back(ends.GetAddress(1, 1));
        }
        for (const uint32_t router : {1, 2})
        {
            m_nodes.Get(router)->GetObject<Ipv6>()->SetAttribute("IpForward", BooleanValue(true));
        }
        const auto route = [&](uint32_t node, const char* network, uint32_t gateway) {
            Ipv6StaticRoutingHelper helper;
            auto ip = m_nodes.Get(node)->GetObject<Ipv6>();
            // A router has two devices in m_devices: the left device has the odd index
            // 2 * node - 1, the right device has the index 2 * node.
            const uint32_t device = node == 0 || network[5] != '0' ? 2 * node : 2 * node - 1;
            helper.GetStaticRouting(ip)->AddNetworkRouteTo(
                Ipv6Address(network),
                Ipv6Prefix(64),
                m_ipv6[gateway],
                ip->GetInterfaceForDevice(m_devices.Get(device)));
        };
        route(0, "fd00:2::", 1);
        route(1, "fd00:2::", 3);
        route(2, "fd00:0::", 2);
        route(3, "fd00:0::", 4);
    }

    std::vector<Ipv6Address> m_ipv6; //!< IPv6 addresses in the order of m_devices
};

/** Tests a device with IPv4 and IPv6: IPv4 is set down, or its address is removed, for two seconds;
 * IPv6 must continue to work. */
class FamilyDownTest : public LinkTestCase
{
  public:
    FamilyDownTest()
        : LinkTestCase("IPv4 alone is set down, or has no address, on a router's device")
    {
    }

  private:
    /** Sends a datagram every 10 ms from node 0 to node 2, and counts the received datagrams by the
     * second in which they arrive. */
    void Stream(const Address& to, const Address& local, std::vector<uint32_t>& counts)
    {
        counts.assign(4, 0);
        const auto udp = TypeId::LookupByName("ns3::UdpSocketFactory");
        auto receiver = Socket::CreateSocket(m_nodes.Get(2), udp);
        receiver->Bind(local);
        receiver->SetRecvCallback(Callback<void, Ptr<Socket>>([&counts](Ptr<Socket> socket) {
            while (socket->Recv())
            {
                ++counts.at(static_cast<size_t>(Simulator::Now().GetSeconds()));
            }
        }));
        auto sender = Socket::CreateSocket(m_nodes.Get(0), udp);
        for (int64_t at = 5; at < 4000; at += 10)
        {
            Simulator::Schedule(MilliSeconds(at),
                                [sender, to] { sender->SendTo(Create<Packet>(100), 0, to); });
        }
    }

    void RunOne(bool down)
    {
        KernelStackHelper stack;
        MakeLine(3, stack);
        for (uint32_t i = 0; i < m_devices.GetN(); ++i)
        {
            m_devices.Get(i)->GetChannel()->SetAttribute("Delay", TimeValue(MicroSeconds(1)));
        }
        Ipv6AddressHelper addresses(Ipv6Address("fd00:1::"), Ipv6Prefix(64));
        auto near = addresses.Assign(NetDeviceContainer(m_devices.Get(0), m_devices.Get(1)));
        addresses.SetBase(Ipv6Address("fd00:2::"), Ipv6Prefix(64));
        auto far = addresses.Assign(NetDeviceContainer(m_devices.Get(2), m_devices.Get(3)));
        near.SetForwarding(1, true);
        far.SetForwarding(0, true);
        near.SetDefaultRoute(0, 1);
        far.SetDefaultRoute(1, 0);
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
        std::vector<uint32_t> got4;
        std::vector<uint32_t> got6;
        Stream(InetSocketAddress(m_interfaces.GetAddress(3), 700),
               InetSocketAddress(Ipv4Address::GetAny(), 700),
               got4);
        Stream(Inet6SocketAddress(far.GetAddress(1, 1), 700),
               Inet6SocketAddress(Ipv6Address::GetAny(), 700),
               got6);
        // If `down` is true, IPv4 is set down on an interface of the router (node 1). Otherwise the
        // IPv4 address is removed from the sender's (node 0's) interface of the default route.
        const uint32_t node = down ? 1 : 0;
        const uint32_t interface = down ? 2 : 1;
        auto ipv4 = m_nodes.Get(node)->GetObject<Ipv4>();
        const auto address = ipv4->GetAddress(interface, 0);
        Simulator::Schedule(Seconds(1), [&] {
            down ? ipv4->SetDown(interface) : (void)ipv4->RemoveAddress(interface, 0u);
        });
        Simulator::Schedule(Seconds(3), [&] {
            down ? ipv4->SetUp(interface) : (void)ipv4->AddAddress(interface, address);
        });
        Simulator::Stop(Seconds(4));
        Simulator::Run();
        const std::string what = down ? ", down" : ", without address";
        NS_TEST_EXPECT_MSG_EQ((got4 == std::vector<uint32_t>{100, 0, 0, 100}),
                              true,
                              "IPv4: " << got4[1] << ", " << got4[3] << what);
        NS_TEST_EXPECT_MSG_EQ((got6 == std::vector<uint32_t>{100, 100, 100, 100}),
                              true,
                              "IPv6: " << got6[1] << ", " << got6[3] << what);
        Clear();
    }

    void RunWithKernel() override
    {
        RunOne(true);
        RunOne(false);
    }
};

/** Tests that IPv6 forwarding, which ns-3's SetForwarding() enables, leaves IPv4 forwarding as the
 * kernel parameter net.ipv4.ip_forward sets it. */
class ForwardingTest : public LinkTestCase
{
  public:
    ForwardingTest() : LinkTestCase("SetForwarding() of IPv6 leaves IPv4's parameter alone")
    {
    }

  private:
    void RunWithKernel() override
    {
        KernelStackHelper stack;
        stack.SetSysctl("net.ipv4.ip_forward", "0");
        MakeLine(2, stack);
        auto interfaces =
            Ipv6AddressHelper(Ipv6Address("fd00::"), Ipv6Prefix(64)).Assign(m_devices);
        interfaces.SetForwarding(0, true);
        const std::string folder = "/proc/sys/net/";
        KernelApplicationHelper show({"cat",
                                      folder + "ipv4/conf/eth0/forwarding",
                                      folder + "ipv6/conf/eth0/forwarding",
                                      folder + "ipv6/conf/all/forwarding"});
        auto installed = show.Install(m_nodes);
        installed.Start(Seconds(1));
        Simulator::Stop(Seconds(2));
        Simulator::Run();
        const auto output = [&](uint32_t node) {
            return DynamicCast<KernelApplication>(installed.Get(node))->GetOutput();
        };
        NS_TEST_EXPECT_MSG_EQ(output(0), "0\n1\n1\n", "the router of IPv6 alone");
        NS_TEST_EXPECT_MSG_EQ(output(1), "0\n0\n0\n", "a host");
    }
};

class KernelLinkTestSuite : public TestSuite
{
  public:
    KernelLinkTestSuite() : TestSuite("viaduct-kernel-link", Type::SYSTEM)
    {
        AddTestCase(new LinkDownTest, Duration::QUICK);
        AddTestCase(new FamilyDownTest, Duration::QUICK);
        AddTestCase(new ForwardingTest, Duration::QUICK);
        AddTestCase(new JumboTest, Duration::QUICK);
        AddTestCase(new PathMtuTest, Duration::QUICK);
    }
};

KernelLinkTestSuite g_kernelLinkTestSuite; //!< registers the suite

} // namespace
