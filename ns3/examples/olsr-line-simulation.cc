/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/*
 * Five nodes in a line, with OLSR and UDP echo from end to end: an ordinary ns-3 simulation.
 * olsr-line-testbed.cc is the same program on the real network: `diff` shows the three lines that
 * differ.
 */

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-apps-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/olsr-module.h"

using namespace ns3;

namespace
{

uint32_t g_sent = 0;     //!< number of requests sent
uint32_t g_answered = 0; //!< number of answers received

void
CountSent(Ptr<const Packet>)
{
    g_sent++;
}

void
CountAnswered(Ptr<const Packet>)
{
    g_answered++;
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t nNodes = 5;
    Time duration = Seconds(30);
    CommandLine cmd(__FILE__);
    cmd.AddValue("nodes", "number of nodes in the line", nNodes);
    cmd.AddValue("duration", "duration of the simulation", duration);
    cmd.Parse(argc, argv);

    NodeContainer nodes(nNodes);
    InternetStackHelper stack;
    stack.SetRoutingHelper(OlsrHelper());
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes);

    SimpleNetDeviceHelper link;
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer last;
    for (uint32_t i = 0; i + 1 < nNodes; i++)
    {
        last = addresses.Assign(link.Install(NodeContainer(nodes.Get(i), nodes.Get(i + 1))));
        addresses.NewNetwork();
    }

    UdpEchoServerHelper server(9);
    server.Install(nodes.Get(nNodes - 1));
    UdpEchoClientHelper client(last.GetAddress(1), 9);
    client.SetAttribute("MaxPackets", UintegerValue(0)); // no limit
    client.SetAttribute("Interval", TimeValue(MilliSeconds(200)));
    ApplicationContainer echo = client.Install(nodes.Get(0));
    echo.Get(0)->TraceConnectWithoutContext("Tx", MakeCallback(&CountSent));
    echo.Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&CountAnswered));

    Simulator::Stop(duration);
    Simulator::Run();
    std::cout << nNodes << " nodes: " << g_sent << " requests, " << g_answered << " answers"
              << std::endl;
    Simulator::Destroy();
    return g_answered > 0 ? 0 : 1;
}
