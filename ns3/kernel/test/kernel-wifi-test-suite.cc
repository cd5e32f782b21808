/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Tests kernel nodes on Wi-Fi, if ns-3 was built with its Wi-Fi module.
 */

#ifdef VIADUCT_WITH_WIFI

#include "ns3/test/kernel-test-support.h"

#include "ns3/mobility-helper.h"
#include "ns3/on-off-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/position-allocator.h"
#include "ns3/ssid.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-helper.h"
#include "ns3/yans-wifi-helper.h"

using namespace ns3;

namespace
{

/** Tests traffic of 1 Mbit/s for about a second between two kernel nodes at a distance of 5 m. */
class WifiTest : public viaducttest::KernelTestCase
{
  public:
    /**
     * @param infrastructure true: an access point and a station; false: two nodes ad hoc
     * @param transport the transport protocol, "Tcp" or "Udp"
     */
    WifiTest(bool infrastructure, const std::string& transport)
        : KernelTestCase(transport + (infrastructure ? " to a station" : " ad hoc")),
          m_infrastructure(infrastructure),
          m_factory("ns3::Kernel" + transport + "SocketFactory")
    {
    }

  private:
    NetDeviceContainer InstallWifi()
    {
        MobilityHelper mobility;
        auto positions = CreateObject<ListPositionAllocator>();
        positions->Add(Vector(0, 0, 0));
        positions->Add(Vector(5, 0, 0));
        mobility.SetPositionAllocator(positions);
        mobility.Install(m_nodes);
        WifiHelper wifi;
        wifi.SetStandard(WIFI_STANDARD_80211a);
        wifi.SetRemoteStationManager(
            "ns3::ConstantRateWifiManager", "DataMode", StringValue("OfdmRate54Mbps"));
        YansWifiPhyHelper phy;
        phy.SetChannel(YansWifiChannelHelper::Default().Create());
        WifiMacHelper mac;
        if (!m_infrastructure)
        {
            mac.SetType("ns3::AdhocWifiMac");
            return wifi.Install(phy, mac, m_nodes);
        }
        const SsidValue network(Ssid("viaduct"));
        mac.SetType("ns3::ApWifiMac", "Ssid", network);
        NetDeviceContainer devices = wifi.Install(phy, mac, m_nodes.Get(0));
        mac.SetType("ns3::StaWifiMac", "Ssid", network);
        devices.Add(wifi.Install(phy, mac, m_nodes.Get(1)));
        return devices;
    }

    void RunWithKernel() override
    {
        m_nodes.Create(2);
        const NetDeviceContainer devices = InstallWifi();
        KernelStackHelper().Install(m_nodes);
        Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
        const InetSocketAddress server(addresses.Assign(devices).GetAddress(1), 9);
        PacketSinkHelper sink(m_factory, server);
        const auto sinks = sink.Install(m_nodes.Get(1));
        OnOffHelper source(m_factory, server);
        source.SetConstantRate(DataRate("1Mbps"), 1000);
        source.SetAttribute("MaxBytes", UintegerValue(100'000));
        source.Install(m_nodes.Get(0)).Start(Seconds(1));
        Simulator::Stop(Seconds(3));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(
            DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx(), 100'000, "bytes that arrived");
    }

    bool m_infrastructure; //!< true: access point and station; false: ad hoc
    std::string m_factory; //!< TypeId of the sockets' factory
};

/** Tests that the kernel gets back its buffers for frames that leave the queue of the MAC: as
 * single frames, in an A-MSDU, in an A-MPDU, or because they are dropped. */
class AggregationTest : public viaducttest::KernelTestCase
{
  public:
    AggregationTest()
        : KernelTestCase("More than the kernel has buffers for, in A-MSDUs and A-MPDUs")
    {
    }

  private:
    void RunWithKernel() override
    {
        m_nodes.Create(2);
        MobilityHelper().Install(m_nodes);
        WifiHelper wifi;
        wifi.SetStandard(WIFI_STANDARD_80211n);
        wifi.SetRemoteStationManager(
            "ns3::ConstantRateWifiManager", "DataMode", StringValue("HtMcs3"));
        YansWifiPhyHelper phy;
        phy.SetChannel(YansWifiChannelHelper::Default().Create());
        WifiMacHelper mac;
        mac.SetType("ns3::AdhocWifiMac", "BE_MaxAmsduSize", UintegerValue(3839));
        const NetDeviceContainer devices = wifi.Install(phy, mac, m_nodes);
        KernelStackHelper().Install(m_nodes);
        Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
        const InetSocketAddress server(addresses.Assign(devices).GetAddress(1), 9);
        const char* factory = "ns3::KernelUdpSocketFactory";
        const auto sinks = PacketSinkHelper(factory, server).Install(m_nodes.Get(1));
        OnOffHelper source(factory, server);
        source.SetConstantRate(DataRate("40Mbps"), 1000); // more than the 26 Mbit/s of the channel
        source.Install(m_nodes.Get(0)).Start(Seconds(1));
        uint64_t first = 0;
        const auto received = [&] { return DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx(); };
        Simulator::Schedule(MilliSeconds(1400), [&] { first = received(); });
        Simulator::Stop(MilliSeconds(1800));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_GT(first, 256 * 1000, "more than the ring holds");
        NS_TEST_EXPECT_MSG_GT(received() - first, 0.9 * first, "and it goes on as it began");
    }
};

class KernelWifiTestSuite : public TestSuite
{
  public:
    KernelWifiTestSuite() : TestSuite("viaduct-kernel-wifi", Type::SYSTEM)
    {
        AddTestCase(new WifiTest(false, "Udp"), Duration::QUICK);
        AddTestCase(new WifiTest(false, "Tcp"), Duration::QUICK);
        AddTestCase(new WifiTest(true, "Udp"), Duration::QUICK);
        AddTestCase(new WifiTest(true, "Tcp"), Duration::QUICK);
        AddTestCase(new AggregationTest, Duration::QUICK);
    }
};

KernelWifiTestSuite g_kernelWifiTestSuite; //!< registers the suite

} // namespace

#endif // VIADUCT_WITH_WIFI
