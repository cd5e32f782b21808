/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/base/path-seed.h"
#include "ns3/offload/lab-helper.h"
#include "ns3/path/path-channel.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"

#include "ns3/path/test/path-test-link.h"

#include "base/error.h"
#include "path/model/loss.h"
#include "path/packet/pipeline_name.h"
#include "path/packet/pipeline_options.h"

#include <map>
#include <set>
#include <vector>

/**
 * @file
 * @ingroup viaduct
 * Tests of classes of frames on a ns3::PathChannel.
 */

using namespace ns3;
using viaduct::path::Fate;
using viaduct::path::ParseSpec;
using viaduct::path::TrafficClass;
using viaducttest::TestLink;

namespace
{

constexpr uint32_t SHORT = 40; //!< payload of each frame of the class, bytes
constexpr uint32_t LONG = 400; //!< payload of each other frame, bytes

/** @return a class of the short frames, with the SPECs @p up and @p down */
TrafficClass
ShortOnes(const std::string& up, const std::string& down)
{
    return {"short", "less 100", ParseSpec(up), ParseSpec(down)};
}

/** A class has separate SPECs, counters and frame numbers. */
class OwnSpecTestCase : public TestCase
{
  public:
    OwnSpecTestCase() : TestCase("a class's frames meet its SPEC, and are counted by themselves")
    {
    }

  private:
    void DoRun() override
    {
        TestLink link("delay=1ms", "delay=1ms");
        link.path->SetClasses({ShortOnes("loss=list:2,4 delay=5ms", "delay=9ms")});
        for (int i = 0; i < 10; i++)
        {
            link.SendAt(0, MilliSeconds(100 * i), Create<Packet>(LONG));
            link.SendAt(0, MilliSeconds(100 * i + 10), Create<Packet>(SHORT));
        }
        link.SendAt(1, Seconds(5), Create<Packet>(SHORT));
        Simulator::Run();
        std::vector<Time> shorts;
        size_t longs = 0;
        for (const TestLink::Arrival& arrival : link.arrivals[1])
        {
            if (arrival.packet->GetSize() == SHORT)
            {
                shorts.push_back(arrival.at);
            }
            else
            {
                longs++;
            }
        }
        NS_TEST_EXPECT_MSG_EQ(longs, 10, "no other frame is lost");
        NS_TEST_ASSERT_MSG_EQ(shorts.size(), 8, "two of the class are");
        NS_TEST_EXPECT_MSG_EQ(shorts[0], MilliSeconds(15), "the first, with the class's delay");
        NS_TEST_EXPECT_MSG_EQ(shorts[1], MilliSeconds(215), "the third");
        NS_TEST_EXPECT_MSG_EQ(shorts[2], MilliSeconds(415), "the fifth");
        NS_TEST_ASSERT_MSG_EQ(link.arrivals[0].size(), 1, "the other direction");
        NS_TEST_EXPECT_MSG_EQ(link.arrivals[0][0].at, MilliSeconds(5009), "with its own SPEC");
        NS_TEST_EXPECT_MSG_EQ(link.path->GetCounters(0).arrived, 10, "of no class");
        NS_TEST_EXPECT_MSG_EQ(link.path->GetCounters(0, 1).arrived, 10, "of the class");
        NS_TEST_EXPECT_MSG_EQ(link.path->GetCounters(0, 1).of(Fate::kLost), 2, "lost of it");
        NS_TEST_EXPECT_MSG_EQ(link.path->GetCounters(1, 1).arrived, 1, "down");
        Simulator::Destroy();
    }
};

/** Tests that a class loses the same frames as a loss model that has the same seed and name. */
class SeedTestCase : public TestCase
{
  public:
    SeedTestCase() : TestCase("a class's losses are those of the stream that bears its name")
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint64_t COUNT = 200;
        TestLink link("loss=20%", "");
        link.path->SetClasses({ShortOnes("loss=50%", "")});
        std::set<uint64_t> lost;
        auto see = [&lost](Ptr<const Packet>, const PathFate& fate) {
            if (fate.group == 1 && fate.fate == Fate::kLost)
            {
                lost.insert(fate.number);
            }
        };
        link.path->TraceConnectWithoutContext(
            "Fate", Callback<void, Ptr<const Packet>, const PathFate&>(see));
        for (uint64_t i = 0; i < COUNT; i++)
        {
            link.SendAt(0, MilliSeconds(i), Create<Packet>(i % 3 == 0 ? LONG : SHORT));
            link.SendAt(0, MilliSeconds(i), Create<Packet>(SHORT));
        }
        Simulator::Run();
        viaduct::path::PipelineOptions options;
        options.seed = PathSeed();
        options.name = viaduct::path::PipelineName("wire", "short", viaduct::path::Direction::kUp);
        viaduct::path::LossModel model(viaduct::path::ParseLoss("50%"), options);
        viaduct::RandomStream random = options.Stream("loss");
        std::set<uint64_t> expected;
        for (uint64_t number = 1; number <= link.path->GetCounters(0, 1).arrived; number++)
        {
            viaduct::path::Packet packet;
            packet.number = number;
            if (model.Lose(packet, random))
            {
                expected.insert(number);
            }
        }
        NS_TEST_EXPECT_MSG_GT(expected.size(), 100, "about half of 333");
        NS_TEST_EXPECT_MSG_EQ((lost == expected), true, "the same ones");
        Simulator::Destroy();
    }
};

/** The description of a lab contains the channel's classes, and a wrong filter is refused. */
class LabTestCase : public TestCase
{
  public:
    LabTestCase() : TestCase("a lab has the channel's classes; a wrong filter changes nothing")
    {
    }

  private:
    void DoRun() override
    {
        TestLink link("", "");
        const TrafficClass own = ShortOnes("loss=1%", "dup=1%");
        link.path->SetClasses({own});
        const auto plan = LabHelper(LabHelper::OFFLOAD).Describe(link.nodes);
        NS_TEST_ASSERT_MSG_EQ(plan.links.size(), 1, "a link");
        NS_TEST_ASSERT_MSG_EQ(plan.links[0].classes.size(), 1, "a class");
        NS_TEST_EXPECT_MSG_EQ((plan.links[0].classes[0] == own), true, "as it was given");
        NS_TEST_EXPECT_MSG_EQ(plan.links[0].specs.size(), 2, "with the link's own SPECs");
        std::string refusal;
        try
        {
            link.path->SetClasses({{"x", "upd port 53", {}, {}}});
        }
        catch (const viaduct::UsageError& error)
        {
            refusal = error.what();
        }
        NS_TEST_EXPECT_MSG_NE(refusal.find("upd port 53"), std::string::npos, refusal);
        NS_TEST_EXPECT_MSG_EQ((link.path->GetClasses()[0] == own), true, "as before");
        Simulator::Destroy();
    }
};

/** The tests of classes of frames. */
class PathClassesTestSuite : public TestSuite
{
  public:
    PathClassesTestSuite() : TestSuite("viaduct-path-classes", Type::UNIT)
    {
        AddTestCase(new OwnSpecTestCase, TestCase::Duration::QUICK);
        AddTestCase(new SeedTestCase, TestCase::Duration::QUICK);
        AddTestCase(new LabTestCase, TestCase::Duration::QUICK);
    }
};

PathClassesTestSuite g_pathClassesTestSuite; //!< registers the suite

} // namespace
