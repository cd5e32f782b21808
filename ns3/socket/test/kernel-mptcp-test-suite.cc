/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test/kernel-test-support.h"

#include "ns3/bulk-send-helper.h"
#include "ns3/error-model.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/ipv6-address-helper.h"
#include "ns3/kernel/kernel-mptcp-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/pointer.h"
#include "ns3/uinteger.h"

/**
 * @file
 * @ingroup viaduct
 * Tests of Multipath TCP, and SCTP's multihoming, over several devices of kernel nodes.
 */

using namespace ns3;
using viaducttest::KernelTestCase;

namespace
{

const char* const MPTCP = "ns3::KernelMptcpSocketFactory"; //!< the tested factory
const char* const TCP = "ns3::KernelTcpSocketFactory";     //!< the factory for comparison

/** Two nodes with two links of 10 Mbit/s and 10 ms between them. */
class TwoPathsTestCase : public KernelTestCase
{
  public:
    using KernelTestCase::KernelTestCase;

  protected:
    /** Builds the nodes and links. */
    void MakePaths(KernelStackHelper stack = {})
    {
        m_nodes.Create(2);
        stack.Install(m_nodes);
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue("10Mbps"));
        link.SetChannelAttribute("Delay", StringValue("10ms"));
        Ipv4AddressHelper addresses("10.0.1.0", "255.255.255.0");
        Ipv6AddressHelper addresses6(Ipv6Address("fd00:1::"), Ipv6Prefix(64));
        for (int i = 0; i < 2; ++i)
        {
            const auto ends = link.Install(m_nodes);
            m_devices.Add(ends);
            m_interfaces.Add(addresses.Assign(ends));
            addresses.NewNetwork();
            m_interfaces6.Add(addresses6.Assign(ends));
            addresses6.NewNetwork();
        }
    }

    /** Makes the server announce its second address, which the client then uses. */
    void UseBothPaths()
    {
        KernelMptcpHelper::SetLimits(m_nodes);
        KernelMptcpHelper::AddEndpoint(m_devices.Get(3), KernelMptcpHelper::SIGNAL);
    }

    /** Sends @p bytes bytes from the first node to the second, beginning at 1 s; 0: without limit.
     */
    void Send(const char* factory, const Address& any, const Address& to, uint64_t bytes)
    {
        PacketSinkHelper sink(factory, any);
        m_sink = DynamicCast<PacketSink>(sink.Install(m_nodes.Get(1)).Get(0));
        BulkSendHelper source(factory, to);
        source.SetAttribute("MaxBytes", UintegerValue(bytes));
        source.SetAttribute("SendSize", UintegerValue(10000));
        source.Install(m_nodes.Get(0)).Start(Seconds(1));
    }

    /** Sends bytes over IPv4 to the server's first address. */
    void Send4(const char* factory, uint64_t bytes)
    {
        Send(factory,
             InetSocketAddress(Ipv4Address::GetAny(), 5000),
             InetSocketAddress(m_interfaces.GetAddress(1), 5000),
             bytes);
    }

    /** Drops every frame between two instants, in both directions of a link. */
    void LoseAll(uint32_t link, Time from, Time to)
    {
        for (uint32_t end = 2 * link; end < 2 * link + 2; ++end)
        {
            auto losses = CreateObject<RateErrorModel>();
            losses->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
            losses->SetRate(1);
            losses->Disable();
            m_devices.Get(end)->SetAttribute("ReceiveErrorModel", PointerValue(losses));
            Simulator::Schedule(from, [losses] { losses->Enable(); });
            Simulator::Schedule(to, [losses] { losses->Disable(); });
        }
    }

    /** Sets @p rate to the rate of the bytes that arrive between two instants, in Mbit/s. */
    void Measure(Time from, Time to, double* rate)
    {
        Simulator::Schedule(from, [this, rate] { *rate = -1.0 * m_sink->GetTotalRx(); });
        Simulator::Schedule(to, [this, rate, seconds = (to - from).GetSeconds()] {
            *rate = (*rate + m_sink->GetTotalRx()) * 8 / seconds / 1e6;
        });
    }

    Ptr<PacketSink> m_sink;               //!< receiver on the second node
    Ipv6InterfaceContainer m_interfaces6; //!< IPv6 addresses, in the order of m_interfaces
};

/** Tests that MPTCP has the sum of both paths' rates, over IPv4 and IPv6, and TCP the rate of one
 * path. */
class SumTest : public TwoPathsTestCase
{
  public:
    SumTest() : TwoPathsTestCase("MPTCP over two links carries what both do")
    {
    }

  private:
    double RateOf(const char* factory, bool ipv6)
    {
        MakePaths();
        UseBothPaths();
        if (ipv6)
        {
            Send(factory,
                 Inet6SocketAddress(Ipv6Address::GetAny(), 5000),
                 Inet6SocketAddress(m_interfaces6.GetAddress(1, 1), 5000),
                 0);
        }
        else
        {
            Send4(factory, 0);
        }
        double rate = 0;
        Measure(Seconds(2), Seconds(3), &rate);
        Simulator::Stop(Seconds(3) + NanoSeconds(1));
        Simulator::Run();
        m_sink = nullptr;
        m_interfaces6 = Ipv6InterfaceContainer();
        Clear();
        return rate;
    }

    void RunWithKernel() override
    {
        const double one = RateOf(TCP, false);
        NS_TEST_EXPECT_MSG_EQ_TOL(one, 9.5, 0.3, "TCP has one link");
        // The minimum is 2 x 9.5 Mbit/s less the MPTCP options in each segment.
        NS_TEST_EXPECT_MSG_GT(RateOf(MPTCP, false), 17.5, "MPTCP has two");
        NS_TEST_EXPECT_MSG_GT(RateOf(MPTCP, true), 17.0, "MPTCP has two over IPv6");
    }
};

/** Tests that a connection survives the loss of its first link, and later of its second link. */
class SurvivalTest : public TwoPathsTestCase
{
  public:
    SurvivalTest() : TwoPathsTestCase("MPTCP goes on when one of its links is cut or goes down")
    {
    }

  private:
    void RunWithKernel() override
    {
        MakePaths();
        UseBothPaths();
        Send4(MPTCP, 0);
        LoseAll(0, Seconds(3), Seconds(6));
        double both = 0;
        double cut = 0;
        double again = 0;
        double down = 0;
        Measure(Seconds(2), Seconds(3), &both);
        Measure(Seconds(4), Seconds(6), &cut);
        Measure(Seconds(9), Seconds(11), &again);
        Simulator::Schedule(Seconds(11), [this] {
            m_nodes.Get(0)->GetObject<Ipv4>()->SetDown(2);
            m_nodes.Get(0)->GetObject<Ipv6>()->SetDown(2);
        });
        // The kernels need up to 5 s to send the data of the lost link on the remaining link.
        const Time later = Seconds(18);
        Measure(later, later + Seconds(2), &down);
        Simulator::Stop(later + Seconds(2) + NanoSeconds(1));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_GT(both, 15, "both links");
        NS_TEST_EXPECT_MSG_EQ_TOL(cut, 9, 1.5, "the first one is cut");
        NS_TEST_EXPECT_MSG_GT(again, 15, "both again");
        NS_TEST_EXPECT_MSG_EQ_TOL(down, 9, 1.5, "the second one is down");
    }
};

/** Tests that MPTCP of a client with two links to different networks uses both links to a server
 * with one link. */
class SourceRouteTest : public TwoPathsTestCase
{
  public:
    SourceRouteTest() : TwoPathsTestCase("MPTCP of a client with two providers uses both")
    {
    }

  private:
    void RunWithKernel() override
    {
        // The second node of the two links is a router in this test, with the server behind it.
        MakePaths();
        NodeContainer server(1);
        KernelStackHelper().Install(server);
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
        link.SetChannelAttribute("Delay", StringValue("5ms"));
        const auto ends = link.Install(m_nodes.Get(1), server.Get(0));
        const auto far = Ipv4AddressHelper("10.0.9.0", "255.255.255.0").Assign(ends);
        Ipv4StaticRoutingHelper routing;
        routing.GetStaticRouting(m_nodes.Get(0)->GetObject<Ipv4>())
            ->SetDefaultRoute(m_interfaces.GetAddress(1), 1);
        routing.GetStaticRouting(server.Get(0)->GetObject<Ipv4>())
            ->SetDefaultRoute(far.GetAddress(0), 1);
        KernelMptcpHelper::SetLimits(NodeContainer(m_nodes.Get(0), server.Get(0)));
        KernelMptcpHelper::AddEndpoint(m_devices.Get(2), KernelMptcpHelper::SUBFLOW);
        KernelMptcpHelper::AddSourceRoute(m_devices.Get(2), m_interfaces.GetAddress(3));
        PacketSinkHelper sink(MPTCP, InetSocketAddress(Ipv4Address::GetAny(), 5000));
        m_sink = DynamicCast<PacketSink>(sink.Install(server.Get(0)).Get(0));
        BulkSendHelper source(MPTCP, InetSocketAddress(far.GetAddress(1), 5000));
        source.SetAttribute("SendSize", UintegerValue(10000));
        source.Install(m_nodes.Get(0)).Start(Seconds(1));
        double rate = 0;
        Measure(Seconds(2), Seconds(3), &rate);
        Simulator::Stop(Seconds(3) + NanoSeconds(1));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_GT(rate, 17, "both links");
    }
};

/** Tests that SCTP, which announces all addresses to its peer without configuration, continues over
 * its second link when the first link is cut. */
class SctpTest : public TwoPathsTestCase
{
  public:
    SctpTest() : TwoPathsTestCase("SCTP goes on over its second link when the first is cut")
    {
    }

  private:
    void RunWithKernel() override
    {
        KernelStackHelper stack;
        // With the default of net.sctp.path_max_retrans, 5, the change to the second link takes
        // about a minute.
        stack.SetSysctl("net.sctp.path_max_retrans", "1");
        stack.SetSysctl("net.sctp.rto_min", "200");
        MakePaths(stack);
        Send4("ns3::KernelSctpSocketFactory", 0);
        LoseAll(0, Seconds(3), Seconds(20));
        double before = 0;
        double after = 0;
        Measure(Seconds(2), Seconds(3), &before);
        Measure(Seconds(7), Seconds(9), &after);
        Simulator::Stop(Seconds(9) + NanoSeconds(1));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ_TOL(before, 9, 1, "SCTP has one link at a time");
        NS_TEST_EXPECT_MSG_EQ_TOL(after, 9, 1, "then the other one");
    }
};

class KernelMptcpTestSuite : public TestSuite
{
  public:
    KernelMptcpTestSuite() : TestSuite("viaduct-kernel-mptcp", Type::SYSTEM)
    {
        AddTestCase(new SumTest, Duration::QUICK);
        AddTestCase(new SurvivalTest, Duration::QUICK);
        AddTestCase(new SourceRouteTest, Duration::QUICK);
        AddTestCase(new SctpTest, Duration::QUICK);
    }
};

KernelMptcpTestSuite g_kernelMptcpTestSuite; //!< registers itself

} // namespace
