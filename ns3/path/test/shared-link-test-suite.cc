/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/path/test/path-test-link.h"

#include "ns3/double.h"
#include "ns3/random-variable-stream.h"
#include "ns3/simulator.h"
#include "ns3/test.h"

#include "base/error.h"
#include "path/spec/spec.h"

/**
 * @file
 * @ingroup viaduct
 * Tests of links that several PathChannels share (link=NAME).
 */

using namespace ns3;
using viaduct::path::ParseSpec;
using viaducttest::TestLink;

namespace
{

/** The payload, in bytes, of a frame of 1000 bytes, which takes 1 ms at 8 Mbit/s. */
constexpr uint32_t PAYLOAD = 986;

/** Frames of all directions wait in the one queue of a shared link, and arrive at the exact times
 * of the model. */
class SharedLinkTimeTestCase : public TestCase
{
  public:
    SharedLinkTimeTestCase() : TestCase("frames of all directions wait in one queue")
    {
    }

  private:
    void DoRun() override
    {
        TestLink one("rate=8Mbit link=air", "link=air delay=1ms");
        TestLink two("link=air", "");
        one.SendAt(0, MilliSeconds(1), Create<Packet>(PAYLOAD));
        two.SendAt(0, MicroSeconds(1100), Create<Packet>(PAYLOAD));
        one.SendAt(1, MicroSeconds(1200), Create<Packet>(PAYLOAD));
        two.SendAt(1, MicroSeconds(1300), Create<Packet>(PAYLOAD));
        // The next frame is sent when the link has become idle.
        two.SendAt(0, MilliSeconds(9), Create<Packet>(PAYLOAD));
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(one.arrivals[1].size(), 1, "the first's up");
        NS_TEST_EXPECT_MSG_EQ(one.arrivals[1][0].at, MilliSeconds(2), "at once");
        NS_TEST_ASSERT_MSG_EQ(two.arrivals[1].size(), 2, "the second's up");
        NS_TEST_EXPECT_MSG_EQ(two.arrivals[1][0].at, MilliSeconds(3), "behind it");
        NS_TEST_EXPECT_MSG_EQ(two.arrivals[1][1].at, MilliSeconds(10), "alone");
        NS_TEST_ASSERT_MSG_EQ(one.arrivals[0].size(), 1, "the first's down");
        NS_TEST_EXPECT_MSG_EQ(one.arrivals[0][0].at, MilliSeconds(5), "behind both, and delayed");
        NS_TEST_ASSERT_MSG_EQ(two.arrivals[0].size(), 1, "what does not share it");
        NS_TEST_EXPECT_MSG_EQ(two.arrivals[0][0].at, MicroSeconds(1300), "does not wait");
        Simulator::Destroy();
    }
};

/** Two channels get half of a shared link each; only the channel whose SPEC gives the link's rate
 * can change the rate. */
class SharedLinkContentionTestCase : public TestCase
{
  public:
    SharedLinkContentionTestCase() : TestCase("two that send the rate get half of it each")
    {
    }

  private:
    /** Sends frames at random times, at the link's rate on average, until @p end. */
    void SendMany(TestLink& link, Time end)
    {
        auto interval = CreateObject<ExponentialRandomVariable>();
        interval->SetAttribute("Mean", DoubleValue(0.8e-3));
        for (Time at = Seconds(interval->GetValue()); at < end; at += Seconds(interval->GetValue()))
        {
            link.SendAt(0, at, Create<Packet>(PAYLOAD));
        }
    }

    /** Checks that each of the two links has delivered half of @p frames since the previous call,
     * within 5%. */
    void ExpectHalves(TestLink& one, TestLink& two, double frames)
    {
        for (TestLink* link : {&one, &two})
        {
            const auto delivered = static_cast<double>(link->arrivals[1].size());
            NS_TEST_EXPECT_MSG_EQ_TOL(delivered, frames / 2, frames / 40, "half");
            link->arrivals[1].clear();
        }
    }

    void DoRun() override
    {
        TestLink one("rate=10Mbit queue=20p link=air", "");
        TestLink two("link=air", "");
        SendMany(one, Seconds(10));
        SendMany(two, Seconds(10));
        Simulator::Schedule(Seconds(5), [&]() {
            ExpectHalves(one, two, 5 * 1250);
            one.path->SetSpecs(ParseSpec("rate=5Mbit queue=20p link=air"), {});
            try
            {
                two.path->SetSpecs(ParseSpec("rate=1Mbit link=air"), {});
                NS_TEST_EXPECT_MSG_EQ(true, false, "its rate is given by the other channel");
            }
            catch (const viaduct::UsageError&)
            {
                NS_TEST_EXPECT_MSG_EQ(
                    (two.path->GetSpec(0) == ParseSpec("link=air")), true, "nothing has changed");
            }
        });
        Simulator::Stop(Seconds(10));
        Simulator::Run();
        ExpectHalves(one, two, 5 * 625);
        Simulator::Destroy();
    }
};

/** The tests of shared links. */
class SharedLinkTestSuite : public TestSuite
{
  public:
    SharedLinkTestSuite() : TestSuite("viaduct-shared-link", Type::UNIT)
    {
        AddTestCase(new SharedLinkTimeTestCase, TestCase::Duration::QUICK);
        // The second simulation has a separate shared link of the same name.
        AddTestCase(new SharedLinkTimeTestCase, TestCase::Duration::QUICK);
        AddTestCase(new SharedLinkContentionTestCase, TestCase::Duration::QUICK);
    }
};

SharedLinkTestSuite g_sharedLinkTestSuite; //!< registers the suite

} // namespace
