/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test/viaduct-test-support.h"

#include "ns3/boolean.h"
#include "ns3/bridge-helper.h"
#include "ns3/csma-helper.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/error-model.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv4-raw-socket-factory.h"
#include "ns3/ipv6-address-helper.h"
#include "ns3/ipv6-interface.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/names.h"
#include "ns3/ndisc-cache.h"
#include "ns3/offload/control-plane.h"
#include "ns3/offload/device-replacement.h"
#include "ns3/offload/lab-helper.h"
#include "ns3/olsr-helper.h"
#include "ns3/olsr-routing-protocol.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/pointer.h"
#include "ns3/rip-helper.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/test.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"

#include "base/error.h"
#include "base/wire/test/packet_builder.h"
#include "lab/client.h"
#include "port/test/memory_port.h"

/**
 * @file
 * @ingroup viaduct
 * Tests of ns3::LabHelper, ns3::ReplaceDevice and ns3::ControlPlane. No test needs privilege.
 */

using namespace ns3;
using namespace ns3::viaducttest;
using viaduct::lab::Link;
using viaduct::lab::Topology;
using viaduct::wire::Family;
namespace packet = viaduct::wire::packet;

namespace
{

/** @return the message of the UsageError that `function` throws, or "" */
template <class Function>
std::string
ErrorOf(Function function)
{
    try
    {
        function();
    }
    catch (const viaduct::UsageError& error)
    {
        return error.what();
    }
    return "";
}

/** Tests that LabHelper::Describe() turns a scenario's nodes, devices, channels and addresses into
 * a topology. */
class DescribeTestCase : public TestCase
{
  public:
    DescribeTestCase() : TestCase("nodes, devices, channels and addresses become a topology")
    {
    }

  private:
    void DoRun() override
    {
        Simulator::Destroy();
        NodeContainer nodes(4);
        Names::Add("west", nodes.Get(0));
        InternetStackHelper().Install(nodes);
        PointToPointHelper p2p;
        p2p.SetDeviceAttribute("DataRate", StringValue("10Mbps"));
        p2p.SetDeviceAttribute("Mtu", UintegerValue(1400));
        p2p.SetChannelAttribute("Delay", StringValue("3ms"));
        p2p.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("50p"));
        NetDeviceContainer pair = p2p.Install(nodes.Get(0), nodes.Get(1));
        auto errors = CreateObject<RateErrorModel>();
        errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        errors->SetRate(0.25);
        pair.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
        NetDeviceContainer lan =
            CsmaHelper().Install(NodeContainer(nodes.Get(1), nodes.Get(2), nodes.Get(3)));
        Ipv4AddressHelper ipv4("10.0.0.0", "255.255.255.0");
        ipv4.Assign(pair);
        ipv4.NewNetwork();
        ipv4.Assign(lan);
        Ipv6AddressHelper("2001:db8::", Ipv6Prefix(64)).Assign(pair);

        LabHelper helper("offload");
        helper.SetLabName("test");
        helper.SetDataPlane(nodes.Get(3), viaduct::fib::kSimulatorPlane);
        const Topology lab = helper.Describe(nodes);
        viaduct::lab::Validate(lab);

        NS_TEST_ASSERT_MSG_EQ(lab.nodes.size(), 4, "nodes");
        NS_TEST_EXPECT_MSG_EQ(lab.nodes[0].name, "west", "from ns3::Names");
        NS_TEST_EXPECT_MSG_EQ(
            lab.nodes[1].name, "n" + std::to_string(nodes.Get(1)->GetId()), "or the id");
        NS_TEST_EXPECT_MSG_EQ(lab.nodes[0].data_plane->name, "kernel", "mode");
        NS_TEST_EXPECT_MSG_EQ(lab.nodes[3].data_plane->name, "simulator", "own");
        NS_TEST_EXPECT_MSG_EQ(lab.nodes[3].program_addresses.size(), 1, "programs of a simulated");
        NS_TEST_EXPECT_MSG_EQ(lab.nodes[0].sysctls.at("net.ipv4.ip_forward"), "1", "a router");
        NS_TEST_EXPECT_MSG_EQ(lab.nodes[0].sysctls.at("net.ipv6.conf.all.forwarding"),
                              "0",
                              "ns-3's IPv6 forwards only where told");

        const auto& interface = lab.nodes[0].interfaces.at(0);
        NS_TEST_EXPECT_MSG_EQ(interface.name, "eth0", "name");
        NS_TEST_EXPECT_MSG_EQ(interface.mtu, 1400, "MTU");
        NS_TEST_EXPECT_MSG_EQ(interface.mac.ToString(), MacText(pair.Get(0)), "MAC");
        NS_TEST_ASSERT_MSG_EQ(interface.addresses.size(), 2, "link-local is the kernel's own");
        NS_TEST_EXPECT_MSG_EQ(interface.addresses[0].ToString(), "10.0.0.1/24", "IPv4");
        NS_TEST_EXPECT_MSG_EQ(interface.addresses[1].length, 64, "IPv6");

        NS_TEST_ASSERT_MSG_EQ(lab.links.size(), 2, "links");
        const Link& wire = lab.links[0];
        NS_TEST_EXPECT_MSG_EQ((wire.kind == Link::Kind::kPair), true, "two devices: a pair");
        NS_TEST_ASSERT_MSG_EQ(wire.specs.size(), 2, "a SPEC a direction");
        NS_TEST_EXPECT_MSG_EQ(viaduct::path::FormatSpec(wire.specs[0]),
                              viaduct::path::FormatSpec(viaduct::path::ParseSpec(
                                  "delay=3ms loss=25% rate=10Mbit queue=50p")),
                              "towards the receiver with errors");
        NS_TEST_EXPECT_MSG_EQ(
            viaduct::path::FormatSpec(wire.specs[1]),
            viaduct::path::FormatSpec(viaduct::path::ParseSpec("delay=3ms rate=10Mbit queue=50p")),
            "the other direction");
        const Link& bridge = lab.links[1];
        NS_TEST_EXPECT_MSG_EQ((bridge.kind == Link::Kind::kBridge), true, "three: a bridge");
        NS_TEST_EXPECT_MSG_EQ(bridge.endpoints.size(), 3, "endpoints");
        NS_TEST_EXPECT_MSG_EQ(bridge.endpoints[0].interface, "eth1", "second device of its node");
        NS_TEST_EXPECT_MSG_EQ(bridge.specs.size(), 0, "a plain wire");

        helper.Ignore("rate");
        NS_TEST_EXPECT_MSG_EQ(viaduct::path::FormatSpec(helper.Describe(nodes).links[0].specs[1]),
                              "delay=3ms",
                              "rate left out with its queue, as asked");
        Names::Clear();
        Simulator::Destroy();
    }

    static std::string MacText(Ptr<NetDevice> device)
    {
        std::ostringstream text;
        text << Mac48Address::ConvertFrom(device->GetAddress());
        return text.str();
    }
};

/** Tests that the client that runs a node's programs is at the end of a wire of the node
 * (LabHelper::SetClient()). */
class ClientTestCase : public TestCase
{
  public:
    ClientTestCase() : TestCase("a client is at the end of a wire of its node")
    {
    }

  private:
    void DoRun() override
    {
        Simulator::Destroy();
        NodeContainer nodes(2);
        Names::Add("client", nodes.Get(1));
        Names::Add("a", nodes.Get(0));
        InternetStackHelper().Install(nodes);
        Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(PointToPointHelper().Install(nodes));
        LabHelper helper("offload");
        helper.SetLabName("test");
        viaduct::lab::Remote client;
        client.vni = 7;
        helper.SetClient(nodes.Get(0), client);
        const Topology lab = helper.Describe(nodes);
        viaduct::lab::Validate(lab);

        NS_TEST_ASSERT_MSG_EQ(lab.nodes.size(), 2, "the node stays");
        const auto& node = lab.nodes[0];
        NS_TEST_EXPECT_MSG_EQ(node.data_plane->name, "simulator", "whose packets ns-3 has");
        NS_TEST_EXPECT_MSG_EQ(node.program_addresses.size(), 0, "no programs in its namespace");
        NS_TEST_ASSERT_MSG_EQ(node.interfaces.size(), 2, "one more");
        NS_TEST_EXPECT_MSG_EQ(node.interfaces[1].name, viaduct::lab::kClientInterface, "name");
        NS_TEST_EXPECT_MSG_EQ(node.interfaces[1].addresses.size(), 0, "the client has them");
        NS_TEST_ASSERT_MSG_EQ(lab.remotes.size(), 1, "the client");
        NS_TEST_EXPECT_MSG_EQ(lab.remotes[0].programs_of, "a", "of this node");
        NS_TEST_EXPECT_MSG_EQ(lab.remotes[0].vni, 7, "VNI");
        NS_TEST_ASSERT_MSG_EQ(lab.links.size(), 2, "one more");
        NS_TEST_EXPECT_MSG_EQ(lab.links[0].name, "a-client", "of two nodes");
        NS_TEST_EXPECT_MSG_EQ(lab.links[1].name, "a-client-2", "a name that is free");
        NS_TEST_EXPECT_MSG_EQ(lab.links[1].endpoints[1].node, lab.remotes[0].name, "its end");
        Names::Clear();
        Simulator::Destroy();
    }
};

/** Tests that the error for an impossible lab names the node or device that the lab cannot have. */
class RefusalTestCase : public TestCase
{
  public:
    RefusalTestCase() : TestCase("what cannot be honoured is an error that names node and device")
    {
    }

  private:
    void Expect(const std::string& message, const std::string& part)
    {
        NS_TEST_EXPECT_MSG_NE(message.find(part), std::string::npos, message + " / " + part);
    }

    void DoRun() override
    {
        Simulator::Destroy();
        NodeContainer nodes(2);
        NetDeviceContainer devices = CsmaHelper().Install(nodes);
        BridgeHelper().Install(nodes.Get(0), NetDeviceContainer(devices.Get(0)));
        const std::string bridge = ErrorOf([&] { LabHelper("emulate").Describe(nodes); });
        Expect(bridge, "node n" + std::to_string(nodes.Get(0)->GetId()));
        Expect(bridge, "BridgeNetDevice");

        NodeContainer others(2);
        NetDeviceContainer pair = SimpleNetDeviceHelper().Install(others);
        Expect(ErrorOf([&] { LabHelper("emulate").Describe(NodeContainer(others.Get(0))); }),
               "not in the lab");
        pair.Get(0)->SetAttribute("ReceiveErrorModel",
                                  PointerValue(CreateObject<BurstErrorModel>()));
        Expect(ErrorOf([&] { LabHelper("emulate").Describe(others); }), "BurstErrorModel");
        Expect(ErrorOf([&] { LabHelper("emulate").InstallOrThrow(others); }),
               "does not run in real time");
        Simulator::Destroy();
    }
};

/** Replaces the two devices of a simulated link by RingNetDevices on the two ends of a MemoryPort.
 */
std::vector<Ptr<RingNetDevice>>
ReplaceByMemory(const NetDeviceContainer& link)
{
    auto [a, b] = viaduct::io::MemoryPort::MakePair();
    std::vector<std::unique_ptr<viaduct::io::AnyPort>> ports;
    ports.push_back(viaduct::io::Hold(std::move(a)));
    ports.push_back(viaduct::io::Hold(std::move(b)));
    std::vector<Ptr<RingNetDevice>> devices;
    for (uint32_t i = 0; i < 2; i++)
    {
        auto device = CreateObject<RingNetDevice>();
        device->SetAddress(link.Get(i)->GetAddress());
        device->SetMtu(link.Get(i)->GetMtu());
        device->SetPort(std::move(ports[i]));
        ReplaceDevice(link.Get(i)->GetNode(), link.Get(i), device);
        devices.push_back(device);
    }
    return devices;
}

/** Tests that ReplaceDevice() keeps sockets, addresses and interface indices, and that packets use
 * the new devices. */
class ReplaceTestCase : public TestCase
{
  public:
    ReplaceTestCase()
        : TestCase("a replaced device keeps interface, addresses and sockets; UDP echo over it")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        NodeContainer nodes(2);
        InternetStackHelper().Install(nodes);
        PointToPointHelper p2p; // point-to-point devices need no ARP; the new devices do
        NetDeviceContainer link = p2p.Install(nodes);
        Ipv4InterfaceContainer addresses =
            Ipv4AddressHelper("10.1.1.0", "255.255.255.0").Assign(link);
        Ipv6AddressHelper("2001:db8::", Ipv6Prefix(64)).Assign(link);
        Ptr<Socket> bound = Socket::CreateSocket(nodes.Get(0), UdpSocketFactory::GetTypeId());
        bound->Bind(InetSocketAddress(Ipv4Address::GetAny(), 698));
        bound->BindToNetDevice(link.Get(0));

        auto devices = ReplaceByMemory(link);
        Ptr<Ipv4> ipv4 = nodes.Get(0)->GetObject<Ipv4>();
        Ptr<Ipv6L3Protocol> ipv6 = nodes.Get(0)->GetObject<Ipv6L3Protocol>();
        NS_TEST_EXPECT_MSG_EQ(ipv4->GetInterfaceForDevice(devices[0]), 1, "IPv4 interface");
        NS_TEST_EXPECT_MSG_EQ(ipv4->GetInterfaceForDevice(link.Get(0)), -1, "the old has none");
        NS_TEST_EXPECT_MSG_EQ((ipv4->GetNetDevice(1) == devices[0]), true, "and back");
        NS_TEST_EXPECT_MSG_EQ(ipv6->GetInterfaceForDevice(devices[0]), 1, "IPv6 interface");
        NS_TEST_EXPECT_MSG_EQ((ipv6->GetInterface(1)->GetNdiscCache()->GetDevice() == devices[0]),
                              true,
                              "neighbour cache");
        NS_TEST_EXPECT_MSG_EQ((bound->GetBoundNetDevice() == devices[0]), true, "bound socket");

        Ptr<Socket> server = Socket::CreateSocket(nodes.Get(1), UdpSocketFactory::GetTypeId());
        server->Bind(InetSocketAddress(Ipv4Address::GetAny(), 9));
        server->SetRecvCallback(Callback<void, Ptr<Socket>>([](Ptr<Socket> socket) {
            Address from;
            Ptr<Packet> packet = socket->RecvFrom(from);
            socket->SendTo(packet, 0, from);
        }));
        Ptr<Socket> client = Socket::CreateSocket(nodes.Get(0), UdpSocketFactory::GetTypeId());
        client->Bind();
        int answers = 0;
        client->SetRecvCallback(Callback<void, Ptr<Socket>>(
            [&](Ptr<Socket> socket) { answers += socket->Recv() ? 1 : 0; }));
        Simulator::ScheduleWithContext(nodes.Get(0)->GetId(), MilliSeconds(1), [&]() {
            client->SendTo(Create<Packet>(160), 0, InetSocketAddress(addresses.GetAddress(1), 9));
        });
        Simulator::Stop(Seconds(1));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(answers, 1, "there and back");
        NS_TEST_EXPECT_MSG_GT(devices[0]->GetPort()->Counters().tx_frames, 1, "ARP and data");
    }
};

/** Tests that OLSR, unchanged, finds its routes over replaced devices. */
class OlsrOverMemoryTestCase : public TestCase
{
  public:
    OlsrOverMemoryTestCase() : TestCase("OLSR over replaced devices finds its routes")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        NodeContainer nodes(3);
        InternetStackHelper stack;
        stack.SetRoutingHelper(OlsrHelper());
        stack.SetIpv6StackInstall(false);
        stack.Install(nodes);
        Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
        for (uint32_t i = 0; i < 2; i++)
        {
            NetDeviceContainer link =
                SimpleNetDeviceHelper().Install(NodeContainer(nodes.Get(i), nodes.Get(i + 1)));
            addresses.Assign(link);
            addresses.NewNetwork();
            ReplaceByMemory(link);
        }
        Simulator::Stop(Seconds(20));
        Simulator::Run();
        // The end node has routes to both addresses of its neighbour and to the address of the far
        // node.
        NS_TEST_EXPECT_MSG_EQ(
            nodes.Get(0)->GetObject<olsr::RoutingProtocol>()->GetRoutingTableEntries().size(),
            3,
            "routes of an end node");
    }
};

/** Tests that a ControlPlane claims exactly the ports, protocols and EtherTypes that a node's
 * protocols use. */
class ClaimsTestCase : public TestCase
{
  public:
    ClaimsTestCase() : TestCase("control sockets are derived from what the node's protocols use")
    {
    }

  private:
    void DoRun() override
    {
        using Claim = ControlPlane::Claim;
        Simulator::Destroy();
        NodeContainer nodes(2);
        InternetStackHelper stack;
        stack.SetIpv6StackInstall(false);
        stack.SetRoutingHelper(OlsrHelper());
        stack.Install(nodes);
        NetDeviceContainer link = SimpleNetDeviceHelper().Install(nodes);
        NetDeviceContainer unused = SimpleNetDeviceHelper().Install(nodes);
        Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(link);
        Ptr<Node> node = nodes.Get(0);
        Ptr<NetDevice> device = link.Get(0);

        Ptr<Socket> local = Socket::CreateSocket(node, UdpSocketFactory::GetTypeId());
        local->Bind(InetSocketAddress(Ipv4Address::GetLoopback(), 4000));
        Ptr<Socket> unbound = Socket::CreateSocket(node, UdpSocketFactory::GetTypeId());
        Ptr<Socket> raw = Socket::CreateSocket(node, Ipv4RawSocketFactory::GetTypeId());
        raw->SetAttribute("Protocol", UintegerValue(89));
        node->RegisterProtocolHandler(Node::ProtocolHandler([](Ptr<NetDevice>,
                                                               Ptr<const Packet>,
                                                               uint16_t,
                                                               const Address&,
                                                               const Address&,
                                                               NetDevice::PacketType) {}),
                                      0x88b5,
                                      device);

        auto control = CreateObject<ControlPlane>();
        std::vector<std::string> opened;
        const auto open = [&](const std::string& interface, const Claim& claim) {
            opened.push_back(interface + " " + std::to_string(claim.number));
            return viaduct::UniqueFd();
        };
        control->SetNode(node, viaduct::fib::kKernelPlane, open);
        control->AddInterface(device, "eth0", nullptr);
        Simulator::Stop(Seconds(1));
        Simulator::Run(); // OLSR binds its sockets during this run
        const std::set<Claim> expected = {
            {Claim::Kind::kUdp, Family::kIpv4, 698},
            {Claim::Kind::kRawIp, Family::kIpv4, 89},
            {Claim::Kind::kEtherType, Family::kIpv4, 0x88b5},
        };
        NS_TEST_EXPECT_MSG_EQ((control->FindClaims(device) == expected),
                              true,
                              "OLSR's port, the raw socket, the EtherType; nothing else");
        control->Scan();
        control->Scan();
        NS_TEST_ASSERT_MSG_EQ(opened.size(), 1, "once, and only UDP where sockets are held");
        NS_TEST_EXPECT_MSG_EQ(opened[0], "eth0 698", "where and what");

        Ptr<Socket> other = Socket::CreateSocket(node, UdpSocketFactory::GetTypeId());
        other->Bind(InetSocketAddress(Ipv4Address::GetAny(), 5000));
        other->BindToNetDevice(unused.Get(0)); // bound to another device: no claim on `device`
        NS_TEST_EXPECT_MSG_EQ((control->FindClaims(device) == expected), true, "by device");
        control->Dispose();
        Simulator::Destroy();
    }
};

/** Tests that ns-3's ICMP sends nothing on a node whose kernel answers echo requests. */
class IcmpOwnerTestCase : public TestCase
{
  public:
    IcmpOwnerTestCase() : TestCase("ns-3 answers no echo request once ICMP is the kernel's")
    {
    }

  private:
    /** @return the number of frames that a node sends when it receives two echo requests, counted
     * from the node's start; @p kernel: whether ICMP is left to the kernel */
    static size_t FramesSent(bool kernel)
    {
        ReactorScope reactor;
        Ptr<Node> node = CreateObject<Node>();
        TestDevice device(node, "02:00:00:00:00:01");
        device.device->SetAttribute("NeedsArp", BooleanValue(false));
        InternetStackHelper().Install(node);
        Ipv4AddressHelper("10.1.1.0", "255.255.255.0").Assign(NetDeviceContainer(device.device));
        Ipv6AddressHelper("fd00::", Ipv6Prefix(64)).Assign(NetDeviceContainer(device.device));
        if (kernel)
        {
            ControlPlane::LeaveIcmpToKernel(node);
        }
        const packet::Ethernet ethernet{.source = "02:00:00:00:00:02",
                                        .destination = "02:00:00:00:00:01"};
        Simulator::Schedule(Seconds(5), [&] {
            device.in->push_back(
                packet::Build(ethernet / packet::Ipv4{"10.1.1.2", "10.1.1.1"} / packet::Icmp{}));
            device.in->push_back(packet::Build(
                ethernet / packet::Ipv6{"fd00::2", "fd00::ff:fe00:1"} / packet::Icmpv6{}));
        });
        Simulator::Stop(Seconds(6));
        Simulator::Run();
        return device.out->size();
    }

    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_GT(FramesSent(false), 2, "both replies, and the start of IPv6");
        NS_TEST_EXPECT_MSG_EQ(FramesSent(true), 0, "nothing at all");
    }
};

/** The test suite of LabHelper and ReplaceDevice(). */
class LabHelperTestSuite : public TestSuite
{
  public:
    LabHelperTestSuite() : TestSuite("viaduct-lab-helper", Type::UNIT)
    {
        AddTestCase(new ClientTestCase, TestCase::Duration::QUICK);
        AddTestCase(new DescribeTestCase, TestCase::Duration::QUICK);
        AddTestCase(new RefusalTestCase, TestCase::Duration::QUICK);
        AddTestCase(new ReplaceTestCase, TestCase::Duration::QUICK);
    }
};

/** The test suite of protocols over replaced devices and of ControlPlane. */
class OffloadTestSuite : public TestSuite
{
  public:
    OffloadTestSuite() : TestSuite("viaduct-offload", Type::UNIT)
    {
        AddTestCase(new OlsrOverMemoryTestCase, TestCase::Duration::QUICK);
        AddTestCase(new ClaimsTestCase, TestCase::Duration::QUICK);
        AddTestCase(new IcmpOwnerTestCase, TestCase::Duration::QUICK);
    }
};

LabHelperTestSuite g_labHelperTestSuite; //!< registers the suite
OffloadTestSuite g_offloadTestSuite;     //!< registers the suite

} // namespace
