/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/socket/test/host-socket-test-support.h"

#include "ns3/bulk-send-helper.h"
#include "ns3/on-off-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/pointer.h"
#include "ns3/three-gpp-http-client.h"
#include "ns3/three-gpp-http-helper.h"
#include "ns3/three-gpp-http-server.h"
#include "ns3/udp-echo-helper.h"
#include "ns3/uinteger.h"

/**
 * @file
 * @ingroup viaduct
 * Tests of ns-3's own unmodified applications on the host's sockets.
 */

using namespace ns3;
using viaducttest::HOST_TCP;
using viaducttest::HOST_UDP;
using viaducttest::HostPair;
using viaducttest::HostSocketTestCase;

namespace
{

/** @return a counter of the bytes in the packets that a trace source reports */
std::shared_ptr<uint64_t>
CountBytes(Ptr<Application> application, const std::string& source)
{
    auto bytes = std::make_shared<uint64_t>(0);
    application->TraceConnectWithoutContext(
        source, Callback<void, Ptr<const Packet>>([bytes](Ptr<const Packet> packet) {
            *bytes += packet->GetSize();
        }));
    return bytes;
}

/** Starts a client after its server listens, because a refused connection is not tried again.
 * @return the client
 */
Ptr<Application>
StartLater(const ApplicationContainer& client)
{
    client.Start(MilliSeconds(10));
    return client.Get(0);
}

/** Tests that the data of applications that name the socket factory in an attribute arrives
 * completely. */
void
ByName(HostSocketTestCase& test, HostPair& pair, bool ipv6)
{
    constexpr uint32_t BULK = 2000000;
    constexpr uint32_t DATAGRAMS = 100;
    pair.Install();
    const auto sink = [&](const char* factory, uint16_t port) {
        PacketSinkHelper helper(factory, HostPair::At(ipv6, -1, port));
        return DynamicCast<PacketSink>(helper.Install(pair.nodes[1]).Get(0));
    };
    const auto tcpSink = sink(HOST_TCP, 5201);
    const auto udpSink = sink(HOST_UDP, 5202);
    BulkSendHelper bulk(HOST_TCP, HostPair::At(ipv6, 1, 5201));
    bulk.SetAttribute("MaxBytes", UintegerValue(BULK));
    const auto bulkSent = CountBytes(StartLater(bulk.Install(pair.nodes[0])), "Tx");
    OnOffHelper onOff(HOST_UDP, HostPair::At(ipv6, 1, 5202));
    onOff.SetConstantRate(DataRate("8Mbps"), 1000);
    onOff.SetAttribute("MaxBytes", UintegerValue(DATAGRAMS * 1000));
    const auto onOffSent = CountBytes(StartLater(onOff.Install(pair.nodes[0])), "Tx");
    const bool done = pair.RunUntil(
        [&] { return tcpSink->GetTotalRx() == BULK && udpSink->GetTotalRx() == DATAGRAMS * 1000; });
    test.Equal(done, true, "all arrives");
    test.Equal(*bulkSent, BULK, "BulkSend sent");
    test.Equal(*onOffSent, DATAGRAMS * 1000, "OnOff sent");
}

/** Tests that UDP echo works with applications that ask for ns-3's UDP factory. */
void
Echo(HostSocketTestCase& test, HostPair& pair, bool ipv6)
{
    HostSocketHelper helper;
    helper.SetDefault(true);
    pair.Install(helper);
    UdpEchoServerHelper(9).Install(pair.nodes[1]);
    UdpEchoClientHelper client(HostPair::At(ipv6, 1, 9));
    client.SetAttribute("MaxPackets", UintegerValue(3));
    client.SetAttribute("Interval", TimeValue(MilliSeconds(10)));
    const auto echoed = CountBytes(StartLater(client.Install(pair.nodes[0])), "Rx");
    test.Equal(pair.RunUntil([&] { return *echoed == 300; }), true, "three echoes of 100 bytes");
}

/** Tests that a web page with its objects arrives at applications that ask for ns-3's TCP factory.
 */
void
Http(HostSocketTestCase& test, HostPair& pair, bool ipv6)
{
    HostSocketHelper helper;
    helper.SetDefault(true);
    pair.Install(helper);
    uint64_t served = 0;
    uint64_t got = 0;
    auto server =
        ThreeGppHttpServerHelper(HostPair::At(ipv6, -1, 80)).Install(pair.nodes[1]).Get(0);
    const Callback<void, uint32_t> serve([&](uint32_t size) { served += size; });
    server->TraceConnectWithoutContext("MainObject", serve);
    server->TraceConnectWithoutContext("EmbeddedObject", serve);
    auto client =
        StartLater(ThreeGppHttpClientHelper(HostPair::At(ipv6, 1, 80)).Install(pair.nodes[0]));
    client->TraceConnectWithoutContext(
        "RxPage",
        Callback<void, Ptr<const ThreeGppHttpClient>, const Time&, uint32_t, uint32_t>(
            [&](auto, const Time&, uint32_t, uint32_t bytes) { got += bytes; }));
    test.Equal(pair.RunUntil([&] { return got > 0; }), true, "a page");
    test.Equal(got, served, "all that was served");
}

class HostApplicationsTestSuite : public TestSuite
{
  public:
    HostApplicationsTestSuite() : TestSuite("viaduct-host-applications", Type::SYSTEM)
    {
        for (const bool ipv6 : {false, true})
        {
            const std::string family = ipv6 ? " (IPv6)" : " (IPv4)";
            Add("BulkSend, OnOff, PacketSink" + family,
                [=](auto& test, auto& pair) { ByName(test, pair, ipv6); });
            Add("UdpEcho" + family, [=](auto& test, auto& pair) { Echo(test, pair, ipv6); });
            Add("ThreeGppHttp" + family, [=](auto& test, auto& pair) { Http(test, pair, ipv6); });
        }
    }

  private:
    void Add(const std::string& name,
             const std::function<void(HostSocketTestCase&, HostPair&)>& scenario)
    {
        AddTestCase(new HostSocketTestCase(name, scenario), Duration::QUICK);
    }
};

HostApplicationsTestSuite g_hostApplicationsTestSuite; //!< registers itself

} // namespace
