/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv6-address-helper.h"
#include "ns3/node-container.h"
#include "ns3/offload/interface-mirror.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/simulator.h"
#include "ns3/test.h"

#include "base/error.h"

#include <functional>
#include <memory>

/**
 * @file
 * @ingroup viaduct
 * Tests of ns3::InterfaceMirror.
 */

using namespace ns3;

namespace
{

/** Records the changes that would reach the kernel, one line each. */
class NotingSink : public InterfaceMirror::Sink
{
  public:
    /** @param notes receives the recorded changes */
    explicit NotingSink(std::string& notes) : m_notes(notes)
    {
    }

    void SetUp(const std::string& interface, bool up) override
    {
        m_notes += interface + (up ? " up;" : " down;");
    }

    void SetAddresses(const std::string& interface,
                      const std::vector<viaduct::wire::IpPrefix>& addresses) override
    {
        m_notes += interface + ":";
        for (const auto& address : addresses)
        {
            m_notes += " " + address.ToString();
            if (address.ToString() == "10.9.9.9/24")
            {
                throw viaduct::Error("no");
            }
        }
        m_notes += ";";
    }

  private:
    std::string& m_notes; //!< the recorded changes
};

/** Two nodes with IPv4 and IPv6; the first node's interface is mirrored. */
class InterfaceMirrorTestCase : public TestCase
{
  public:
    InterfaceMirrorTestCase() : TestCase("states and addresses of IPv4 and IPv6, and nothing else")
    {
    }

  private:
    /** @param change makes a change at once. @return the changes that reach the kernel within a
     * second */
    std::string After(const std::function<void()>& change)
    {
        m_notes.clear();
        change();
        Simulator::Stop(Seconds(1));
        Simulator::Run();
        return m_notes;
    }

    void DoRun() override
    {
        NodeContainer nodes(2);
        InternetStackHelper().Install(nodes);
        auto devices = SimpleNetDeviceHelper().Install(nodes);
        Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(devices);
        Ipv6AddressHelper("2001:1::", Ipv6Prefix(64)).Assign(devices);
        auto mirror = CreateObject<InterfaceMirror>();
        mirror->SetNode(nodes.Get(0), std::make_unique<NotingSink>(m_notes));
        mirror->AddInterface(devices.Get(0), "eth0");
        Simulator::ScheduleNow(&InterfaceMirror::Start, mirror);
        Ptr<Ipv4> ipv4 = nodes.Get(0)->GetObject<Ipv4>();
        Ptr<Ipv6> ipv6 = nodes.Get(0)->GetObject<Ipv6>();
        const Ipv4InterfaceAddress second("10.9.0.1", "255.255.255.0");

        NS_TEST_EXPECT_MSG_EQ(After([] {}), "", "nothing changes");
        NS_TEST_EXPECT_MSG_EQ(
            After([&] { ipv4->SetDown(1); }), "eth0: 2001:1::200:ff:fe00:1/64;", "IPv4 is down");
        NS_TEST_EXPECT_MSG_EQ(After([&] { ipv4->SetUp(1); }),
                              "eth0: 10.0.0.1/24 2001:1::200:ff:fe00:1/64;",
                              "and up again");
        NS_TEST_EXPECT_MSG_EQ(After([&] { ipv4->AddAddress(1, second); }),
                              "eth0: 10.0.0.1/24 10.9.0.1/24 2001:1::200:ff:fe00:1/64;",
                              "one more address");
        NS_TEST_EXPECT_MSG_EQ(After([&] { ipv4->RemoveAddress(1, 0); }),
                              "eth0: 10.9.0.1/24 2001:1::200:ff:fe00:1/64;",
                              "one less");
        NS_TEST_EXPECT_MSG_EQ(After([&] {
                                  ipv4->SetDown(1);
                                  ipv6->SetDown(1);
                              }).substr(0, 10),
                              "eth0 down;",
                              "both are down");
        NS_TEST_EXPECT_MSG_EQ(
            After([&] { ipv6->SetUp(1); }).substr(0, 8), "eth0 up;", "IPv6 is up");
        After([&] {
            ipv4->SetUp(1);
            ipv4->AddAddress(1, {"10.9.9.9", "255.255.255.0"});
        });
        NS_TEST_EXPECT_MSG_EQ((mirror->GetRefused() == std::vector<std::string>{"eth0: no"}),
                              true,
                              "a refusal is told once");
        mirror->Dispose();
        Simulator::Destroy();
    }

    std::string m_notes; //!< the recorded changes
};

/** The test suite of ns3::InterfaceMirror. */
class InterfaceMirrorTestSuite : public TestSuite
{
  public:
    InterfaceMirrorTestSuite() : TestSuite("viaduct-interface-mirror", Type::UNIT)
    {
        AddTestCase(new InterfaceMirrorTestCase, TestCase::Duration::QUICK);
    }
};

InterfaceMirrorTestSuite g_interfaceMirrorTestSuite; //!< registers the suite

} // namespace
