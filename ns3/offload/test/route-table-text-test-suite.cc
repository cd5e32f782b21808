/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/routes/route-table-text.h"
#include "ns3/test.h"

#include <string>
#include <vector>

using namespace ns3;

namespace
{

/** Tests ns3::ParseRoutingTable() with texts as protocols of ns-3 3.44 print them, and other
 * formats. */
class ParseTestCase : public TestCase
{
  public:
    ParseTestCase() : TestCase("printed routing tables of ns-3's protocols")
    {
    }

  private:
    /** @return the text of a route: "destination gateway interface metric" */
    static std::string Text(const PrintedRoute& route)
    {
        return route.destination.ToString() + " " + route.gateway.ToString() + " " +
               route.interface + " " + std::to_string(route.metric);
    }

    void Expect(const std::string& text, const std::vector<std::string>& routes)
    {
        const PrintedTable table = ParseRoutingTable(text);
        NS_TEST_EXPECT_MSG_EQ(table.recognized, true, text);
        NS_TEST_EXPECT_MSG_EQ(table.misunderstood, "", text);
        NS_TEST_ASSERT_MSG_EQ(table.routes.size(), routes.size(), text);
        for (size_t i = 0; i < routes.size(); i++)
        {
            NS_TEST_EXPECT_MSG_EQ(Text(table.routes[i]), routes[i], text);
        }
    }

    void ExpectMisunderstood(const std::string& text, const std::string& row)
    {
        NS_TEST_EXPECT_MSG_EQ(ParseRoutingTable(text).misunderstood, row, text);
    }

    void DoRun() override
    {
        Expect("Node: 0, Time: +1s, Local time: +1s, Ipv4StaticRouting table\n"
               "Destination     Gateway         Genmask         Flags Metric Ref    Use Iface\n"
               "127.0.0.0       0.0.0.0         255.0.0.0       U     0      -      -   0\n"
               "10.0.0.0        0.0.0.0         255.255.255.0   U     0      -      -   1\n"
               "0.0.0.0         10.0.0.2        0.0.0.0         UGS   7      -      -   1\n"
               "224.0.0.0       0.0.0.0         240.0.0.0       U     0      -      -   1\n\n",
               {"10.0.0.0/24 0.0.0.0 1 0", "0.0.0.0/0 10.0.0.2 1 7"});
        Expect(
            "Node: 0, Time: +1s, Local time: +1s, Ipv4GlobalRouting table\n"
            "Destination     Gateway         Genmask         Flags Metric Ref    Use Iface\n"
            "10.0.1.2        10.0.0.2        255.255.255.255 UH    -      -      -   my link\n\n",
            {"10.0.1.2/32 10.0.0.2 my link 0"});
        Expect("Node: 2, Time: +5s, Local time: +5s, IPv6 RIPng table\n"
               "Destination                    Next Hop                   Flag Met Ref Use If\n"
               "2001:db8::/64                  fe80::200:ff:fe00:1        UG   2   -   -   1\n"
               "2001:1111:2222:3333:4444:5555:6666:0/112fe80::200:ff:fe00:1        UG   3   -   "
               "-   1\n"
               "fe80::/64                      ::                         U    0   -   -   1\n\n",
               {"2001:db8::/64 fe80::200:ff:fe00:1 1 2",
                "2001:1111:2222:3333:4444:5555:6666:0/112 fe80::200:ff:fe00:1 1 3",
                "fe80::/64 :: 1 0"});
        Expect("Node: 0, Time: +9s, Local time: +9s, OLSR Routing table\n"
               "Destination     NextHop         Interface       Distance\n"
               "10.0.0.2        10.0.0.2        1               1\n"
               "10.0.1.2        10.0.0.2        1               2\n\n"
               "HNA Routing Table:\n"
               "Node: 0, Time: +9s, Local time: +9s, Ipv4StaticRouting table\n"
               "Destination     Gateway         Genmask         Flags Metric Ref    Use Iface\n"
               "192.168.7.0     10.0.0.2        255.255.255.0   UGS   2      -      -   1\n\n",
               {"10.0.0.2/32 10.0.0.2 1 1",
                "10.0.1.2/32 10.0.0.2 1 2",
                "192.168.7.0/24 10.0.0.2 1 2"});
        Expect("Node: 0, Time: +9s, Local time: +9s, DSDV Routing table\n\nDSDV Routing table\n"
               "Destination     Gateway         Interface       HopCount        SeqNum          "
               "LifeTime        SettlingTime\n"
               "10.0.0.2        10.0.0.2        10.0.0.1        1               4               "
               "1.2s            +5s\n"
               "10.0.0.3        10.0.0.2        10.0.0.1        2               5               "
               "1.2s            +5s\n\n",
               {"10.0.0.2/32 10.0.0.2 10.0.0.1 1"});
        Expect(
            "Node: 0; Time: +9s, Local time: +9s, AODV Routing table\n\nAODV Routing table\n"
            "Destination     Gateway         Interface       Flag            Expire          "
            "Hops\n"
            "10.0.0.2        10.0.0.2        10.0.0.1        UP              2.5s            1\n"
            "10.0.0.3        10.0.0.2        10.0.0.1        DOWN            1s              2\n"
            "127.0.0.1       127.0.0.1       127.0.0.1       UP              9e9s            1\n\n",
            {"10.0.0.2/32 10.0.0.2 10.0.0.1 1"});
        // In tables of protocols that are not part of ns-3, columns are found by their names, in
        // any order.
        Expect("Destination\t\tNextHop\t\tInterface\tDistance\tEtxDistance\n"
               "10.0.0.2\t10.0.0.2\t1\t1\t1.25\n",
               {"10.0.0.2/32 10.0.0.2 1 1"});
        Expect("Destination Mask NextHop Interface Distance\n"
               "10.1.0.0 255.255.0.0 10.0.0.2 my link 3\n"
               "10.2.0.0 /24 * 2 1\n"
               "-----------------------------\n"
               "total: 2\n",
               {"10.1.0.0/16 10.0.0.2 my link 3", "10.2.0.0/24 0.0.0.0 2 1"});
        Expect("Hop Count | Out Interface | Dest. Address | Age | Next-Hop\n",
               {}); // a header without routes
        Expect("HOPS IFACE DEST AGE VIA STATUS\n"
               "2 eth0 2001:db8::7 3s fe80::1 valid\n"
               "2 eth0 2001:db8::8 3s fe80::1 expired\n",
               {"2001:db8::7/128 fe80::1 eth0 2"});
        Expect("Destination Gateway Metric Hops\n"
               "default 10.0.0.1 0.5 9\n"
               "10.3.0.0/16 direct inf 1\n",
               {"0.0.0.0/0 10.0.0.1  500"});
        ExpectMisunderstood("Destination NextHop Interface Distance\n10.0.0.2 10.0.0.2\n",
                            "10.0.0.2 10.0.0.2");
        ExpectMisunderstood("Destination NextHop Interface Distance\n10.0.0.2 2001::1 1 1\n",
                            "10.0.0.2 2001::1 1 1");
        ExpectMisunderstood("Destination Mask NextHop Interface\n10.0.0.0 255.0.255.0 - 1\n",
                            "10.0.0.0 255.0.255.0 - 1");
        ExpectMisunderstood("Destination NextHop Interface Flag\n10.0.0.2 10.0.0.2 1 SYM\n",
                            "10.0.0.2 10.0.0.2 1 SYM");
        ExpectMisunderstood("10.0.0.2 by 10.0.0.3 until +5s\n", "10.0.0.2 by 10.0.0.3 until +5s");
        NS_TEST_EXPECT_MSG_EQ(ParseRoutingTable("").recognized, false, "nothing");
        NS_TEST_EXPECT_MSG_EQ(ParseRoutingTable("my own words\n1 2 3\n").recognized,
                              false,
                              "an unknown format is not guessed at");
    }
};

/** The test suite of ns3::ParseRoutingTable(). */
class RouteTableTextTestSuite : public TestSuite
{
  public:
    RouteTableTextTestSuite() : TestSuite("viaduct-route-table-text", Type::UNIT)
    {
        AddTestCase(new ParseTestCase, TestCase::Duration::QUICK);
    }
};

RouteTableTextTestSuite g_routeTableTextTestSuite; //!< registers the suite

} // namespace
