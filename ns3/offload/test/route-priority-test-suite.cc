/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/offload/test/route-test-support.h"

#include "ns3/base/ip-family.h"
#include "ns3/base/wire-conversion.h"
#include "ns3/ipv4-list-routing-helper.h"
#include "ns3/ipv6-list-routing-helper.h"
#include "ns3/test.h"

#include <optional>
#include <random>
#include <set>

/**
 * @file
 * @ingroup viaduct
 * Tests that compare lists of routing protocols, which ns-3 asks by priority, with the tables that
 * ns3::RouteSource derives from the lists, which a kernel searches by longest prefix.
 */

using namespace ns3;
using namespace ns3::viaducttest;
using viaduct::fib::RouteTable;
using viaduct::fib::Table;
using viaduct::wire::IpAddress;
using viaduct::wire::IpPrefix;

namespace
{

/** A next hop: its address (unspecified: the destination is on the link) and the number of its
 * interface in the IP layer. */
using Way = std::pair<IpAddress, int>;

/** The types, constants and functions of these tests that differ between IPv4 and IPv6. */
template <class Family>
struct Words;

template <>
struct Words<ipfamily::V4>
{
    using ListHelper = Ipv4ListRoutingHelper;
    using StaticHelper = Ipv4StaticRoutingHelper;
    static constexpr const char* EVERYTHING = "10.0.0.0";
    static constexpr size_t NETWORK_BYTE = 2;
    static constexpr std::array LENGTHS{0, 8, 16, 23, 24, 32};

    static void Assign(Line& line)
    {
        line.AssignIpv4();
    }

    static void Add(Ptr<Ipv4StaticRouting> routing, const IpPrefix& to, const Way& way, uint32_t m)
    {
        routing->AddNetworkRouteTo(wireconversion::ToIpv4(to.address),
                                   Ipv4Mask(to.length == 0 ? 0 : ~0U << (32 - to.length)),
                                   wireconversion::ToIpv4(way.first),
                                   way.second,
                                   m);
    }
};

template <>
struct Words<ipfamily::V6>
{
    using ListHelper = Ipv6ListRoutingHelper;
    using StaticHelper = Ipv6StaticRoutingHelper;
    static constexpr const char* EVERYTHING = "2001:1::";
    static constexpr size_t NETWORK_BYTE = 7;
    static constexpr std::array LENGTHS{0, 16, 32, 62, 64, 128};

    static void Assign(Line& line)
    {
        line.AssignIpv6();
    }

    static void Add(Ptr<Ipv6StaticRouting> routing, const IpPrefix& to, const Way& way, uint32_t m)
    {
        routing->AddNetworkRouteTo(wireconversion::ToIpv6(to.address),
                                   Ipv6Prefix(static_cast<uint8_t>(to.length)),
                                   wireconversion::ToIpv6(way.first),
                                   way.second,
                                   m);
    }
};

/** @return the length of the longest prefix that contains @p to, and the next hop of the prefix's
 * route */
std::optional<std::pair<int, Way>>
LongestMatch(const std::vector<std::pair<IpPrefix, Way>>& routes, const IpAddress& to)
{
    std::optional<std::pair<int, Way>> best;
    for (const auto& [prefix, way] : routes)
    {
        if (prefix.Contains(to) && (!best || prefix.length > best->first))
        {
            best = {prefix.length, way};
        }
    }
    return best;
}

/** Tests that the first protocol that has a route decides, with random static protocols, some with
 * connected networks and some without. */
template <class Family>
class PriorityTestCase : public TestCase
{
  public:
    explicit PriorityTestCase(const std::string& name)
        : TestCase("the first protocol that has a route decides: " + name)
    {
    }

  private:
    static constexpr uint32_t PROTOCOLS = 3;
    using Layer = typename Family::Layer;
    using Static = typename Family::StaticProtocol;

    void DoRun() override
    {
        for (uint32_t seed = 0; seed < 150 && !IsStatusFailure(); seed++)
        {
            m_random.seed(seed);
            Compare(seed);
        }
        NS_TEST_EXPECT_MSG_GT(m_preferred, 5, "some came before the connected networks");
    }

    IpAddress RandomAddress()
    {
        IpAddress address = IpAddress::Parse(Words<Family>::EVERYTHING);
        address.bytes[Words<Family>::NETWORK_BYTE] = m_random() % 4;
        address.bytes[address.Length() - 1] = 3 + m_random() % 4;
        return address;
    }

    /** Removes random connected networks from a protocol and adds random routes, at most one to
     * each destination. */
    void Fill(Ptr<Static> protocol, const Ptr<Layer>& ip)
    {
        for (uint32_t i = protocol->GetNRoutes(); i-- > 0;)
        {
            if (m_random() % 2 == 0)
            {
                protocol->RemoveRoute(i);
            }
        }
        std::set<IpPrefix> destinations;
        for (uint32_t i = m_random() % 5; i > 0; i--)
        {
            const auto& lengths = Words<Family>::LENGTHS;
            const int length = lengths[m_random() % lengths.size()];
            const IpPrefix to = IpPrefix{RandomAddress(), length}.Network();
            const int interface = 1 + m_random() % 2;
            IpAddress gateway = OwnAddress(ip, interface).address;
            gateway.bytes[gateway.Length() - 1] = 77;
            if (destinations.insert(to).second)
            {
                Words<Family>::Add(protocol, to, {gateway, interface}, 1 + m_random() % 2);
            }
        }
    }

    /** @return the interface's global address */
    static IpPrefix OwnAddress(Ptr<Layer> ip, int interface)
    {
        return ipfamily::AddressesOf(ip, interface).back();
    }

    std::optional<Way> WayOfTables(const RouteTable& table, Ptr<Layer> ip, const IpAddress& to)
    {
        std::vector<std::pair<IpPrefix, Way>> preferred;
        std::vector<std::pair<IpPrefix, Way>> main;
        const IpAddress onLink{Family::FAMILY, {}};
        for (int interface : {1, 2})
        {
            main.push_back({OwnAddress(ip, interface).Network(), {onLink, interface}});
        }
        for (const auto& [key, route] : table)
        {
            const auto& hop = route.next_hops.front();
            const int interface = hop.interface == "eth0" ? 1 : 2;
            auto& routes = route.table == Table::kPreferred ? preferred : main;
            m_preferred += route.table == Table::kPreferred ? 1 : 0;
            routes.push_back({route.destination, {hop.gateway, interface}});
        }
        auto found = LongestMatch(preferred, to);
        found = found ? found : LongestMatch(main, to);
        return found ? std::optional(found->second) : std::nullopt;
    }

    void Compare(uint32_t seed)
    {
        typename Words<Family>::ListHelper list;
        for (uint32_t i = 0; i < PROTOCOLS; i++)
        {
            list.Add(typename Words<Family>::StaticHelper(), 10 * i);
        }
        InternetStackHelper stack;
        stack.SetRoutingHelper(list);
        Line line(3, stack);
        Words<Family>::Assign(line);
        const Ptr<Layer> ip = line.nodes.Get(1)->template GetObject<Layer>();
        line.Source(1);
        Simulator::ScheduleNow([&] {
            for (const auto& protocol : ipfamily::ProtocolsOf<Family>(ip))
            {
                Fill(DynamicCast<Static>(protocol), ip);
            }
        });
        Simulator::Stop(MilliSeconds(500));
        Simulator::Run();
        for (int i = 0; i < 40; i++)
        {
            const IpAddress to = RandomAddress();
            const auto own =
                ipfamily::Ask<Family>(ip, ip->GetRoutingProtocol(), to, Create<Packet>());
            const auto tables = WayOfTables(line.table, ip, to);
            if (own.interface < 0)
            {
                continue; // no route in ns-3; the kernel may have a connected network
            }
            NS_TEST_ASSERT_MSG_EQ(tables.has_value(), true, to.ToString() << ", seed " << seed);
            NS_TEST_EXPECT_MSG_EQ(
                tables->second, own.interface, to.ToString() << ", seed " << seed);
            const IpAddress gateway =
                own.gateway == to ? IpAddress{Family::FAMILY, {}} : own.gateway;
            NS_TEST_EXPECT_MSG_EQ(
                tables->first.ToString(), gateway.ToString(), to.ToString() << ", seed " << seed);
        }
    }

    std::mt19937 m_random; //!< random number generator of all choices
    int m_preferred{0};    //!< number of routes seen in table kPreferred
};

class RoutePriorityTestSuite : public TestSuite
{
  public:
    RoutePriorityTestSuite() : TestSuite("viaduct-route-priority", Type::UNIT)
    {
        AddTestCase(new PriorityTestCase<ipfamily::V4>("IPv4"), TestCase::Duration::QUICK);
        AddTestCase(new PriorityTestCase<ipfamily::V6>("IPv6"), TestCase::Duration::QUICK);
    }
};

RoutePriorityTestSuite g_routePriorityTestSuite;

} // namespace
