/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifdef VIADUCT_WITH_LTE

#include "ns3/test/kernel-test-support.h"

#include "ns3/bulk-send-helper.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/lte-helper.h"
#include "ns3/mobility-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/point-to-point-epc-helper.h"
#include "ns3/uinteger.h"

/**
 * @file
 * @ingroup viaduct
 * Tests of kernel nodes on an LTE network.
 */

using namespace ns3;
using viaducttest::KernelTestCase;

namespace
{

const char* const TCP = "ns3::KernelTcpSocketFactory";

/** Tests TCP between a phone and a server behind the packet gateway; the phone and the server are
 * kernel nodes. */
class LteTest : public KernelTestCase
{
  public:
    LteTest() : KernelTestCase("TCP between an LTE user equipment and a remote host")
    {
    }

  private:
    /** Makes the link and the routes between the server and the packet gateway. */
    void MakeServer()
    {
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
        link.SetChannelAttribute("Delay", StringValue("10ms"));
        m_devices = link.Install(m_epc->GetPgwNode(), m_nodes.Get(1));
        m_interfaces = Ipv4AddressHelper("1.0.0.0", "255.0.0.0").Assign(m_devices);
        Ipv4StaticRoutingHelper()
            .GetStaticRouting(m_nodes.Get(1)->GetObject<Ipv4>())
            ->AddNetworkRouteTo(Ipv4Address("7.0.0.0"), Ipv4Mask("255.0.0.0"), 1);
    }

    /** Makes the radio network with a base station and the phone. @return the phone's IPv4
     * address */
    Ipv4Address MakeRadio()
    {
        NodeContainer station(1);
        MobilityHelper mobility;
        mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
        mobility.Install(station);
        mobility.Install(m_nodes.Get(0));
        const auto stations = m_lte->InstallEnbDevice(station);
        const auto phones = m_lte->InstallUeDevice(NodeContainer(m_nodes.Get(0)));
        const auto addresses = m_epc->AssignUeIpv4Address(phones);
        Ipv4StaticRoutingHelper()
            .GetStaticRouting(m_nodes.Get(0)->GetObject<Ipv4>())
            ->SetDefaultRoute(m_epc->GetUeDefaultGatewayAddress(), 1);
        m_lte->Attach(phones.Get(0), stations.Get(0));
        return addresses.GetAddress(0);
    }

    Ptr<PacketSink> Transfer(uint32_t from, uint32_t to, const Ipv4Address& address)
    {
        PacketSinkHelper helper(TCP, InetSocketAddress(Ipv4Address::GetAny(), 5000));
        auto sink = DynamicCast<PacketSink>(helper.Install(m_nodes.Get(to)).Get(0));
        BulkSendHelper source(TCP, InetSocketAddress(address, 5000));
        source.SetAttribute("MaxBytes", UintegerValue(200000));
        source.Install(m_nodes.Get(from)).Start(MilliSeconds(500));
        return sink;
    }

    void RunWithKernel() override
    {
        m_lte = CreateObject<LteHelper>();
        m_epc = CreateObject<PointToPointEpcHelper>();
        m_lte->SetEpcHelper(m_epc);
        m_nodes.Create(2);
        KernelStackHelper().Install(m_nodes);
        MakeServer();
        const auto phone = MakeRadio();
        auto down = Transfer(1, 0, phone);
        auto up = Transfer(0, 1, m_interfaces.GetAddress(1));
        Simulator::Stop(Seconds(2));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(down->GetTotalRx(), 200000, "bytes to the phone");
        NS_TEST_EXPECT_MSG_EQ(up->GetTotalRx(), 200000, "bytes from it");
        m_lte = nullptr;
        m_epc = nullptr;
    }

    Ptr<LteHelper> m_lte;             //!< the radio network
    Ptr<PointToPointEpcHelper> m_epc; //!< the core network
};

class KernelLteTestSuite : public TestSuite
{
  public:
    KernelLteTestSuite() : TestSuite("viaduct-kernel-lte", Type::SYSTEM)
    {
        AddTestCase(new LteTest, Duration::QUICK);
    }
};

KernelLteTestSuite g_kernelLteTestSuite; //!< registers the suite

} // namespace

#endif // VIADUCT_WITH_LTE
