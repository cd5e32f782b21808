/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../viaduct-test-support.h"

#include "ns3/handover-routes.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/loopback-net-device.h"
#include "ns3/net-device-container.h"
#include "ns3/on-demand.h"
#include "ns3/test.h"
#include "ns3/upcall-port.h"

#include "fib/test_route.h"
#include "wire/test/packet_builder.h"

#include <cstring>

/**
 * @file
 * @ingroup viaduct
 * Tests of ns3::UpcallPort and ns3::HandoverRoutes with a protocol that keeps packets.
 */

using namespace ns3;
using namespace ns3::viaducttest;
namespace packet = viaduct::wire::packet;
using viaduct::wire::IpAddress;
using viaduct::wire::MacAddress;

namespace
{

const char* const GATEWAY = "10.1.1.9";
const char* const GATEWAY_MAC = "02:00:00:00:00:09";

/** As AODV: keeps packets until it is told a route; changes the source address of its node's. */
class KeepingProtocol : public Ipv4RoutingProtocol
{
  public:
    std::vector<std::string> seen; //!< "device ttl" of each packet of RouteInput()

    /** @param device where every destination is from now on, by GATEWAY */
    void Find(Ptr<NetDevice> device)
    {
        m_route = Create<Ipv4Route>();
        m_route->SetGateway(Ipv4Address(GATEWAY));
        m_route->SetOutputDevice(device);
        m_route->SetSource(Ipv4Address("10.7.7.7"));
        for (const auto& send : std::exchange(m_kept, {}))
        {
            send();
        }
    }

    Ptr<Ipv4Route> RouteOutput(Ptr<Packet>,
                               const Ipv4Header& header,
                               Ptr<NetDevice>,
                               Socket::SocketErrno&) override
    {
        if (m_route)
        {
            return m_route;
        }
        auto loopback = Create<Ipv4Route>();
        loopback->SetDestination(header.GetDestination());
        loopback->SetGateway(Ipv4Address::GetLoopback());
        loopback->SetOutputDevice(m_ip->GetNetDevice(0));
        return loopback;
    }

    bool RouteInput(Ptr<const Packet> packet,
                    const Ipv4Header& header,
                    Ptr<const NetDevice> device,
                    const UnicastForwardCallback& forward,
                    const MulticastForwardCallback&,
                    const LocalDeliverCallback&,
                    const ErrorCallback&) override
    {
        const bool isOwn = DynamicCast<const LoopbackNetDevice>(device) != nullptr;
        seen.push_back((isOwn ? "own " : "forwarded ") + std::to_string(header.GetTtl()));
        const auto send = [this, packet, header, forward, isOwn] {
            Ipv4Header changed = header;
            if (isOwn)
            {
                changed.SetSource(m_route->GetSource());
                changed.SetTtl(header.GetTtl() + 1);
            }
            forward(m_route, packet, changed);
        };
        if (m_route)
        {
            send();
        }
        else
        {
            m_kept.emplace_back(send);
        }
        return true;
    }

    void NotifyInterfaceUp(uint32_t) override
    {
    }

    void NotifyInterfaceDown(uint32_t) override
    {
    }

    void NotifyAddAddress(uint32_t, Ipv4InterfaceAddress) override
    {
    }

    void NotifyRemoveAddress(uint32_t, Ipv4InterfaceAddress) override
    {
    }

    void SetIpv4(Ptr<Ipv4> ip) override
    {
        m_ip = ip;
    }

    void PrintRoutingTable(Ptr<OutputStreamWrapper>, Time::Unit) const override
    {
    }

  private:
    Ptr<Ipv4> m_ip;                            //!< its node's
    Ptr<Ipv4Route> m_route;                    //!< of all packets; null: none yet
    std::vector<std::function<void()>> m_kept; //!< forward what was kept
};

/** What happens in a kernel and its data plane, in order. */
struct Events
{
    std::vector<std::string> log;                        //!< so far
    std::shared_ptr<Wire> up = std::make_shared<Wire>(); //!< what goes up
};

/** A kernel that writes down what is asked of it. */
class RecordingKernel : public UpcallPort::Kernel
{
  public:
    explicit RecordingKernel(std::shared_ptr<Events> events) : m_events(std::move(events))
    {
    }

    std::unique_ptr<viaduct::io::AnyPort> Open() override
    {
        return std::make_unique<QueuePort>(m_events->up, std::make_shared<Wire>());
    }

    int IfIndexOf(const std::string&) const override
    {
        return 7;
    }

    bool Send(const std::string& interface, viaduct::io::FrameToSend frame) override
    {
        m_events->log.push_back(interface + " " +
                                packet::Describe(Frame(frame.begin(), frame.end())));
        return true;
    }

    std::optional<MacAddress> MacOf(const IpAddress& address) const override
    {
        return address.ToString() == GATEWAY ? std::optional(MacAddress::Parse(GATEWAY_MAC))
                                             : std::nullopt;
    }

    void Hold(const std::vector<UpcallPort::Neighbour>& neighbours, bool held) override
    {
        for (const auto& one : neighbours)
        {
            m_events->log.push_back((held ? "hold " : "release ") + one.address.ToString());
        }
    }

  private:
    std::shared_ptr<Events> m_events; //!< where it writes
};

/** A data plane in which one more packet goes up before the route is there. */
class SlowRoutes : public viaduct::fib::RouteSink
{
  public:
    SlowRoutes(std::shared_ptr<Events> events, Frame late)
        : m_events(std::move(events)), m_late(std::move(late))
    {
    }

  private:
    void DoApply(const viaduct::fib::RouteChanges&) override
    {
        m_events->up->push_back(m_late);
        m_events->log.emplace_back("apply");
    }

    std::shared_ptr<Events> m_events; //!< where it writes
    Frame m_late;                     //!< the packet
};

/** A node with one interface, 10.1.1.1/24, number 7 in its kernel. */
struct UpcallNode
{
    Ptr<Node> node = CreateObject<Node>();                           //!< the node
    TestDevice device{node, "02:00:00:00:00:01"};                    //!< its interface
    Ptr<KeepingProtocol> protocol = CreateObject<KeepingProtocol>(); //!< its protocol
    Ptr<UpcallPort> upcalls = CreateObject<UpcallPort>();            //!< what is tested
    std::shared_ptr<Events> events = std::make_shared<Events>();     //!< of its kernel
    int routed = 0; //!< how often the routes were said to have changed

    UpcallNode()
    {
        InternetStackHelper().Install(node);
        Ipv4AddressHelper("10.1.1.0", "255.255.255.0").Assign(NetDeviceContainer(device.device));
        node->GetObject<Ipv4>()->SetRoutingProtocol(protocol);
        upcalls->SetNode(node, std::make_unique<RecordingKernel>(events));
        upcalls->SetRouted([this] { routed++; });
        upcalls->AddInterface(device.device, "eth0");
        Simulator::ScheduleNow(&UpcallPort::Start, upcalls);
    }

    ~UpcallNode()
    {
        upcalls->Dispose();
    }

    /**
     * @param payload of the packet
     * @param origin as the kernel writes it
     * @param ttl as the kernel has left it
     * @return a packet that goes up
     */
    static Frame Packet(const std::string& payload, uint16_t origin, int ttl)
    {
        auto bytes = packet::Build(
            packet::Ipv4{
                .source = "10.2.2.2", .destination = "10.3.3.3", .ttl = static_cast<uint8_t>(ttl)} /
            packet::Udp{.source = 5, .destination = 6} / packet::Payload{payload});
        std::memcpy(&bytes[10], &origin, sizeof(origin));
        return bytes;
    }

    /** @param first called after 1 s @param second called a second later */
    void Run(
        std::function<void()> first, std::function<void()> second = [] {})
    {
        Simulator::Schedule(Seconds(1), [first] { first(); });
        Simulator::Schedule(Seconds(2), [second] { second(); });
        Simulator::Stop(Seconds(3));
        Simulator::Run();
    }

    /** @return what happened, one a line */
    std::string Log() const
    {
        std::string all;
        for (const std::string& line : events->log)
        {
            all += line + "\n";
        }
        return all;
    }
};

/** Packets come out as they would of the node's own IP layer, in order. */
class MissedPacketsTestCase : public TestCase
{
  public:
    MissedPacketsTestCase() : TestCase("the protocol keeps packets and forwards them in order")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        UpcallNode n;
        n.Run(
            [&] {
                n.events->up->push_back(UpcallNode::Packet("a", 7, 31));
                n.events->up->push_back(UpcallNode::Packet("bb", 0, 64));
                n.events->up->push_back(UpcallNode::Packet("ccc", 7, 31));
            },
            [&] { n.protocol->Find(n.device.device); });
        const std::vector<std::string> seen{"forwarded 32", "own 64", "forwarded 32"};
        NS_TEST_EXPECT_MSG_EQ((n.protocol->seen == seen), true, "as they came in");
        NS_TEST_ASSERT_MSG_EQ(n.events->log.size(), 3, n.Log());
        NS_TEST_EXPECT_MSG_EQ(n.upcalls->GetCounters().missed, 3, "missed");
        NS_TEST_EXPECT_MSG_EQ(n.upcalls->GetCounters().sent, 3, "sent");
        NS_TEST_EXPECT_MSG_GT(n.routed, 0, "the routes are read again");
        for (const std::string& line : n.events->log)
        {
            NS_TEST_EXPECT_MSG_NE(line.find(GATEWAY_MAC), std::string::npos, n.Log());
            NS_TEST_EXPECT_MSG_NE(line.find("10.2.2.2"), std::string::npos, "source: " + n.Log());
        }
    }
};

/** What the kernel has forwarded is shown to the protocol and not sent again. */
class CopiesTestCase : public TestCase
{
  public:
    CopiesTestCase() : TestCase("copies show that a route is used, and are discarded")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        UpcallNode n;
        constexpr uint16_t COPY = 0x8000;
        n.Run([&] { n.events->up->push_back(UpcallNode::Packet("own", COPY, 64)); },
              [&] {
                  NS_TEST_EXPECT_MSG_EQ(n.routed, 1, "its route has expired");
                  n.protocol->Find(n.device.device);
                  n.events->up->push_back(UpcallNode::Packet("other", COPY | 7, 64));
              });
        const std::vector<std::string> seen{"forwarded 64"};
        NS_TEST_EXPECT_MSG_EQ((n.protocol->seen == seen), true, "as it came in");
        NS_TEST_EXPECT_MSG_EQ(n.upcalls->GetCounters().copies, 2, "copies");
        NS_TEST_EXPECT_MSG_EQ(n.Log(), "", "nothing is sent");
    }
};

/** A route is installed between packets, not among them. */
class HandoverTestCase : public TestCase
{
  public:
    HandoverTestCase() : TestCase("what went up is sent before what takes the new route")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        UpcallNode n;
        const auto route = viaduct::fib::test::MakeRoute("10.3.3.3/32", GATEWAY);
        HandoverRoutes routes(
            std::make_shared<SlowRoutes>(n.events, UpcallNode::Packet("late", 7, 31)), n.upcalls);
        n.Run([&] {
            n.protocol->Find(n.device.device);
            routes.Apply({.replaced = {}, .added = {route}, .removed = {}});
        });
        const auto& log = n.events->log;
        NS_TEST_ASSERT_MSG_EQ(log.size(), 4, n.Log());
        NS_TEST_EXPECT_MSG_EQ(log[0], std::string("hold ") + GATEWAY, n.Log());
        NS_TEST_EXPECT_MSG_EQ(log[1], "apply", n.Log());
        NS_TEST_EXPECT_MSG_EQ(log[2].substr(0, 5), "eth0 ", n.Log());
        NS_TEST_EXPECT_MSG_EQ(log[3], std::string("release ") + GATEWAY, n.Log());
    }
};

/** Unreadable packets, unknown next hops. */
class DroppedTestCase : public TestCase
{
  public:
    DroppedTestCase() : TestCase("what cannot be sent is counted")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        UpcallNode n;
        auto other = CreateObject<LoopbackNetDevice>(); // a device that is not in the lab
        n.Run([&] {
            n.protocol->Find(other);
            n.events->up->push_back(Frame(3));
            n.events->up->push_back(UpcallNode::Packet("x", 7, 31));
        });
        NS_TEST_EXPECT_MSG_EQ(n.upcalls->GetDrops(UpcallPort::MALFORMED), 1, "three bytes");
        NS_TEST_EXPECT_MSG_EQ(n.upcalls->GetDrops(UpcallPort::UNKNOWN_NEIGHBOUR), 1, "no MAC");
        NS_TEST_EXPECT_MSG_EQ(n.Log(), "", "nothing is sent");
    }
};

class UpcallPortTestSuite : public TestSuite
{
  public:
    UpcallPortTestSuite() : TestSuite("viaduct-upcall-port", Type::UNIT)
    {
        AddTestCase(new MissedPacketsTestCase, Duration::QUICK);
        AddTestCase(new CopiesTestCase, Duration::QUICK);
        AddTestCase(new HandoverTestCase, Duration::QUICK);
        AddTestCase(new DroppedTestCase, Duration::QUICK);
    }
};

UpcallPortTestSuite g_upcallPortTestSuite; //!< registers the suite

} // namespace
