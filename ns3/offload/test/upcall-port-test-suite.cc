/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test/viaduct-test-support.h"

#include "ns3/base/ip-family.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv6-address-helper.h"
#include "ns3/loopback-net-device.h"
#include "ns3/net-device-container.h"
#include "ns3/offload/control-plane.h"
#include "ns3/offload/handover-routes.h"
#include "ns3/offload/upcall-port.h"
#include "ns3/routes/on-demand.h"
#include "ns3/test.h"

#include "base/wire/test/packet_builder.h"
#include "plane/bpf/upcall_program.h"
#include "plane/fib/test_route.h"

#include <functional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

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

const char* const GATEWAY_MAC = "02:00:00:00:00:09";

/** The tests' constants for IPv4. */
struct OnDemandV4 : ipfamily::V4
{
    using InterfaceAddress = Ipv4InterfaceAddress;           //!< type of an address
    static constexpr const char* GATEWAY = "10.1.1.9";       //!< the next hop
    static constexpr const char* SOURCE = "10.2.2.2";        //!< the packets' source
    static constexpr const char* DESTINATION = "10.3.3.3";   //!< the packets' destination
    static constexpr const char* HOST_ROUTE = "10.3.3.3/32"; //!< the host route to DESTINATION
    /** Source address of the protocol's routes. */
    static constexpr const char* OTHER_SOURCE = "10.7.7.7";
};

/** The tests' constants for IPv6. */
struct OnDemandV6 : ipfamily::V6
{
    using InterfaceAddress = Ipv6InterfaceAddress;                 //!< type of an address
    static constexpr const char* GATEWAY = "fe80::9";              //!< the next hop
    static constexpr const char* SOURCE = "2001:db8:2::2";         //!< the packets' source
    static constexpr const char* DESTINATION = "2001:db8:3::3";    //!< the packets' destination
    static constexpr const char* HOST_ROUTE = "2001:db8:3::3/128"; //!< the route to DESTINATION
    /** Source address of the protocol's routes. */
    static constexpr const char* OTHER_SOURCE = "2001:db8:7::7";
};

/** The functions of a protocol that differ between the two versions of IP. */
template <class Family>
class KeepingBase;

/** The functions of an IPv4 protocol. */
template <>
class KeepingBase<OnDemandV4> : public Ipv4RoutingProtocol
{
  public:
    void SetIpv4(Ptr<Ipv4> ip) override
    {
        m_ip = ip;
    }

  protected:
    static void Forward(const UnicastForwardCallback& forward,
                        Ptr<const NetDevice>,
                        Ptr<Ipv4Route> route,
                        Ptr<const Packet> packet,
                        const Ipv4Header& header)
    {
        forward(route, packet, header);
    }

    Ptr<Ipv4> m_ip; //!< the node's IP layer
};

/** The functions of an IPv6 protocol. */
template <>
class KeepingBase<OnDemandV6> : public Ipv6RoutingProtocol
{
  public:
    void SetIpv6(Ptr<Ipv6> ip) override
    {
        m_ip = ip;
    }

    void NotifyAddRoute(Ipv6Address, Ipv6Prefix, Ipv6Address, uint32_t, Ipv6Address) override
    {
    }

    void NotifyRemoveRoute(Ipv6Address, Ipv6Prefix, Ipv6Address, uint32_t, Ipv6Address) override
    {
    }

  protected:
    static void Forward(const UnicastForwardCallback& forward,
                        Ptr<const NetDevice> device,
                        Ptr<Ipv6Route> route,
                        Ptr<const Packet> packet,
                        const Ipv6Header& header)
    {
        forward(device, route, packet, header);
    }

    Ptr<Ipv6> m_ip; //!< the node's IP layer
};

/** A protocol like AODV: keeps packets until it gets a route, and changes the source address of
 * packets that its node sends. */
template <class Family>
class KeepingProtocol : public KeepingBase<Family>
{
  public:
    using typename KeepingBase<Family>::UnicastForwardCallback;
    using typename KeepingBase<Family>::MulticastForwardCallback;
    using typename KeepingBase<Family>::LocalDeliverCallback;
    using typename KeepingBase<Family>::ErrorCallback;
    using Header = typename Family::Header; //!< the packets' header
    using Route = typename Family::Route;   //!< a packet's route

    std::vector<std::string> seen; //!< for each packet "own HOPS" or "forwarded HOPS"

    /** Gives the protocol a route to every destination, with next hop GATEWAY. @param device the
     * route's output device */
    void Find(Ptr<NetDevice> device)
    {
        m_route = Create<Route>();
        m_route->SetGateway(Family::ToAddress(IpAddress::Parse(Family::GATEWAY)));
        m_route->SetOutputDevice(device);
        m_route->SetSource(Family::ToAddress(IpAddress::Parse(Family::OTHER_SOURCE)));
        for (const auto& send : std::exchange(m_kept, {}))
        {
            send();
        }
    }

    Ptr<Route> RouteOutput(Ptr<Packet>,
                           const Header& header,
                           Ptr<NetDevice>,
                           Socket::SocketErrno&) override
    {
        if (m_route)
        {
            return m_route;
        }
        auto loopback = Create<Route>();
        loopback->SetDestination(header.GetDestination());
        loopback->SetOutputDevice(this->m_ip->GetNetDevice(0));
        return loopback;
    }

    bool RouteInput(Ptr<const Packet> packet,
                    const Header& header,
                    Ptr<const NetDevice> device,
                    const UnicastForwardCallback& forward,
                    const MulticastForwardCallback&,
                    const LocalDeliverCallback&,
                    const ErrorCallback&) override
    {
        const bool isOwn = DynamicCast<const LoopbackNetDevice>(device) != nullptr;
        const int hops = (header.*Family::GetHops)();
        seen.push_back((isOwn ? "own " : "forwarded ") + std::to_string(hops));
        const auto send = [=, this] {
            Header changed = header;
            if (isOwn)
            {
                changed.SetSource(m_route->GetSource());
                (changed.*Family::SetHops)(static_cast<uint8_t>(hops + 1));
            }
            this->Forward(forward, device, m_route, packet, changed);
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

    void NotifyAddAddress(uint32_t, typename Family::InterfaceAddress) override
    {
    }

    void NotifyRemoveAddress(uint32_t, typename Family::InterfaceAddress) override
    {
    }

    void PrintRoutingTable(Ptr<OutputStreamWrapper>, Time::Unit) const override
    {
    }

  private:
    Ptr<Route> m_route;                        //!< the route of all packets; null: none yet
    std::vector<std::function<void()>> m_kept; //!< functions that forward kept packets
};

/** The events in a kernel and its data plane, in order. */
struct Events
{
    std::vector<std::string> log; //!< events so far
    /** Versions of IP whose packets are passed up. */
    std::set<viaduct::wire::Family> families;
    std::shared_ptr<Wire> up = std::make_shared<Wire>(); //!< packets passed up
};

/** A kernel that records the calls of its functions. */
class RecordingKernel : public UpcallPort::Kernel
{
  public:
    explicit RecordingKernel(std::shared_ptr<Events> events) : m_events(std::move(events))
    {
    }

    std::unique_ptr<viaduct::io::AnyPort> Open(
        const std::set<viaduct::wire::Family>& families) override
    {
        m_events->families = families;
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
        return address.ToString() == OnDemandV4::GATEWAY ||
                       address.ToString() == OnDemandV6::GATEWAY
                   ? std::optional(MacAddress::Parse(GATEWAY_MAC))
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
    std::shared_ptr<Events> m_events; //!< records the calls
};

/** @return the beginning of a test's name: "IPv4: " or "IPv6: " */
template <class Family>
std::string
NameOf()
{
    return std::is_same_v<Family, OnDemandV4> ? "IPv4: " : "IPv6: ";
}

/** A data plane in which the kernel passes up one more packet before it applies a route. */
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

    std::shared_ptr<Events> m_events; //!< records the calls
    Frame m_late;                     //!< packet that is passed up before a route is applied
};

/** A node with one interface, which has the address 10.1.1.1/24, an address in 2001:db8:1::/64, and
 * the ifindex 7 in the kernel. */
template <class Family>
struct UpcallNode
{
    /** Whether the tests are for IPv4. */
    static constexpr bool IS_IPV4 = std::is_same_v<Family, OnDemandV4>;
    Ptr<Node> node = CreateObject<Node>();        //!< the node
    TestDevice device{node, "02:00:00:00:00:01"}; //!< the node's interface
    Ptr<KeepingProtocol<Family>> protocol =
        CreateObject<KeepingProtocol<Family>>();                 //!< the node's protocol
    Ptr<UpcallPort> upcalls = CreateObject<UpcallPort>();        //!< the tested object
    std::shared_ptr<Events> events = std::make_shared<Events>(); //!< events in the node's kernel
    int routed = 0; //!< number of reports that the routes may have changed

    UpcallNode()
    {
        InternetStackHelper().Install(node);
        ControlPlane::LeaveIcmpToKernel(node);
        Ipv4AddressHelper("10.1.1.0", "255.255.255.0").Assign(NetDeviceContainer(device.device));
        Ipv6AddressHelper("2001:db8:1::", Ipv6Prefix(64)).Assign(NetDeviceContainer(device.device));
        node->GetObject<typename Family::Layer>()->SetRoutingProtocol(protocol);
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
     * @param payload the packet's payload
     * @param from the number of the interface by which the packet arrived; 0: the node itself sent
     * it
     * @param hops TTL or hop limit after the kernel has handled the packet
     * @param isCopy whether the packet is a copy
     * @return the packet as the kernel passes it up
     */
    static Frame Packet(const std::string& payload, int from, int hops, bool isCopy = false)
    {
        const auto limit = static_cast<uint8_t>(hops);
        const packet::Udp udp{.source = 5, .destination = 6};
        const packet::Ipv4 ipv4{
            .source = OnDemandV4::SOURCE, .destination = OnDemandV4::DESTINATION, .ttl = limit};
        const packet::Ipv6 ipv6{.source = OnDemandV6::SOURCE,
                                .destination = OnDemandV6::DESTINATION,
                                .hop_limit = limit};
        auto bytes = packet::Build(IS_IPV4 ? ipv4 / udp / packet::Payload{payload}
                                           : ipv6 / udp / packet::Payload{payload});
        return viaduct::bpf::WriteUpcall({.ifindex = from, .is_copy = isCopy, .packet = bytes});
    }

    /** Runs the simulation until 3 s. @param first called at 1 s @param second called at 2 s */
    void Run(
        std::function<void()> first, std::function<void()> second = [] {})
    {
        Simulator::Schedule(Seconds(1), [first] { first(); });
        Simulator::Schedule(Seconds(2), [second] { second(); });
        Simulator::Stop(Seconds(3));
        Simulator::Run();
    }

    /** @return the recorded events, one a line */
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

/** Tests that the protocol keeps packets without a route, and then forwards the packets in order,
 * as from the node's own IP layer. */
template <class Family>
class MissedPacketsTestCase : public TestCase
{
  public:
    MissedPacketsTestCase()
        : TestCase(NameOf<Family>() + "the protocol keeps packets and forwards them in order")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        UpcallNode<Family> n;
        n.Run(
            [&] {
                n.events->up->push_back(UpcallNode<Family>::Packet("a", 7, 31));
                n.events->up->push_back(UpcallNode<Family>::Packet("bb", 0, 64));
                n.events->up->push_back(UpcallNode<Family>::Packet("ccc", 7, 31));
            },
            [&] {
                NS_TEST_EXPECT_MSG_EQ(n.upcalls->GetKept(), 3, "kept");
                n.protocol->Find(n.device.device);
            });
        const std::vector<std::string> seen{"forwarded 32", "own 64", "forwarded 32"};
        NS_TEST_EXPECT_MSG_EQ((n.protocol->seen == seen), true, "as they came in");
        NS_TEST_ASSERT_MSG_EQ(n.events->log.size(), 3, n.Log());
        NS_TEST_EXPECT_MSG_EQ((n.events->families == std::set{Family::FAMILY}), true, "of one");
        const uint64_t bytes = 3 * (UpcallNode<Family>::IS_IPV4 ? 28 : 48) + 1 + 2 + 3;
        const UpcallPort::Counters& counted = n.upcalls->GetCounters();
        NS_TEST_EXPECT_MSG_EQ(counted.missed.packets, 3, "missed");
        NS_TEST_EXPECT_MSG_EQ(counted.missed.bytes, bytes, "missed, without what is before them");
        NS_TEST_EXPECT_MSG_EQ(counted.sent.packets, 3, "sent");
        NS_TEST_EXPECT_MSG_EQ(counted.sent.bytes, bytes, "sent");
        NS_TEST_EXPECT_MSG_EQ(n.upcalls->GetKept(), 0, "none is kept any more");
        NS_TEST_EXPECT_MSG_GT(n.routed, 0, "the routes are read again");
        for (const std::string& line : n.events->log)
        {
            NS_TEST_EXPECT_MSG_NE(line.find(GATEWAY_MAC), std::string::npos, n.Log());
            NS_TEST_EXPECT_MSG_NE(
                line.find(Family::SOURCE), std::string::npos, "source: " + n.Log());
        }
    }
};

/** Tests that packets that the kernel has forwarded are passed to the protocol and not sent again.
 */
template <class Family>
class CopiesTestCase : public TestCase
{
  public:
    CopiesTestCase()
        : TestCase(NameOf<Family>() + "copies show that a route is used, and are discarded")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        UpcallNode<Family> n;
        n.Run([&] { n.events->up->push_back(UpcallNode<Family>::Packet("own", 0, 64, true)); },
              [&] {
                  NS_TEST_EXPECT_MSG_EQ(n.routed, 1, "its route has expired");
                  n.protocol->Find(n.device.device);
                  n.events->up->push_back(UpcallNode<Family>::Packet("other", 7, 64, true));
              });
        const std::vector<std::string> seen{"forwarded 64"};
        NS_TEST_EXPECT_MSG_EQ((n.protocol->seen == seen), true, "as it came in");
        NS_TEST_EXPECT_MSG_EQ(n.upcalls->GetCounters().copies.packets, 2, "copies");
        NS_TEST_EXPECT_MSG_EQ(n.Log(), "", "nothing is sent");
    }
};

/** Tests that packets that were passed up are sent before packets that take a new route. */
template <class Family>
class HandoverTestCase : public TestCase
{
  public:
    HandoverTestCase()
        : TestCase(NameOf<Family>() + "what went up is sent before what takes the new route")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        UpcallNode<Family> n;
        const auto route = viaduct::fib::test::MakeRoute(Family::HOST_ROUTE, Family::GATEWAY);
        HandoverRoutes routes(
            std::make_shared<SlowRoutes>(n.events, UpcallNode<Family>::Packet("late", 7, 31)),
            n.upcalls);
        n.Run([&] {
            n.protocol->Find(n.device.device);
            routes.Apply({.replaced = {}, .added = {route}, .removed = {}});
        });
        const auto& log = n.events->log;
        NS_TEST_ASSERT_MSG_EQ(log.size(), 4, n.Log());
        NS_TEST_EXPECT_MSG_EQ(log[0], std::string("hold ") + Family::GATEWAY, n.Log());
        NS_TEST_EXPECT_MSG_EQ(log[1], "apply", n.Log());
        NS_TEST_EXPECT_MSG_EQ(log[2].substr(0, 5), "eth0 ", n.Log());
        NS_TEST_EXPECT_MSG_EQ(log[3], std::string("release ") + Family::GATEWAY, n.Log());
    }
};

/** Tests that unreadable packets and packets to unknown next hops are dropped and counted. */
template <class Family>
class DroppedTestCase : public TestCase
{
  public:
    DroppedTestCase() : TestCase(NameOf<Family>() + "what cannot be sent is counted")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        UpcallNode<Family> n;
        auto other = CreateObject<LoopbackNetDevice>(); // a device that is not in the lab
        n.Run([&] {
            n.protocol->Find(other);
            n.events->up->push_back(Frame(3));
            auto cut = UpcallNode<Family>::Packet("x", 7, 31);
            cut.pop_back();
            n.events->up->push_back(cut);
            n.events->up->push_back(UpcallNode<Family>::Packet("x", 7, 31));
        });
        NS_TEST_EXPECT_MSG_EQ(
            n.upcalls->GetDrops(UpcallPort::MALFORMED), 2, "three bytes, and a cut packet");
        NS_TEST_EXPECT_MSG_EQ(n.upcalls->GetDrops(UpcallPort::UNKNOWN_NEIGHBOUR), 1, "no MAC");
        NS_TEST_EXPECT_MSG_EQ(n.Log(), "", "nothing is sent");
    }
};

class UpcallPortTestSuite : public TestSuite
{
  public:
    UpcallPortTestSuite() : TestSuite("viaduct-upcall-port", Type::UNIT)
    {
        AddTestCase(new MissedPacketsTestCase<OnDemandV4>, Duration::QUICK);
        AddTestCase(new MissedPacketsTestCase<OnDemandV6>, Duration::QUICK);
        AddTestCase(new CopiesTestCase<OnDemandV4>, Duration::QUICK);
        AddTestCase(new CopiesTestCase<OnDemandV6>, Duration::QUICK);
        AddTestCase(new HandoverTestCase<OnDemandV4>, Duration::QUICK);
        AddTestCase(new HandoverTestCase<OnDemandV6>, Duration::QUICK);
        AddTestCase(new DroppedTestCase<OnDemandV4>, Duration::QUICK);
        AddTestCase(new DroppedTestCase<OnDemandV6>, Duration::QUICK);
    }
};

UpcallPortTestSuite g_upcallPortTestSuite; //!< registers the suite

} // namespace
