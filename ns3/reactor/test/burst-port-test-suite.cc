/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test/viaduct-test-support.h"

#include "ns3/reactor/burst-port.h"
#include "ns3/test.h"

/**
 * @file
 * @ingroup viaduct
 * Tests of ns3::BurstPort in the reactor.
 */

using namespace ns3;
using namespace ns3::viaducttest;

namespace
{

/** A user that counts received frames, and makes ports between two wires. */
struct CountingUser : public BurstPortUser
{
    std::shared_ptr<Wire> in = std::make_shared<Wire>();  //!< frames for the port to receive
    std::shared_ptr<Wire> out = std::make_shared<Wire>(); //!< frames that the port has sent
    int frames = 0;                                       //!< number of received frames
    std::function<void()> onFrame = [] {};                //!< called for each received frame

    /** @return a new port between the two wires */
    std::unique_ptr<QueuePort> MakePort() const
    {
        return std::make_unique<QueuePort>(in, out);
    }

    void HandleFrame(const viaduct::io::ReceivedFrame&) override
    {
        frames++;
        onFrame();
    }

    void HandleRoom() override
    {
    }
};

/** Tests that the user of a port can replace the port while handling a burst. */
class StopWithinBurstTestCase : public TestCase
{
  public:
    StopWithinBurstTestCase() : TestCase("a port may be replaced by what a frame causes")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        CountingUser user;
        BurstPort burst(user);
        burst.SetSizes({});
        burst.SetPort(user.MakePort());
        user.in->resize(5, Frame(60));
        user.onFrame = [&] {
            if (user.frames == 2)
            {
                burst.SetPort(user.MakePort());
                user.in->push_back(Frame(60));
            }
        };
        burst.Start(0);
        Simulator::Stop(MilliSeconds(1));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(user.frames, 3, "the rest of the old port's burst is gone");
        burst.Stop();
    }
};

/** Frames that a replaced port did not accept are sent by the new port. */
class KeepTestCase : public TestCase
{
  public:
    KeepTestCase() : TestCase("frames that a port did not take are sent by the one after it")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        CountingUser user;
        BurstPort burst(user);
        burst.SetSizes({});
        auto full = user.MakePort();
        full->m_room = 0;
        burst.SetPort(std::move(full));
        burst.Start(0);
        NS_TEST_ASSERT_MSG_EQ(burst.Reserve().size(), burst.GetFrameSize(), "room");
        burst.Commit(60);
        Simulator::Schedule(MilliSeconds(1), [&] {
            NS_TEST_EXPECT_MSG_EQ(user.out->size(), 0, "it takes none");
            burst.SetPort(user.MakePort());
        });
        Simulator::Stop(MilliSeconds(2));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(user.out->size(), 1, "sent without another one after it");
        burst.Stop();
    }
};

/** A frame that waits at its port while an event takes long is counted as late. */
class WaitingFrameTestCase : public TestCase
{
  public:
    WaitingFrameTestCase() : TestCase("a frame that waited at its port is late, though no event is")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        CountingUser user;
        BurstPort burst(user);
        burst.SetSizes({});
        burst.SetPort(user.MakePort());
        burst.Start(0);
        Simulator::Schedule(MilliSeconds(1), [&] {
            user.in->emplace_back(60);
            reactor.Clock().Advance(viaduct::Duration::Milliseconds(29));
        });
        Simulator::Stop(MilliSeconds(40));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(user.frames, 1, "received");
        NS_TEST_EXPECT_MSG_EQ(reactor->GetPortLateness().Count(), 1, "frames measured");
        NS_TEST_EXPECT_MSG_GT(reactor->GetPortLateness().Max(), 28'999'999, "how long it waited");
        NS_TEST_EXPECT_MSG_LT(reactor->GetLateness().Max(), 1'000'000, "events are on time");
        burst.Stop();
    }
};

/** The tests of ns3::BurstPort. */
class BurstPortTestSuite : public TestSuite
{
  public:
    BurstPortTestSuite() : TestSuite("viaduct-burst-port", Type::UNIT)
    {
        AddTestCase(new StopWithinBurstTestCase, TestCase::Duration::QUICK);
        AddTestCase(new KeepTestCase, TestCase::Duration::QUICK);
        AddTestCase(new WaitingFrameTestCase, TestCase::Duration::QUICK);
    }
};

BurstPortTestSuite g_burstPortTestSuite; //!< registers the suite

} // namespace
