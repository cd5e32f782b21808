/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/wmrp/test/wmrp-test-network.h"

#include "ns3/csma-helper.h"
#include "ns3/csma-net-device.h"
#include "ns3/test.h"

#include <functional>
#include <string>

/**
 * @file
 * @ingroup viaduct
 * Tests of ns3::RBridge.
 */

using namespace ns3;
using viaducttest::Terminal;
using viaducttest::WmrpNetwork;

namespace
{

/** A test case that runs the member function that is passed to the constructor. */
class WmrpTestCase : public TestCase
{
  public:
    /** @param name the property that is tested
     * @param test the member function that tests it */
    WmrpTestCase(const std::string& name, void (WmrpTestCase::*test)())
        : TestCase(name), m_test(test)
    {
    }

    void Lines();
    void Ring();
    void Unicast();
    void Tagged();
    void Moving();
    void SameNickname();
    void Restart();
    void Partition();
    void Loss();
    void SharedLink();
    void SeveralTrees();
    void ParallelLinks();
    void Csma();
    void SilentTerminal();
    void LongestFrame();
    void ToldByAPlane();

  private:
    void DoRun() override
    {
        (this->*m_test)();
    }

    /** Checks that a broadcast from a terminal arrives at `others` other terminals, exactly once at
     * each. */
    void ExpectBroadcast(WmrpNetwork& network,
                         const Terminal& from,
                         uint32_t others,
                         const std::string& when)
    {
        const auto [once, besides] = network.Broadcast(from);
        NS_TEST_EXPECT_MSG_EQ(once, others, when << ": reached");
        NS_TEST_EXPECT_MSG_EQ(besides, 0, when << ": superfluous frames");
    }

    void (WmrpTestCase::*m_test)(); //!< the function that DoRun() calls
};

void
WmrpTestCase::Lines()
{
    for (const uint32_t n : {1, 2, 5, 20})
    {
        WmrpNetwork network(n);
        network.Line();
        Terminal& first = network.AddTerminal({0});
        Terminal& last = network.AddTerminal({n - 1});
        network.Start();
        const std::string when = std::to_string(n) + " RBridges";
        NS_TEST_EXPECT_MSG_EQ(network.CountReachable(), n * (n - 1), when);
        ExpectBroadcast(network, first, 1, when);
        NS_TEST_EXPECT_MSG_EQ(last.arrivals.front().source, first.Address(), when);
        NS_TEST_EXPECT_MSG_EQ(last.arrivals.front().size, 100, when);
        ExpectBroadcast(network, last, 1, when + ", back");
    }
}

void
WmrpTestCase::Ring()
{
    WmrpNetwork network(6);
    const auto links = network.Line(true);
    std::vector<Terminal*> terminals;
    for (uint32_t i = 0; i < 6; i++)
    {
        terminals.push_back(&network.AddTerminal({i}));
    }
    network.Start();
    NS_TEST_EXPECT_MSG_EQ(network.CountReachable(), 30, "converged");
    for (const Terminal* terminal : terminals)
    {
        ExpectBroadcast(network, *terminal, 5, "ring");
    }
    for (const auto& link : links)
    {
        link->SetLinkUp(false);
        network.Run(1);
        NS_TEST_EXPECT_MSG_EQ(network.CountReachable(), 30, "cut: converged");
        for (const Terminal* terminal : terminals)
        {
            ExpectBroadcast(network, *terminal, 5, "cut ring");
        }
        link->SetLinkUp(true);
        network.Run(1);
    }
}

void
WmrpTestCase::Unicast()
{
    WmrpNetwork network(3);
    network.Line();
    Terminal& a = network.AddTerminal({0});
    Terminal& b = network.AddTerminal({1});
    Terminal& c = network.AddTerminal({2});
    network.Start();
    // A frame to an unknown terminal is flooded; a terminal is known after it has sent a frame.
    network.Send(a, c.Address(), 200);
    network.Run(0.1);
    NS_TEST_EXPECT_MSG_EQ(b.arrivals.size(), 1, "flooded while unknown");
    network.Send(c, a.Address(), 300);
    network.Run(0.1);
    network.Send(a, c.Address(), 400);
    network.Run(0.1);
    NS_TEST_EXPECT_MSG_EQ(b.arrivals.size(), 1, "not flooded any more");
    NS_TEST_EXPECT_MSG_EQ(c.arrivals.size(), 2, "both");
    NS_TEST_EXPECT_MSG_EQ(c.arrivals.back().size, 400, "unchanged");
    NS_TEST_EXPECT_MSG_EQ(a.arrivals.size(), 1, "the answer");
    NS_TEST_EXPECT_MSG_EQ(network.Get(1)->FindTerminal(a.Address()),
                          network.Get(0)->GetNickname(),
                          "announced to the RBridge between");
}

void
WmrpTestCase::Tagged()
{
    WmrpNetwork network(2);
    network.Line();
    Terminal& a = network.AddTerminal({0});
    Terminal& b = network.AddTerminal({1});
    network.Start();
    const uint8_t tag[] = {0x60, 0x07, 0x88, 0xb5, 1, 2, 3};
    a.devices[0]->Send(Create<Packet>(tag, sizeof tag), b.Address(), 0x8100);
    network.Run(0.1);
    NS_TEST_ASSERT_MSG_EQ(b.arrivals.size(), 1, "it arrives");
    NS_TEST_EXPECT_MSG_EQ(b.arrivals[0].protocol, 0x8100, "with its tag");
    NS_TEST_EXPECT_MSG_EQ(b.arrivals[0].size, sizeof tag, "and nothing more");
    NS_TEST_EXPECT_MSG_EQ(network.Get(1)->FindTerminal(a.Address()), 0, "of another VLAN");
}

void
WmrpTestCase::Moving()
{
    WmrpNetwork network(4);
    network.Line();
    Terminal& fixed = network.AddTerminal({0});
    Terminal& moving = network.AddTerminal({1, 2, 3});
    network.Start();
    for (size_t place = 0; place < 3; place++)
    {
        network.Send(moving, Mac48Address::GetBroadcast(), 60, place);
        network.Run(0.2);
        network.Clear();
        network.Send(fixed, moving.Address(), 500);
        network.Run(0.2);
        NS_TEST_EXPECT_MSG_EQ(moving.arrivals.size(), 1, "found, and in one place");
        for (uint32_t i = 0; i < 4; i++)
        {
            NS_TEST_EXPECT_MSG_EQ(network.Get(i)->FindTerminal(moving.Address()),
                                  network.Get(place + 1)->GetNickname(),
                                  "known to " << i);
        }
    }
}

void
WmrpTestCase::SilentTerminal()
{
    WmrpNetwork network(2);
    network.Line();
    network.Helper().SetAttribute("TerminalAge", TimeValue(Seconds(4)));
    Terminal& a = network.AddTerminal({0});
    network.Start();
    network.Send(a, Mac48Address::GetBroadcast(), 60);
    network.Run(1);
    NS_TEST_EXPECT_MSG_EQ(
        network.Get(1)->FindTerminal(a.Address()), network.Get(0)->GetNickname(), "known");
    for (int i = 0; i < 10; i++)
    {
        network.Send(a, Mac48Address::GetBroadcast(), 60);
        network.Run(1);
    }
    NS_TEST_EXPECT_MSG_EQ(
        network.Get(0)->FindTerminal(a.Address()), network.Get(0)->GetNickname(), "while it talks");
    network.Run(8);
    NS_TEST_EXPECT_MSG_EQ(network.Get(0)->FindTerminal(a.Address()), 0, "forgotten");
    NS_TEST_EXPECT_MSG_EQ(network.Get(1)->FindTerminal(a.Address()), 0, "and withdrawn");
}

void
WmrpTestCase::SameNickname()
{
    WmrpNetwork network(4);
    network.Line();
    Terminal& a = network.AddTerminal({0});
    network.AddTerminal({3});
    network.Install(0, {{"Nickname", 77}});
    network.Install(1, {{"Nickname", 77}, {"NicknamePriority", 10}});
    network.Install(3, {{"Nickname", 77}});
    network.Start();
    // RBridges 0 and 3 have equal priorities; RBridge 3, which has the higher identifier, keeps the
    // nickname.
    NS_TEST_EXPECT_MSG_EQ(network.Get(3)->GetNickname(), 77, "kept");
    NS_TEST_EXPECT_MSG_NE(network.Get(0)->GetNickname(), 77, "taken away");
    NS_TEST_EXPECT_MSG_NE(network.Get(1)->GetNickname(), 77, "taken away");
    NS_TEST_EXPECT_MSG_EQ(network.CountReachable(), 12, "all have one");
    ExpectBroadcast(network, a, 1, "new nicknames");
}

void
WmrpTestCase::Restart()
{
    WmrpNetwork network(3);
    network.Line();
    Terminal& a = network.AddTerminal({0});
    Terminal& c = network.AddTerminal({2});
    network.Start();
    ExpectBroadcast(network, a, 1, "before");
    ExpectBroadcast(network, c, 1, "before");
    const uint16_t nickname = network.Get(2)->GetNickname();
    network.Get(2)->Stop();
    network.Run(5);
    NS_TEST_EXPECT_MSG_EQ(network.Get(0)->GetReachable().size(), 1, "one is away");
    NS_TEST_EXPECT_MSG_EQ(network.Get(0)->FindTerminal(c.Address()), 0, "and its terminal");
    // RBridge 2's old LSPs are still known to the other RBridges; their sequence numbers are higher
    // than those of RBridge 2's first LSPs after the restart.
    network.Get(2)->Start();
    network.Run(5);
    NS_TEST_EXPECT_MSG_EQ(network.CountReachable(), 6, "back");
    NS_TEST_EXPECT_MSG_EQ(network.Get(2)->GetNickname(), nickname, "the same nickname");
    NS_TEST_EXPECT_MSG_EQ(network.Get(2)->FindTerminal(a.Address()),
                          network.Get(0)->GetNickname(),
                          "learnt from link states");
    ExpectBroadcast(network, c, 1, "after");
    // RBridge 1 restarts within the holding time, so no other RBridge notices that it was stopped.
    network.Get(1)->Stop();
    network.Run(0.1);
    network.Get(1)->Start();
    network.Run(6);
    NS_TEST_EXPECT_MSG_EQ(network.CountReachable(), 6, "back at once");
    ExpectBroadcast(network, a, 1, "after a short stop");
}

void
WmrpTestCase::Partition()
{
    WmrpNetwork network(6);
    const auto links = network.Line();
    std::vector<Terminal*> terminals;
    for (uint32_t i = 0; i < 6; i++)
    {
        terminals.push_back(&network.AddTerminal({i}));
    }
    network.Start();
    ExpectBroadcast(network, *terminals[0], 5, "whole");
    ExpectBroadcast(network, *terminals[5], 5, "whole");
    links[2]->SetLinkUp(false);
    network.Run(1);
    NS_TEST_EXPECT_MSG_EQ(network.CountReachable(), 12, "two halves");
    ExpectBroadcast(network, *terminals[0], 2, "the first half");
    ExpectBroadcast(network, *terminals[5], 2, "the second half");
    links[2]->SetLinkUp(true);
    network.Run(1);
    NS_TEST_EXPECT_MSG_EQ(network.CountReachable(), 30, "merged");
    ExpectBroadcast(network, *terminals[2], 5, "merged");
    network.Clear();
    network.Send(*terminals[0], terminals[5]->Address(), 100);
    network.Run(0.1);
    NS_TEST_EXPECT_MSG_EQ(terminals[5]->arrivals.size(), 1, "known again");
    NS_TEST_EXPECT_MSG_EQ(terminals[4]->arrivals.size(), 0, "without a flood");
}

void
WmrpTestCase::Loss()
{
    for (const uint32_t seed : {1, 2, 3})
    {
        RngSeedManager::SetRun(seed);
        WmrpNetwork network(8);
        network.Helper().SetAttribute("HoldMultiplier", UintegerValue(12));
        for (uint32_t i = 0; i < 8; i++)
        {
            network.Link({i, (i + 1) % 8}, "delay=1ms loss=25%");
        }
        network.Link({0, 2, 4, 6}, "delay=2ms loss=25%");
        network.Start();
        network.Run(30);
        NS_TEST_EXPECT_MSG_EQ(network.CountReachable(), 56, "seed " << seed);
        for (uint32_t i = 0; i < 8; i++)
        {
            NS_TEST_EXPECT_MSG_EQ(network.Get(i)->GetTables().trees[0].root,
                                  network.Get(0)->GetTables().trees[0].root,
                                  "one tree, seed " << seed);
        }
    }
    RngSeedManager::SetRun(1);
}

void
WmrpTestCase::SharedLink()
{
    WmrpNetwork network(4);
    // Three RBridges are on one Ethernet with two terminals, and on a second Ethernet without
    // terminals.
    const auto lan = network.AddLan({0, 1, 2}, 2);
    network.Link({0, 1, 2});
    network.Link({2, 3});
    Terminal& far = network.AddTerminal({3});
    network.Start();
    uint32_t serving = 0;
    for (uint32_t i = 0; i < 3; i++)
    {
        Ptr<Node> node = network.Get(i)->GetObject<Node>();
        serving += network.Get(i)->IsServing(node->GetDevice(0)) ? 1 : 0;
    }
    NS_TEST_EXPECT_MSG_EQ(serving, 1, "one of them is the appointed forwarder");
    ExpectBroadcast(network, far, 2, "to the Ethernet");
    // The first terminal on the Ethernet sends a broadcast; the second terminal receives the frame
    // directly from the first terminal.
    ExpectBroadcast(network, *lan[0], 2, "from the Ethernet");
    network.Clear();
    network.Send(*lan[1], lan[0]->Address(), 100);
    network.Run(0.1);
    NS_TEST_EXPECT_MSG_EQ(far.arrivals.size(), 0, "what stays on the Ethernet");
    // The RBridge that serves the Ethernet's terminals is stopped, so that another RBridge begins
    // to serve them.
    for (uint32_t i = 0; i < 3; i++)
    {
        Ptr<Node> node = network.Get(i)->GetObject<Node>();
        if (i != 2 && network.Get(i)->IsServing(node->GetDevice(0)))
        {
            network.Get(i)->Stop();
        }
    }
    network.Run(10);
    ExpectBroadcast(network, *lan[0], 2, "after its forwarder is gone");
}

void
WmrpTestCase::SeveralTrees()
{
    WmrpNetwork network(5);
    network.Line(true);
    network.Link({0, 2});
    network.Helper().SetAttribute("Trees", UintegerValue(3));
    std::vector<Terminal*> terminals;
    for (uint32_t i = 0; i < 5; i++)
    {
        terminals.push_back(&network.AddTerminal({i}));
    }
    network.Start();
    NS_TEST_EXPECT_MSG_NE(network.Get(0)->GetTables().trees[2].root, 0, "three trees");
    NS_TEST_EXPECT_MSG_EQ(network.Get(0)->GetTables().trees[3].root, 0, "not four");
    for (const Terminal* terminal : terminals)
    {
        ExpectBroadcast(network, *terminal, 4, "its nearest tree");
    }
}

void
WmrpTestCase::ParallelLinks()
{
    WmrpNetwork network(2);
    const auto first = network.Link({0, 1});
    const auto second = network.Link({1, 0});
    Terminal& a = network.AddTerminal({0});
    Terminal& b = network.AddTerminal({1});
    network.Start();
    ExpectBroadcast(network, a, 1, "both links");
    ExpectBroadcast(network, b, 1, "both links");
    first->SetLinkUp(false);
    network.Run(1);
    ExpectBroadcast(network, a, 1, "the second");
    first->SetLinkUp(true);
    second->SetLinkUp(false);
    network.Run(1);
    ExpectBroadcast(network, b, 1, "the first");
}

void
WmrpTestCase::LongestFrame()
{
    WmrpNetwork network(2);
    network.Line();
    Terminal& a = network.AddTerminal({0});
    Terminal& b = network.AddTerminal({1});
    network.Start();
    network.Send(a, b.Address(), 1500);
    network.Run(0.1);
    NS_TEST_ASSERT_MSG_EQ(b.arrivals.size(), 1, "as long as on an Ethernet");
    NS_TEST_EXPECT_MSG_EQ(b.arrivals[0].size, 1500, "unchanged");
}

/** A data plane that only copies the tables that are published to it. */
class RememberingPlane : public RBridgePlane
{
  public:
    /** @param tables the tables to which published tables are copied */
    explicit RememberingPlane(viaduct::rbridge::Tables& tables) : m_tables(tables)
    {
    }

    void Publish(const viaduct::rbridge::Tables& tables) override
    {
        m_tables = tables;
    }

  private:
    viaduct::rbridge::Tables& m_tables; //!< copy of the tables published last
};

void
WmrpTestCase::ToldByAPlane()
{
    using viaduct::rbridge::MakeKey;
    using viaduct::wire::MacAddress;
    constexpr uint16_t LINK = 0;
    constexpr uint16_t SERVING = 1; // index of the port on the terminal's link
    WmrpNetwork network(2);
    network.Line();
    network.AddTerminal({0});
    network.AddTerminal({1});
    network.Start();
    const auto tables = std::make_unique<viaduct::rbridge::Tables>();
    const Ptr<RBridge> first = network.Get(0);
    const uint16_t second = network.Get(1)->GetNickname();
    first->SetPlane(std::make_unique<RememberingPlane>(*tables));
    const MacAddress mac{{2, 0, 0, 0, 9, 1}};
    const Mac48Address address("02:00:00:00:09:01");
    const uint32_t known = tables->terminals.size();

    // Invalid reports, which must be ignored: another process may write anything into the ring.
    first->Learn(MakeKey(mac, 1), 0, LINK);
    first->Learn(MakeKey(mac, 1), 0, 2);
    first->Learn(MakeKey(mac, 1), 0, viaduct::rbridge::kNone);
    first->Learn(MakeKey(mac, 1), second + 1, 0);
    first->Learn(MakeKey(mac, 1), first->GetNickname(), SERVING);
    first->Learn(MakeKey(MacAddress{}, 1), 0, SERVING);
    first->Learn(MakeKey({{3, 0, 0, 0, 9, 1}}, 1), 0, SERVING);
    for (const uint16_t vlan : {0, 0xfff, 0x1001, 0xffff})
    {
        first->Learn(MakeKey(mac, vlan), 0, SERVING);
    }
    network.Run(0.1);
    NS_TEST_EXPECT_MSG_EQ(tables->terminals.size(), known, "none of it counts");
    NS_TEST_EXPECT_MSG_EQ(network.Get(1)->FindTerminal(address), 0, "nor is it announced");

    first->Learn(MakeKey(mac, 1), 0, SERVING);
    NS_TEST_EXPECT_MSG_EQ(tables->terminals.size(), known, "not at once");
    network.Run(0.002);
    const auto* entry = tables->terminals.Find(MakeKey(mac, 1));
    NS_TEST_ASSERT_MSG_NE(entry, nullptr, "the plane has it");
    NS_TEST_EXPECT_MSG_EQ(entry->location.port, SERVING, "where it is");
    network.Run(2);
    NS_TEST_EXPECT_MSG_EQ(network.Get(1)->FindTerminal(address),
                          first->GetNickname(),
                          "and so has the other RBridge");

    // The terminal has moved to the second RBridge: the data plane reports a frame that the
    // terminal sent at the second RBridge, before the second RBridge's link state arrives.
    first->Learn(MakeKey(mac, 1), second, viaduct::rbridge::kNone);
    network.Run(2);
    NS_TEST_EXPECT_MSG_EQ(first->FindTerminal(address), second, "moved");
    NS_TEST_EXPECT_MSG_EQ(
        tables->rbridges[tables->terminals.Find(MakeKey(mac, 1))->location.rbridge].nickname,
        second,
        "the plane knows");

    first->Stop();
    first->Learn(MakeKey(mac, 1), 0, SERVING);
    NS_TEST_EXPECT_MSG_EQ(tables->nickname, 0, "a stopped one forwards nothing");
    NS_TEST_EXPECT_MSG_EQ(first->FindTerminal(address), 0, "and learns nothing");
}

void
WmrpTestCase::Csma()
{
    NodeContainer nodes;
    nodes.Create(4);
    CsmaHelper csma;
    csma.SetDeviceAttribute("Mtu", UintegerValue(1500 + RBridge::GetOverhead()));
    Ptr<NetDevice> a = csma.Install(NodeContainer(nodes.Get(0), nodes.Get(1))).Get(0);
    csma.Install(NodeContainer(nodes.Get(1), nodes.Get(2)));
    Ptr<NetDevice> b = csma.Install(NodeContainer(nodes.Get(2), nodes.Get(3))).Get(1);
    RBridgeHelper helper;
    helper.Install(NodeContainer(nodes.Get(1), nodes.Get(2)));
    uint32_t received = 0;
    b->SetReceiveCallback(
        [&received](Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address&) {
            received += packet->GetSize() == 1500 ? 1 : 0;
            return true;
        });
    Simulator::Schedule(Seconds(6), [&] {
        a->Send(Create<Packet>(1500), b->GetAddress(), viaducttest::TERMINAL_PROTOCOL);
    });
    Simulator::Stop(Seconds(7));
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(received, 1, "across two RBridges");
    Simulator::Destroy();
}

/** The suite of the tests in this file. */
class WmrpTestSuite : public TestSuite
{
  public:
    WmrpTestSuite() : TestSuite("viaduct-wmrp", Type::UNIT)
    {
        Add("lines of 1, 2 and many RBridges", &WmrpTestCase::Lines);
        Add("a ring has no loops, and reconverges when it is cut", &WmrpTestCase::Ring);
        Add("unicast takes one path once the terminal is known", &WmrpTestCase::Unicast);
        Add("a terminal's VLAN tag stays", &WmrpTestCase::Tagged);
        Add("a moving terminal is found again", &WmrpTestCase::Moving);
        Add("a silent terminal is forgotten everywhere", &WmrpTestCase::SilentTerminal);
        Add("of RBridges with one nickname, one keeps it", &WmrpTestCase::SameNickname);
        Add("a restarted RBridge outdoes its old LSPs", &WmrpTestCase::Restart);
        Add("a partition heals", &WmrpTestCase::Partition);
        Add("lost control frames only delay", &WmrpTestCase::Loss);
        Add("one RBridge of a shared link serves its terminals", &WmrpTestCase::SharedLink);
        Add("several distribution trees", &WmrpTestCase::SeveralTrees);
        Add("two links between two RBridges", &WmrpTestCase::ParallelLinks);
        Add("what a data plane tells is checked, published and announced",
            &WmrpTestCase::ToldByAPlane);
        Add("the longest frames pass", &WmrpTestCase::LongestFrame);
        Add("CSMA devices", &WmrpTestCase::Csma);
    }

  private:
    void Add(const std::string& name, void (WmrpTestCase::*test)())
    {
        AddTestCase(new WmrpTestCase(name, test), TestCase::Duration::QUICK);
    }
};

WmrpTestSuite g_wmrpTestSuite; //!< registers the suite

} // namespace
