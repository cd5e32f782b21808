/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/mac48-address.h"
#include "ns3/neighbour/neighbour-table.h"
#include "ns3/simulator.h"
#include "ns3/test.h"

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup viaduct
 * Tests of ns3::NeighbourTable, which must behave like Linux's net/core/neighbour.c.
 */

using namespace ns3;
using viaduct::wire::IpAddress;
using State = NeighbourTable::State;

namespace
{

const IpAddress PEER = IpAddress::FromIpv4(0x0a000002);
const Mac48Address FIRST("00:00:00:00:00:01");
const Mac48Address SECOND("00:00:00:00:00:02");

/** An interface that records the table's calls. */
class Paper : public NeighbourTable::Link
{
  public:
    void Ask(const IpAddress&,
             const std::optional<Address>& at,
             const NeighbourTable::Waiting* last) override
    {
        asked.push_back(Simulator::Now().GetMilliSeconds());
        toOne += at ? 1 : 0;
        hadPacket = last != nullptr;
    }

    void Send(const IpAddress&, const NeighbourTable::Waiting& waiting) override
    {
        sent.push_back(waiting.packet->GetSize());
    }

    void Drop(const NeighbourTable::Waiting&) override
    {
        dropped++;
    }

    void Show(const IpAddress&, State state, const Address&, bool isWatched) override
    {
        shown = state;
        watched = isWatched;
    }

    std::vector<int64_t> asked; //!< times of requests, ms
    int toOne{0};               //!< number of requests sent only to the neighbour
    bool hadPacket{false};      //!< whether a packet waited at the last request
    std::vector<uint32_t> sent; //!< sizes of the packets that were sent after they had waited
    uint32_t dropped{0};        //!< number of packets dropped
    State shown{State::FAILED}; //!< the state that the table has reported last
    bool watched{false};        //!< whether the table must be notified of the neighbour's next use
};

/** A test case of a neighbour table that executes a function with the test's steps. */
class TableTestCase : public TestCase
{
  public:
    using Body = std::function<void(TableTestCase& test)>;

    TableTestCase(const std::string& name, Body body) : TestCase(name), m_body(std::move(body))
    {
    }

    /** Reports a link-layer address of the neighbour to the table. */
    void Learn(const Mac48Address& address, bool isConfirmed, bool overrides, bool isNew)
    {
        NeighbourTable::News news;
        news.address = address;
        news.isConfirmed = isConfirmed;
        news.overrides = overrides;
        news.isNew = isNew;
        table->Learn(PEER, news);
    }

    /** Sends a packet to the neighbour as an IP layer does: calls Use(), and Wait() if the address
     * is unknown. */
    void SendPacket(uint32_t size = 100)
    {
        if (!table->Use(PEER))
        {
            table->Wait(PEER, {Create<Packet>(size), Ipv4Header()});
        }
    }

    /** Runs the simulation for a duration. */
    static void Pass(double seconds)
    {
        Simulator::Stop(Seconds(seconds));
        Simulator::Run();
    }

    /** Fails the test if two values differ. */
    template <class Value>
    void Expect(const Value& actual,
                const std::type_identity_t<Value>& expected,
                const std::string& what)
    {
        NS_TEST_EXPECT_MSG_EQ((actual == expected), true, what);
    }

    /** Fails the test if the neighbour is in a different state. */
    void ExpectState(State expected, const std::string& what)
    {
        Expect(table->Find(PEER), std::optional(expected), what);
    }

    Paper paper;                           //!< the interface
    std::unique_ptr<NeighbourTable> table; //!< the interface's neighbours

  private:
    void DoRun() override
    {
        Simulator::Destroy();
        table = std::make_unique<NeighbourTable>(paper, NeighbourLimits());
        m_body(*this);
        table.reset();
        Simulator::Destroy();
    }

    Body m_body; //!< the test's steps
};

void
AskThreeTimes(TableTestCase& test)
{
    test.SendPacket();
    TableTestCase::Pass(3);
    test.SendPacket();
    TableTestCase::Pass(0.05);
    test.Expect(test.paper.asked, {0, 1020, 2040}, "requests");
    test.Expect(test.paper.dropped, 0U, "packets wait until the third has not been answered");
    TableTestCase::Pass(0.05);
    test.Expect(test.paper.dropped, 2U, "then they are given up");
    test.ExpectState(State::FAILED, "nothing is known");
    test.SendPacket();
    test.Expect(test.paper.asked.size(), std::size_t{4}, "the next packet asks at once");
    test.Learn(FIRST, true, false, false);
    test.Expect(test.paper.sent, {100U}, "it is sent when the answer comes");
    test.ExpectState(State::REACHABLE, "the answer confirms the neighbour");
    test.Expect(test.paper.toOne, 0, "all have been asked");
}

void
LearnFromRequest(TableTestCase& test)
{
    test.Learn(FIRST, false, true, false);
    test.Expect(test.table->Find(PEER).has_value(), false, "requests for others tell nothing");
    test.Learn(FIRST, false, true, true);
    test.ExpectState(State::STALE, "one for us tells the sender's address");
    test.Expect(test.paper.watched, true, "whose first use must be told");
    TableTestCase::Pass(100);
    test.ExpectState(State::STALE, "unused, it stays");
    test.SendPacket();
    test.Expect(test.paper.asked.size(), std::size_t{0}, "the address is used without a request");
    test.ExpectState(State::DELAY, "its use begins the time until a probe");
    TableTestCase::Pass(5.2);
    test.Expect(test.paper.asked, {105130}, "then it is asked");
    test.Expect(test.paper.toOne, 1, "by itself");
    test.SendPacket();
    test.Expect(test.paper.sent.empty() && test.paper.dropped == 0, true, "and used meanwhile");
    test.Learn(FIRST, true, false, false);
    test.ExpectState(State::REACHABLE, "the answer confirms it");
}

void
ProbeInVain(TableTestCase& test)
{
    test.Learn(FIRST, false, true, true);
    test.SendPacket();
    TableTestCase::Pass(20);
    test.Expect(test.paper.asked, {5130, 6150, 7170}, "three probes");
    test.Expect(test.paper.toOne, 3, "all to the neighbour");
    test.ExpectState(State::FAILED, "nothing is known any more");
    test.Expect(test.paper.dropped, 0U, "no packet has waited");
}

void
ExpireUsed(TableTestCase& test)
{
    test.SendPacket();
    test.Learn(FIRST, true, false, false);
    test.Expect(test.paper.watched, false, "no use needs to be told");
    TableTestCase::Pass(29);
    test.Expect(test.paper.watched, true, "but those in the end");
    test.SendPacket();
    test.Expect(test.paper.watched, false, "once");
    TableTestCase::Pass(1.1);
    test.ExpectState(State::DELAY, "it is in use when its time is over");
    test.Learn(FIRST, true, false, false);
    test.ExpectState(State::REACHABLE, "an answer renews it");
    TableTestCase::Pass(31);
    test.ExpectState(State::STALE, "it was not in use");
}

void
RenewReachable(TableTestCase& test)
{
    test.SendPacket();
    test.Learn(FIRST, true, false, false);
    TableTestCase::Pass(20);
    test.Learn(FIRST, true, false, false);
    TableTestCase::Pass(29.9);
    test.ExpectState(State::REACHABLE, "30 s after the last answer");
    TableTestCase::Pass(0.2);
    test.ExpectState(State::STALE, "and not longer");
}

void
ReplaceAddress(TableTestCase& test)
{
    test.SendPacket();
    test.Learn(FIRST, true, false, false);
    test.Learn(SECOND, true, false, false);
    test.Expect(test.table->Use(PEER), std::optional<Address>(FIRST), "the first answer counts");
    test.Learn(SECOND, false, true, true);
    test.Expect(test.table->Use(PEER), std::optional<Address>(SECOND), "its own request overrides");
    test.ExpectState(State::DELAY, "and is no answer");
    NeighbourTable::News doubt;
    doubt.address = FIRST;
    doubt.isConfirmed = true;
    doubt.isWeak = true;
    test.table->Learn(PEER, doubt);
    test.ExpectState(State::DELAY, "weak news of another address change nothing");
    test.Learn(SECOND, true, false, false);
    test.table->Learn(PEER, doubt);
    test.ExpectState(State::STALE, "but cast doubt on a neighbour that is reachable");
    test.Expect(test.table->Use(PEER), std::optional<Address>(SECOND), "whose address stays");
}

void
ResolveByRequest(TableTestCase& test)
{
    test.SendPacket(1);
    test.SendPacket(2);
    test.Learn(FIRST, false, true, true);
    test.Expect(test.paper.sent, {1U, 2U}, "what waits is sent, in order");
    test.ExpectState(State::DELAY, "by an address that is not confirmed");
    TableTestCase::Pass(5);
    test.Expect(test.paper.asked, {0}, "and not asked for again");
}

/** Tests the maximum number of waiting datagrams, which in Linux 6.18 is 256 for payloads of 8 to
 * 128 bytes, 166 for 200 to 512 bytes, and 92 for 700 to 1472 bytes, and that the oldest datagram
 * is dropped first. */
void
KeepTheLast(TableTestCase& test)
{
    const auto kept = [&](uint32_t datagram) {
        constexpr uint32_t UDP = 8;
        constexpr uint32_t MANY = 600;
        const uint32_t before = test.paper.dropped;
        for (uint32_t i = 0; i < MANY; i++)
        {
            test.SendPacket(datagram + UDP);
        }
        const uint32_t dropped = test.paper.dropped - before;
        test.table->Forget(PEER);
        return MANY - dropped;
    };
    for (const auto& [datagram, expected] :
         {std::pair(8, 256U), {128, 256U}, {200, 166U}, {512, 166U}, {700, 92U}, {1472, 92U}})
    {
        test.Expect(kept(datagram), expected, std::to_string(datagram) + " bytes");
    }
    test.SendPacket(1000);
    for (uint32_t size = 1; size <= 255; size++)
    {
        test.SendPacket(size % 100);
    }
    test.Learn(FIRST, true, false, false);
    test.Expect(test.paper.sent.front(), 1U, "the oldest is dropped");
    test.Expect(test.paper.sent.size(), std::size_t{255}, "and it alone");
}

/** Tests a table whose timeouts are 0: because a timer takes at least 10 ms, as in Linux, simulated
 * time still advances. */
void
HaveNoTimeouts(TableTestCase& test)
{
    NeighbourLimits limits;
    limits.reachable = limits.delay = limits.interval = Time(0);
    test.table = std::make_unique<NeighbourTable>(test.paper, limits);
    test.SendPacket();
    test.Learn(FIRST, true, false, false);
    test.SendPacket();
    TableTestCase::Pass(1);
    test.Expect(test.paper.asked.size() < 10, true, "time passes");
}

void
ForgetAll(TableTestCase& test)
{
    test.SendPacket();
    test.table->Forget(PEER);
    test.Expect(test.paper.dropped, 1U, "what waits is dropped");
    TableTestCase::Pass(5);
    test.Expect(test.paper.asked, {0}, "and not asked for");
    test.Learn(FIRST, true, false, false);
    test.Expect(test.table->Find(PEER).has_value(), false, "answers to nobody tell nothing");
}

/** The tests of ns3::NeighbourTable. */
class NeighbourTableTestSuite : public TestSuite
{
  public:
    NeighbourTableTestSuite() : TestSuite("viaduct-neighbour-table", Type::UNIT)
    {
        const std::vector<std::pair<std::string, TableTestCase::Body>> cases = {
            {"three requests", AskThreeTimes},
            {"the sender of a request is learned", LearnFromRequest},
            {"a neighbour that is gone", ProbeInVain},
            {"a neighbour in use when its time is over", ExpireUsed},
            {"an answer renews a neighbour", RenewReachable},
            {"another address", ReplaceAddress},
            {"a request resolves", ResolveByRequest},
            {"the queue", KeepTheLast},
            {"timeouts of nothing", HaveNoTimeouts},
            {"a neighbour that is forgotten", ForgetAll},
        };
        for (const auto& [name, body] : cases)
        {
            AddTestCase(new TableTestCase(name, body), TestCase::Duration::QUICK);
        }
    }
};

NeighbourTableTestSuite g_neighbourTableTestSuite; //!< registers the suite

} // namespace
