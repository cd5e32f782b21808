/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/guard/transport-guard.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv6-address-helper.h"
#include "ns3/ipv6-interface.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/ndisc-cache.h"
#include "ns3/neighbour/address-resolution.h"
#include "ns3/node-container.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/test.h"
#include "ns3/udp-socket-factory.h"

/**
 * @file
 * @ingroup viaduct
 * Tests of ns3::TakeAdvertisementsWithoutAddress(), which ns3::TransportGuard calls.
 */

using namespace ns3;

namespace
{

constexpr uint16_t PORT = 9;
constexpr int DATAGRAMS = 1200;

/**
 * Tests that no datagram is lost in two minutes of datagrams to a neighbour that answers as Linux
 * does: ns-3 probes the neighbour after 35 s, and the answer has no link-layer address.
 */
class ProbedNeighbourTestCase : public TestCase
{
  public:
    /**
     * @param resolves whether the sender resolves addresses as Linux does, too
     * @param leaves whether the neighbour's interface is set down after a minute
     */
    ProbedNeighbourTestCase(bool resolves, bool leaves)
        : TestCase(std::string("datagrams to a probed neighbour") +
                   (resolves ? ", resolved as Linux does" : "") + (leaves ? ", which leaves" : "")),
          m_resolves(resolves),
          m_leaves(leaves)
    {
    }

  private:
    void DoRun() override
    {
        NodeContainer nodes(2);
        InternetStackHelper().Install(nodes);
        const NetDeviceContainer devices = SimpleNetDeviceHelper().Install(nodes);
        const Ipv6Address neighbour =
            Ipv6AddressHelper("fd00:1::", Ipv6Prefix(64)).Assign(devices).GetAddress(1, 1);
        TransportGuard::Install(nodes.Get(0));
        if (m_resolves)
        {
            ResolveAddressesAsKernelsDo(nodes.Get(0));
        }
        ResolveAddressesAsKernelsDo(nodes.Get(1));
        const auto socket = [&](uint32_t i) {
            return Socket::CreateSocket(nodes.Get(i), UdpSocketFactory::GetTypeId());
        };
        const Ptr<Socket> receiver = socket(1);
        receiver->Bind(Inet6SocketAddress(Ipv6Address::GetAny(), PORT));
        int received = 0;
        receiver->SetRecvCallback([&](Ptr<Socket> from) {
            while (from->Recv())
            {
                received++;
            }
        });
        const Ptr<Socket> sender = socket(0);
        sender->Connect(Inet6SocketAddress(neighbour, PORT));
        for (int i = 0; i < DATAGRAMS; i++)
        {
            Simulator::Schedule(Seconds(3) + i * MilliSeconds(100),
                                [sender] { sender->Send(Create<Packet>(100)); });
        }
        if (m_leaves)
        {
            Simulator::Schedule(Seconds(63),
                                [&] { nodes.Get(1)->GetObject<Ipv6L3Protocol>()->SetDown(1); });
        }
        Simulator::Stop(Seconds(125));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(received, (m_leaves ? DATAGRAMS / 2 : DATAGRAMS), "none is lost");
        const auto cache =
            nodes.Get(0)->GetObject<Ipv6L3Protocol>()->GetInterface(1)->GetNdiscCache();
        const NdiscCache::Entry* entry = cache->Lookup(neighbour);
        NS_TEST_EXPECT_MSG_EQ((entry && !entry->IsIncomplete()), !m_leaves, "what is known of it");
        Simulator::Destroy();
    }

    const bool m_resolves; //!< whether the sender resolves addresses as Linux does
    const bool m_leaves;   //!< whether the neighbour's interface is set down after a minute
};

class SolicitedAdvertisementsTestSuite : public TestSuite
{
  public:
    SolicitedAdvertisementsTestSuite() : TestSuite("viaduct-solicited-advertisements", Type::UNIT)
    {
        AddTestCase(new ProbedNeighbourTestCase(false, false), TestCase::Duration::QUICK);
        AddTestCase(new ProbedNeighbourTestCase(false, true), TestCase::Duration::QUICK);
        AddTestCase(new ProbedNeighbourTestCase(true, false), TestCase::Duration::QUICK);
        AddTestCase(new ProbedNeighbourTestCase(true, true), TestCase::Duration::QUICK);
    }
};

SolicitedAdvertisementsTestSuite g_solicitedAdvertisementsTestSuite; //!< registers the suite

} // namespace
