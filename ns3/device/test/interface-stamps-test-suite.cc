/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/device/test/interface-test-support.h"

#include "base/realtime.h"

/**
 * @file
 * @ingroup viaduct
 * Tests of the attribute Timestamps of ns3::RingNetDevice: the instant from which the lateness of
 * received frames is measured.
 */

using namespace ns3;
using namespace ns3::viaducttest;

namespace
{

const char* const STAMPED_FRAME = "020000000001 020000000002 88b5 00";

/** Tests that the lateness of a frame is measured from the frame's time stamp
 * (Timestamps=Software), or from the latest instant at which the port was found empty
 * (Timestamps=User). */
class UserTestCase : public TestCase
{
  public:
    UserTestCase() : TestCase("by User, frames count from when the port was last seen empty")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string whose : {"Software", "User"})
        {
            ReactorScope reactor;
            TestDevice d(CreateObject<Node>(), "02:00:00:00:00:01");
            d.device->SetAttribute("Timestamps", StringValue(whose));
            d.port->m_describe = [](viaduct::io::ReceivedFrame& frame) {
                frame.received = viaduct::RealtimeNow() - viaduct::Duration::Seconds(3);
            };
            Simulator::Schedule(MilliSeconds(1), [&] { d.in->push_back(FromHex(STAMPED_FRAME)); });
            Simulator::Stop(MilliSeconds(40));
            Simulator::Run();
            const auto& received = d.device->GetTiming().received;
            NS_TEST_EXPECT_MSG_EQ(received.Count(), 1, whose);
            NS_TEST_EXPECT_MSG_EQ((received.Max() > 2'900'000'000), (whose == "Software"), whose);
        }
    }
};

/** The tests of the attribute Timestamps. */
class InterfaceStampsTestSuite : public TestSuite
{
  public:
    InterfaceStampsTestSuite() : TestSuite("viaduct-interface-stamps", Type::UNIT)
    {
        AddTestCase(new UserTestCase, TestCase::Duration::QUICK);
    }
};

InterfaceStampsTestSuite g_interfaceStampsTestSuite; //!< registers the suite

} // namespace
