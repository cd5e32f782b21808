/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test/kernel-test-support.h"

#include "ns3/boolean.h"
#include "ns3/bulk-send-helper.h"
#include "ns3/config.h"
#include "ns3/csma-helper.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/ipv6-address-helper.h"
#include "ns3/kernel/kernel-calendar.h"
#include "ns3/kernel/kernel-node.h"
#include "ns3/olsr-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/udp-client-server-helper.h"
#include "ns3/udp-echo-helper.h"
#include "ns3/udp-server.h"
#include "ns3/uinteger.h"

#include "base/error.h"

#include <csignal>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup viaduct
 * Tests of nodes whose stack is a real kernel. The tests need a kernel built by `viaduct kernel
 * build`, but no privilege.
 */

using namespace ns3;
using viaducttest::KernelTestCase;

namespace
{

/** Tests that a UDP echo takes exactly the time of the link, as the kernels take no virtual
 * time. */
class EchoTest : public KernelTestCase
{
  public:
    EchoTest() : KernelTestCase("UDP echo over a kernel takes exactly the link's time")
    {
    }

  private:
    void RunWithKernel() override
    {
        KernelStackHelper stack;
        MakeLine(2, stack);
        Record(m_devices.Get(0));
        Record(m_devices.Get(1));
        UdpEchoServerHelper server(9);
        server.Install(m_nodes.Get(1));
        UdpEchoClientHelper client(m_interfaces.GetAddress(1), 9);
        client.SetAttribute("MaxPackets", UintegerValue(3));
        client.SetAttribute("PacketSize", UintegerValue(1024));
        client.Install(m_nodes.Get(0)).Start(Seconds(1));
        Simulator::Stop(Seconds(5));
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(m_sends.size(), 6, "three requests and three answers");
        // The time of a packet on the link: 10 ms of delay, and the transmission of 1024 bytes and
        // the UDP, IPv4 and PPP headers at 100 Mbit/s (80 ns per byte).
        const Time way = NanoSeconds(10000000 + (1024 + 8 + 20 + 2) * 80);
        // The tolerance: a failing system call takes 1 us in the guest; all other work takes no
        // virtual time.
        const Time little = MicroSeconds(5);
        for (size_t i = 0; i < 6; i += 2)
        {
            const size_t before = i / 2; // number of earlier requests, one per second
            NS_TEST_EXPECT_MSG_LT(m_sends[i] - Seconds(1 + before), little, "sent at once");
            NS_TEST_EXPECT_MSG_EQ((m_gets[i] - m_sends[i]).GetNanoSeconds(),
                                  way.GetNanoSeconds(),
                                  "the link's time, to the nanosecond");
            NS_TEST_EXPECT_MSG_LT(m_sends[i + 1] - m_gets[i], little, "answered at once");
        }
    }
};

/** Tests a TCP transfer through a kernel router, with the routes of ns-3's global routing. */
class TransferTest : public KernelTestCase
{
  public:
    TransferTest()
        : KernelTestCase("TCP over a kernel router with global routing, the same for one seed")
    {
    }

  private:
    std::string Transfer(uint32_t run)
    {
        RngSeedManager::SetRun(run);
        Mac48Address::ResetAllocationIndex();
        m_trace.str("");
        KernelStackHelper stack;
        MakeLine(3, stack);
        for (uint32_t i = 0; i < m_devices.GetN(); ++i)
        {
            Record(m_devices.Get(i));
        }
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
        PacketSinkHelper sinkHelper("ns3::TcpSocketFactory",
                                    InetSocketAddress(Ipv4Address::GetAny(), 5000));
        auto sink = sinkHelper.Install(m_nodes.Get(2)).Get(0)->GetObject<PacketSink>();
        BulkSendHelper source("ns3::TcpSocketFactory",
                              InetSocketAddress(m_interfaces.GetAddress(3), 5000));
        source.SetAttribute("MaxBytes", UintegerValue(2000000));
        source.Install(m_nodes.Get(0)).Start(Seconds(1));
        Simulator::Stop(Seconds(6));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(sink->GetTotalRx(), 2000000, "all of it arrives");
        Clear();
        RngSeedManager::SetRun(1);
        return m_trace.str();
    }

    void RunWithKernel() override
    {
        const std::string first = Transfer(1);
        NS_TEST_EXPECT_MSG_EQ((first == Transfer(1)), true, "one seed, one trace");
        NS_TEST_EXPECT_MSG_EQ((first == Transfer(2)), false, "another run, another trace");
    }
};

/** Tests UDP over IPv6 on a CSMA link between two guests. */
class Ipv6Test : public KernelTestCase
{
  public:
    Ipv6Test() : KernelTestCase("IPv6 over CSMA, two guests")
    {
    }

  private:
    void RunWithKernel() override
    {
        m_nodes.Create(2);
        KernelStackHelper stack;
        stack.SetGuests(2);
        stack.Install(m_nodes);
        CsmaHelper link;
        link.SetChannelAttribute("DataRate", StringValue("100Mbps"));
        link.SetChannelAttribute("Delay", StringValue("1ms"));
        auto devices = link.Install(m_nodes);
        Ipv6AddressHelper addresses(Ipv6Address("fd00::"), Ipv6Prefix(64));
        auto interfaces = addresses.Assign(devices);
        UdpServerHelper server(7);
        auto received = server.Install(m_nodes.Get(1)).Get(0)->GetObject<UdpServer>();
        UdpClientHelper client(interfaces.GetAddress(1, 1), 7);
        client.SetAttribute("MaxPackets", UintegerValue(10));
        client.Install(m_nodes.Get(0)).Start(Seconds(1));
        Simulator::Stop(Seconds(13));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(received->GetReceived(), 10, "all datagrams arrive");
    }
};

/** Tests OLSR, a routing protocol of ns-3, with sockets and routes of the kernel. */
class RoutingProtocolTest : public KernelTestCase
{
  public:
    RoutingProtocolTest() : KernelTestCase("OLSR on kernel nodes")
    {
    }

  private:
    void RunWithKernel() override
    {
        KernelStackHelper stack;
        stack.SetRoutingHelper(OlsrHelper());
        MakeLine(4, stack);
        UdpServerHelper server(7);
        auto received = server.Install(m_nodes.Get(3)).Get(0)->GetObject<UdpServer>();
        UdpClientHelper client(m_interfaces.GetAddress(5), 7);
        client.SetAttribute("MaxPackets", UintegerValue(10));
        client.Install(m_nodes.Get(0)).Start(Seconds(30));
        Simulator::Stop(Seconds(45));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(received->GetReceived(), 10, "routes were found and used");
    }
};

/** Tests changes of addresses and interfaces while the simulation runs. */
class ChangeTest : public KernelTestCase
{
  public:
    ChangeTest()
        : KernelTestCase("Interfaces down and up, addresses changed, while the simulation runs")
    {
    }

  private:
    void RunWithKernel() override
    {
        KernelStackHelper stack;
        MakeLine(2, stack);
        UdpServerHelper server(7);
        auto received = server.Install(m_nodes.Get(1)).Get(0)->GetObject<UdpServer>();
        UdpClientHelper client(Ipv4Address("10.0.0.77"), 7);
        client.SetAttribute("MaxPackets", UintegerValue(100));
        client.SetAttribute("Interval", TimeValue(MilliSeconds(100)));
        client.Install(m_nodes.Get(0)).Start(Seconds(1));
        auto ipv4 = m_nodes.Get(1)->GetObject<Ipv4>();
        std::vector<uint64_t> counts;
        const auto count = [&] { counts.push_back(received->GetReceived()); };
        Simulator::Schedule(Seconds(3), count);
        Simulator::Schedule(Seconds(3), [&] {
            ipv4->AddAddress(1, Ipv4InterfaceAddress("10.0.0.77", "255.255.255.0"));
        });
        Simulator::Schedule(Seconds(5), count);
        Simulator::Schedule(Seconds(5), [&] { ipv4->SetDown(1); });
        Simulator::Schedule(Seconds(7), count);
        Simulator::Schedule(Seconds(7), [&] { ipv4->SetUp(1); });
        Simulator::Stop(Seconds(9));
        Simulator::Run();
        count();
        NS_TEST_ASSERT_MSG_EQ(counts.size(), 4, "counted");
        NS_TEST_EXPECT_MSG_EQ(counts[0], 0, "nobody has the address");
        NS_TEST_EXPECT_MSG_EQ(counts[1], 20, "it has the address");
        NS_TEST_EXPECT_MSG_EQ(counts[2], counts[1], "its interface is down");
        NS_TEST_EXPECT_MSG_EQ(counts[3], counts[2] + 20, "and up again");
    }
};

/** Tests the error messages for wrong input and for a killed guest. */
class BadInputTest : public KernelTestCase
{
  public:
    BadInputTest() : KernelTestCase("Bad input and a killed guest")
    {
    }

  private:
    std::string ErrorOf(const std::function<void(KernelStackHelper&)>& configure)
    {
        std::string what = "no error";
        try
        {
            KernelStackHelper stack;
            configure(stack);
            MakeLine(2, stack);
            Simulator::Schedule(Seconds(1), [&] {
                if (m_kill)
                {
                    stack.GetGuests()[0]->GetGuest().Signal(SIGKILL);
                }
            });
            Simulator::Stop(Seconds(100));
            Simulator::Run();
        }
        catch (const viaduct::Error& error)
        {
            what = error.what();
        }
        Clear();
        return what;
    }

    /** @return the error message for a link between a node with the addresses `first` and a node
     * with the address `second`; "no error" if the simulation runs */
    std::string ClashOf(const std::vector<const char*>& first, const char* second)
    {
        std::string what = "no error";
        m_nodes.Create(2);
        KernelStackHelper().Install(m_nodes);
        m_devices = PointToPointHelper().Install(m_nodes);
        const auto add = [this](uint32_t node, const char* address) {
            auto ipv4 = m_nodes.Get(node)->GetObject<Ipv4>();
            const int32_t known = ipv4->GetInterfaceForDevice(m_devices.Get(node));
            const uint32_t interface = known < 0 ? ipv4->AddInterface(m_devices.Get(node)) : known;
            ipv4->AddAddress(interface, {Ipv4Address(address), Ipv4Mask("/24")});
            ipv4->SetUp(interface);
        };
        for (const char* address : first)
        {
            add(0, address);
        }
        add(1, second);
        try
        {
            Simulator::Stop(Seconds(1));
            Simulator::Run();
        }
        catch (const viaduct::Error& error)
        {
            what = error.what();
        }
        Clear();
        return what;
    }

    void Expect(const std::string& error, const std::string& part)
    {
        NS_TEST_EXPECT_MSG_NE(error.find(part), std::string::npos, error);
    }

    void RunWithKernel() override
    {
        Expect(ErrorOf([](auto& stack) {
                   stack.SetAttribute("Kernel", StringValue("/nonexistent/linux"));
               }),
               "/nonexistent/linux");
        Expect(ErrorOf([](auto& stack) { stack.SetAttribute("Kernel", StringValue("/bin/true")); }),
               "/bin/true");
        Expect(ErrorOf([](auto& stack) {
                   stack.SetAttribute("BootParameters", StringValue("time-travel=inf-cpu"));
               }),
               "time-travel is set by the simulator");
        Expect(ErrorOf([](auto& stack) {
                   stack.SetAttribute("BootParameters", StringValue("quiet mem=1M"));
               }),
               "use the attribute Memory");
        Expect(ErrorOf([](auto& stack) { stack.SetSysctl("net.ipv4.no_such_thing", "1"); }),
               "no_such_thing");
        NS_TEST_EXPECT_MSG_EQ(ClashOf({"10.0.0.1"}, "10.0.0.2"), "no error", "different ones");
        NS_TEST_EXPECT_MSG_EQ(ClashOf({"10.0.0.1"}, "10.0.0.1"),
                              "nodes n0 and n1 have the same address 10.0.0.1 on one channel: "
                              "assign different addresses",
                              "one line");
        NS_TEST_EXPECT_MSG_EQ(ClashOf({"10.0.0.1", "10.0.0.1"}, "10.0.0.2"),
                              "node n0 has the address 10.0.0.1 twice on one device: remove one of "
                              "the two",
                              "one line");
        m_kill = true;
        Expect(ErrorOf([](auto&) {}), "guest 0 (n0, n1) was killed by signal 9");
    }

    bool m_kill{false}; //!< whether ErrorOf() kills the guest
};

class KernelStackTestSuite : public TestSuite
{
  public:
    KernelStackTestSuite() : TestSuite("viaduct-kernel-stack", Type::SYSTEM)
    {
        AddTestCase(new EchoTest, Duration::QUICK);
        AddTestCase(new TransferTest, Duration::QUICK);
        AddTestCase(new Ipv6Test, Duration::QUICK);
        AddTestCase(new RoutingProtocolTest, Duration::QUICK);
        AddTestCase(new ChangeTest, Duration::QUICK);
        AddTestCase(new BadInputTest, Duration::QUICK);
    }
};

KernelStackTestSuite g_kernelStackTestSuite; //!< registers the suite

} // namespace
