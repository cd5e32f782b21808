/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test/kernel-test-support.h"

#include "ns3/bulk-send-helper.h"
#include "ns3/csma-helper.h"
#include "ns3/csma-net-device.h"
#include "ns3/kernel/kernel-application-helper.h"
#include "ns3/kernel/kernel-node.h"
#include "ns3/kernel/kernel-state.h"
#include "ns3/on-off-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/queue.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/simple-net-device.h"

#ifdef VIADUCT_WITH_WIFI
#include "ns3/mobility-helper.h"
#include "ns3/wifi-helper.h"
#include "ns3/wifi-mac-queue.h"
#include "ns3/wifi-mac.h"
#include "ns3/wifi-net-device.h"
#include "ns3/yans-wifi-helper.h"
#endif

#include <algorithm>

/**
 * @file
 * @ingroup viaduct
 * Tests that packets wait in a kernel node's queueing discipline if the channel is slower than the
 * node sends.
 */

using namespace ns3;

namespace
{

constexpr const char* RATE = "5Mbps"; //!< approximate rate of the channels
//! Number of UDP sockets that send; a single socket may not have enough packets to fill the ring.
constexpr uint16_t FLOODS = 6;
constexpr uint32_t RING = 256; //!< maximum number of frames in the ring of a kernel's device

/** Tests TCP together with UDP traffic at twice the rate of the channel. */
class PressureTest : public viaducttest::KernelTestCase
{
  public:
    using KernelTestCase::KernelTestCase;

  protected:
    /** Makes a channel with a rate of about RATE. @return the devices of m_nodes on the channel */
    virtual NetDeviceContainer MakeChannel() = 0;
    /** @return the number of frames that wait in an ns-3 device */
    virtual uint32_t WaitingIn(Ptr<NetDevice> device) const = 0;

  private:
    /** The measurements, which begin 1 s after the start of the traffic. */
    struct Seen
    {
        Time rtt;             //!< maximum smoothed round-trip time of TCP
        uint32_t backlog = 0; //!< maximum bytes in the queueing discipline
        uint32_t device = 0;  //!< maximum frames in the ns-3 device
    };

    void Send(const char* factory, const ApplicationContainer& source, uint16_t port)
    {
        source.Start(Seconds(1));
        PacketSinkHelper(factory, InetSocketAddress(Ipv4Address::GetAny(), port))
            .Install(m_nodes.Get(1));
    }

    void Observe(Ptr<NetDevice> device, Seen* seen)
    {
        auto state = m_nodes.Get(0)->GetObject<KernelState>();
        state->TraceConnectWithoutContext(
            "TcpInfo", Callback<void, const KernelTcpInfo&>([seen](const KernelTcpInfo& info) {
                seen->rtt = std::max(seen->rtt, info.rtt);
            }));
        state->TraceConnectWithoutContext(
            "QdiscStatistics",
            Callback<void, const KernelQdiscStatistics&>(
                [this, seen, device](const KernelQdiscStatistics& statistics) {
                    seen->backlog = std::max(seen->backlog, statistics.backlog);
                    seen->device = std::max(seen->device, WaitingIn(device));
                }));
        state->SetAttribute("Interval", TimeValue(MilliSeconds(20)));
    }

    /** Runs a simulation with the queueing discipline `qdisc` on the sender's device, a TCP
     * transfer and `floods` UDP sockets, which together send at twice the channel's rate.
     * @return the measurements */
    Seen With(const std::string& qdisc, uint16_t floods)
    {
        m_nodes.Create(2);
        KernelStackHelper stack;
        // With the default, TCP would send 64 KiB at once on a path with such a small round-trip
        // time (tcp_tso_autosize()).
        stack.SetSysctl("net.ipv4.tcp_tso_rtt_log", "0");
        stack.Install(m_nodes);
        const NetDeviceContainer devices = MakeChannel();
        const auto to =
            Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(devices).GetAddress(1);
        KernelApplicationHelper({"tc", "qdisc", "replace", "dev", "eth0", "root", qdisc})
            .Install(m_nodes.Get(0))
            .Start(MilliSeconds(500));
        const char* tcp = "ns3::KernelTcpSocketFactory";
        const char* udp = "ns3::KernelUdpSocketFactory";
        Send(tcp, BulkSendHelper(tcp, InetSocketAddress(to, 5000)).Install(m_nodes.Get(0)), 5000);
        for (uint16_t port = 5001; port <= 5000 + floods; ++port)
        {
            OnOffHelper flood(udp, InetSocketAddress(to, port));
            flood.SetConstantRate(DataRate(RATE) * (2.0 / floods), 1000);
            Send(udp, flood.Install(m_nodes.Get(0)), port);
        }
        Seen seen;
        Simulator::Schedule(Seconds(2), &PressureTest::Observe, this, devices.Get(0), &seen);
        Simulator::Stop(Seconds(3));
        Simulator::Run();
        Clear();
        return seen;
    }

    void RunWithKernel() override
    {
        const Seen alone = With("fq_codel", 0);
        // A write of TCP leaves only a few packets in the queueing discipline: 14 packets on Wi-Fi
        // with Linux 7.2, fewer with 6.12.
        NS_TEST_EXPECT_MSG_LT(alone.backlog, 30'000, "TCP fills no queue (TSQ)");
        NS_TEST_EXPECT_MSG_LT(alone.rtt, MilliSeconds(60), "and waits in none");
        NS_TEST_EXPECT_MSG_LT(alone.device, 16, "nor the device's");
        const Seen fifo = With("pfifo_fast", FLOODS);
        NS_TEST_EXPECT_MSG_GT(fifo.backlog, 100'000, "the flood waits in the kernel");
        NS_TEST_EXPECT_MSG_GT(fifo.rtt, MilliSeconds(400), "and what comes after it waits for it");
        const Seen fair = With("fq_codel", FLOODS);
        NS_TEST_EXPECT_MSG_GT(fair.backlog, 100'000, "the flood waits in its own queues");
        // If the kernel had no byte queue limits, TCP would wait for a full ring: 0.6 s.
        NS_TEST_EXPECT_MSG_LT(fair.rtt, MilliSeconds(100), "TCP waits for a short ring alone");
        NS_TEST_EXPECT_MSG_LT(std::max(fifo.device, fair.device), RING + 2, "in the device");
    }
};

/** Tests a CSMA channel, a cable that all nodes share. */
class CsmaPressureTest : public PressureTest
{
  public:
    CsmaPressureTest() : PressureTest("CSMA: what is too much waits in the kernel's qdisc")
    {
    }

  private:
    NetDeviceContainer MakeChannel() override
    {
        CsmaHelper csma;
        csma.SetChannelAttribute("DataRate", StringValue(RATE));
        csma.SetChannelAttribute("Delay", StringValue("10us"));
        return csma.Install(m_nodes);
    }

    uint32_t WaitingIn(Ptr<NetDevice> device) const override
    {
        return DynamicCast<CsmaNetDevice>(device)->GetQueue()->GetNPackets();
    }
};

/** Tests SimpleNetDevice, ns-3's simplest device, which has a queue of 100 packets. */
class SimplePressureTest : public PressureTest
{
  public:
    SimplePressureTest() : PressureTest("SimpleNetDevice: what is too much waits in the kernel")
    {
    }

  private:
    NetDeviceContainer MakeChannel() override
    {
        SimpleNetDeviceHelper link;
        link.SetDeviceAttribute("DataRate", StringValue(RATE));
        NetDeviceContainer devices = link.Install(m_nodes);
        devices.Get(0)->SetMtu(1500); // default of the MTU: 65535
        devices.Get(1)->SetMtu(1500);
        return devices;
    }

    uint32_t WaitingIn(Ptr<NetDevice> device) const override
    {
        return DynamicCast<SimpleNetDevice>(device)->GetQueue()->GetNPackets();
    }
};

#ifdef VIADUCT_WITH_WIFI
/** Tests a Wi-Fi channel of 6 Mbit/s, where each device's MAC has a separate queue of 500
 * frames. */
class WifiPressureTest : public PressureTest
{
  public:
    WifiPressureTest() : PressureTest("Wi-Fi: what is too much waits in the kernel's qdisc")
    {
    }

  private:
    NetDeviceContainer MakeChannel() override
    {
        MobilityHelper().Install(m_nodes);
        WifiHelper wifi;
        wifi.SetStandard(WIFI_STANDARD_80211a);
        wifi.SetRemoteStationManager(
            "ns3::ConstantRateWifiManager", "DataMode", StringValue("OfdmRate6Mbps"));
        YansWifiPhyHelper phy;
        phy.SetChannel(YansWifiChannelHelper::Default().Create());
        WifiMacHelper mac;
        mac.SetType("ns3::AdhocWifiMac");
        return wifi.Install(phy, mac, m_nodes);
    }

    uint32_t WaitingIn(Ptr<NetDevice> device) const override
    {
        return DynamicCast<WifiNetDevice>(device)
            ->GetMac()
            ->GetTxopQueue(AC_BE_NQOS)
            ->GetNPackets();
    }
};
#endif

class KernelQdiscTestSuite : public TestSuite
{
  public:
    KernelQdiscTestSuite() : TestSuite("viaduct-kernel-qdisc", Type::SYSTEM)
    {
        AddTestCase(new CsmaPressureTest, Duration::QUICK);
        AddTestCase(new SimplePressureTest, Duration::QUICK);
#ifdef VIADUCT_WITH_WIFI
        AddTestCase(new WifiPressureTest, Duration::QUICK);
#endif
    }
};

KernelQdiscTestSuite g_kernelQdiscTestSuite; //!< registers the suite

} // namespace
