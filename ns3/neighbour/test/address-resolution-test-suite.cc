/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test/viaduct-test-support.h"

#include "ns3/arp-header.h"
#include "ns3/arp-l3-protocol.h"
#include "ns3/config.h"
#include "ns3/error-model.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv6-address-helper.h"
#include "ns3/neighbour/address-resolution.h"
#include "ns3/node-container.h"
#include "ns3/pointer.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/socket.h"
#include "ns3/test.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"

#include <vector>

/**
 * @file
 * @ingroup viaduct
 * Tests of ns3::ResolveAddressesAsKernelsDo().
 */

using namespace ns3;

namespace
{

/** Two nodes on a link. */
struct Pair
{
    Pair()
    {
        InternetStackHelper().Install(nodes);
        devices = SimpleNetDeviceHelper().Install(nodes);
        ipv4 = Ipv4AddressHelper("10.1.1.0", "255.255.255.0").Assign(devices);
    }

    NodeContainer nodes{2};      //!< the nodes
    NetDeviceContainer devices;  //!< the nodes' devices
    Ipv4InterfaceContainer ipv4; //!< the nodes' addresses
};

/** Tests how many of 20 simultaneous datagrams arrive at a neighbour whose link-layer address is
 * unknown. */
class FirstDatagramsTestCase : public TestCase
{
  public:
    /**
     * @param waiting the user's limit of the number of waiting packets; 0: no limit is set
     * @param expected the number of datagrams that arrive, of 20
     */
    FirstDatagramsTestCase(uint32_t waiting, int expected)
        : TestCase("first datagrams, the user's limit being " + std::to_string(waiting)),
          m_waiting(waiting),
          m_expected(expected)
    {
    }

  private:
    void DoRun() override
    {
        Simulator::Destroy();
        if (m_waiting > 0)
        {
            Config::SetDefault("ns3::ArpCache::PendingQueueSize", UintegerValue(m_waiting));
            Config::SetDefault("ns3::NdiscCache::UnresolvedQueueSize", UintegerValue(m_waiting));
        }
        const Pair pair;
        const NodeContainer& nodes = pair.nodes;
        const NetDeviceContainer& devices = pair.devices;
        const Ipv4InterfaceContainer& ipv4 = pair.ipv4;
        const auto ipv6 = Ipv6AddressHelper("fd00::", Ipv6Prefix(64)).Assign(devices);
        ResolveAddressesAsKernelsDo(nodes.Get(0));
        ResolveAddressesAsKernelsDo(nodes.Get(1));
        const Address any4 = InetSocketAddress(Ipv4Address::GetAny(), 9);
        const Address any6 = Inet6SocketAddress(Ipv6Address::GetAny(), 9);
        Exchange(nodes, any4, InetSocketAddress(ipv4.GetAddress(1), 9), "IPv4");
        Exchange(nodes, any6, Inet6SocketAddress(ipv6.GetAddress(1, 1), 9), "IPv6");
        Simulator::Destroy();
        Config::Reset();
    }

    void Exchange(const NodeContainer& nodes,
                  const Address& any,
                  const Address& to,
                  const std::string& family)
    {
        int received = 0;
        auto server = Socket::CreateSocket(nodes.Get(1), UdpSocketFactory::GetTypeId());
        server->Bind(any);
        server->SetRecvCallback(Callback<void, Ptr<Socket>>([&](Ptr<Socket> socket) {
            while (socket->Recv())
            {
                received++;
            }
        }));
        auto client = Socket::CreateSocket(nodes.Get(0), UdpSocketFactory::GetTypeId());
        // The datagrams are sent after duplicate address detection.
        Simulator::Schedule(Seconds(3), [&] {
            for (int i = 0; i < 20; i++)
            {
                client->SendTo(Create<Packet>(160), 0, to);
            }
        });
        Simulator::Stop(Seconds(6));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(received, m_expected, family);
    }

    uint32_t m_waiting; //!< the user's limit of waiting packets
    int m_expected;     //!< number of datagrams that arrive
};

/** Tests that a neighbour that did not answer three requests, because it received nothing, is
 * requested again by a later packet. */
class ReturnTestCase : public TestCase
{
  public:
    ReturnTestCase() : TestCase("a neighbour that comes back is asked again")
    {
    }

  private:
    void DoRun() override
    {
        Simulator::Destroy();
        const Pair pair;
        const NodeContainer& nodes = pair.nodes;
        const NetDeviceContainer& devices = pair.devices;
        const Ipv4InterfaceContainer& ipv4 = pair.ipv4;
        auto deaf = CreateObject<RateErrorModel>();
        deaf->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        deaf->SetRate(1);
        devices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(deaf));
        ResolveAddressesAsKernelsDo(nodes.Get(0));
        int received = 0;
        auto server = Socket::CreateSocket(nodes.Get(1), UdpSocketFactory::GetTypeId());
        server->Bind(InetSocketAddress(Ipv4Address::GetAny(), 9));
        server->SetRecvCallback(Callback<void, Ptr<Socket>>([&](Ptr<Socket> socket) {
            while (socket->Recv())
            {
                received++;
            }
        }));
        auto client = Socket::CreateSocket(nodes.Get(0), UdpSocketFactory::GetTypeId());
        const InetSocketAddress to(ipv4.GetAddress(1), 9);
        const auto send = [&] { client->SendTo(Create<Packet>(160), 0, to); };
        // Causes three requests, 1 s apart, without an answer.
        Simulator::Schedule(Seconds(1), send);
        Simulator::Schedule(Seconds(6), [&] { deaf->SetRate(0); });
        Simulator::Schedule(Seconds(7), send);
        Simulator::Stop(Seconds(9));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(received, 1, "the second, not the first");
        Simulator::Destroy();
    }
};

/** Tests a node whose kernel settings differ from the defaults: the settings of an interface
 * override those of "default". */
class SysctlTestCase : public TestCase
{
  public:
    SysctlTestCase() : TestCase("a kernel's settings of neighbours")
    {
    }

  private:
    void DoRun() override
    {
        Simulator::Destroy();
        const Pair pair;
        const NodeContainer& nodes = pair.nodes;
        const NetDeviceContainer& devices = pair.devices;
        ResolveAddressesAsKernelsDo(nodes.Get(0),
                                    false,
                                    {{"net.ipv4.neigh.default.mcast_solicit", "2"},
                                     {"net.ipv4.neigh.eth0.mcast_solicit", "5"},
                                     {"net.ipv4.neigh.eth1.mcast_solicit", "7"},
                                     {"net.ipv4.neigh.eth0.retrans_time_ms", "100"},
                                     {"net.ipv6.neigh.eth0.mcast_solicit", "9"}});
        // A second call without sysctls, as LabHelper makes, keeps the sysctls of the first call.
        ResolveAddressesAsKernelsDo(nodes.Get(0));
        int requests = 0;
        devices.Get(1)->SetPromiscReceiveCallback(
            NetDevice::PromiscReceiveCallback([&](auto, auto, auto, auto, auto, auto) {
                requests++;
                return true;
            }));
        auto client = Socket::CreateSocket(nodes.Get(0), UdpSocketFactory::GetTypeId());
        const InetSocketAddress to(Ipv4Address("10.1.1.99"), 9);
        Simulator::Schedule(Seconds(1), [&] { client->SendTo(Create<Packet>(160), 0, to); });
        Simulator::Stop(Seconds(3));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(requests, 5, "those of its own interface are the last word");
        Simulator::Destroy();
    }
};

/**
 * Tests the requests of two nodes that send to each other once a second. The first node sends a
 * request with its first packet. The second node learns the first node's address from this request,
 * and sends a request 5 s later to confirm it. Both requests are answered, and no further request
 * is sent for at least 15 s.
 */
class ConversationTestCase : public TestCase
{
  public:
    ConversationTestCase() : TestCase("answers confirm neighbours")
    {
    }

  private:
    void DoRun() override
    {
        Simulator::Destroy();
        const Pair pair;
        const NodeContainer& nodes = pair.nodes;
        const NetDeviceContainer& devices = pair.devices;
        const Ipv4InterfaceContainer& ipv4 = pair.ipv4;
        std::vector<int> requests;
        for (uint32_t i = 0; i < 2; i++)
        {
            ResolveAddressesAsKernelsDo(nodes.Get(i));
            auto server = Socket::CreateSocket(nodes.Get(i), UdpSocketFactory::GetTypeId());
            server->Bind(InetSocketAddress(Ipv4Address::GetAny(), 9));
            const InetSocketAddress to(ipv4.GetAddress(1 - i), 9);
            for (int at = 1; at < 14; at++)
            {
                Simulator::Schedule(Seconds(at) + MilliSeconds(100) * i,
                                    [=] { server->SendTo(Create<Packet>(160), 0, to); });
            }
            nodes.Get(i)->RegisterProtocolHandler(
                Node::ProtocolHandler([&](auto, Ptr<const Packet> packet, auto, auto, auto, auto) {
                    ArpHeader arp;
                    packet->PeekHeader(arp);
                    if (arp.IsRequest())
                    {
                        requests.push_back(static_cast<int>(Simulator::Now().GetMilliSeconds()));
                    }
                }),
                ArpL3Protocol::PROT_NUMBER,
                devices.Get(i));
        }
        Simulator::Stop(Seconds(14));
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(requests.size(), 2U, "one request and one probe");
        NS_TEST_EXPECT_MSG_EQ(requests[0], 1000, "with the first packet");
        NS_TEST_EXPECT_MSG_EQ(requests[1], 1100 + 5130, "after the first use");
        Simulator::Destroy();
    }
};

/** The tests of ns3::ResolveAddressesAsKernelsDo(). */
class AddressResolutionTestSuite : public TestSuite
{
  public:
    AddressResolutionTestSuite() : TestSuite("viaduct-address-resolution", Type::UNIT)
    {
        AddTestCase(new FirstDatagramsTestCase(0, 20), TestCase::Duration::QUICK);
        AddTestCase(new FirstDatagramsTestCase(5, 5), TestCase::Duration::QUICK);
        AddTestCase(new ReturnTestCase(), TestCase::Duration::QUICK);
        AddTestCase(new SysctlTestCase(), TestCase::Duration::QUICK);
        AddTestCase(new ConversationTestCase(), TestCase::Duration::QUICK);
    }
};

AddressResolutionTestSuite g_addressResolutionTestSuite; //!< registers the suite

} // namespace
