/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/ipv4-address-helper.h"
#include "ns3/kernel/kernel-application-helper.h"
#include "ns3/kernel/kernel-stack-helper.h"
#include "ns3/node-container.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"

#include "base/error.h"
#include "guest/image/image.h"
#include "sys/process/find_program.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

/**
 * @file
 * @ingroup viaduct
 * Tests of programs on nodes whose stack is a real kernel. The tests need a kernel built by
 * `viaduct kernel build`, but no privilege.
 */

using namespace ns3;

namespace
{

/** A test of programs on two kernel nodes that are connected by a link of 100 Mbit/s and 10 ms. */
class ProgramTestCase : public TestCase
{
  public:
    using TestCase::TestCase;

  protected:
    virtual void RunWithKernel() = 0;

    void MakeNetwork()
    {
        m_nodes = NodeContainer();
        m_nodes.Create(2);
        KernelStackHelper().Install(m_nodes);
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
        link.SetChannelAttribute("Delay", StringValue("10ms"));
        Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(link.Install(m_nodes));
    }

    /** Installs an application on a node. @return the application, which starts at the time
     * `start` */
    Ptr<KernelApplication> Start(KernelApplicationHelper helper, uint32_t node, Time start)
    {
        const auto applications = helper.Install(m_nodes.Get(node));
        applications.Start(start);
        return applications.Get(0)->GetObject<KernelApplication>();
    }

    /** Runs the simulation until `stop` and destroys it. */
    void Run(Time stop)
    {
        Simulator::Stop(stop);
        Simulator::Run();
        Simulator::Destroy();
    }

    NodeContainer m_nodes; //!< the two nodes

  private:
    void DoRun() override
    {
        try
        {
            viaduct::guest::FindImage("");
            viaduct::sys::FindCompanion("viaduct-guest");
        }
        catch (const viaduct::Error& error)
        {
            std::cout << "SKIPPED " << GetName() << ": " << error.what() << std::endl;
            return;
        }
        RunWithKernel();
    }
};

/** Tests that this machine's ping, run on a node, measures the delay of the link. */
class PingTestCase : public ProgramTestCase
{
  public:
    PingTestCase() : ProgramTestCase("ping takes the time of the link")
    {
    }

  private:
    void RunWithKernel() override
    {
        MakeNetwork();
        auto ping =
            Start(KernelApplicationHelper({"ping", "-n", "-c", "3", "10.0.0.2"}), 0, Seconds(1));
        Run(Seconds(10));
        NS_TEST_EXPECT_MSG_EQ(ping->HasExited(), true, "it ended");
        NS_TEST_EXPECT_MSG_EQ(ping->GetStatus(), 0, "and well");
        NS_TEST_EXPECT_MSG_NE(ping->GetOutput().find("3 received, 0% packet loss"),
                              std::string::npos,
                              ping->GetOutput());
        NS_TEST_EXPECT_MSG_NE(ping->GetOutput().find("icmp_seq=3 ttl=64 time=20.0"),
                              std::string::npos,
                              ping->GetOutput());
    }
};

/** Tests that this machine's iperf3 fills the link, and has the same output in a second run. */
class Iperf3TestCase : public ProgramTestCase
{
  public:
    Iperf3TestCase() : ProgramTestCase("iperf3 fills the link, the same way in each run")
    {
    }

  private:
    std::string RunOnce()
    {
        MakeNetwork();
        Start(KernelApplicationHelper({"iperf3", "-s", "-1"}), 1, Seconds(1));
        auto client = Start(
            KernelApplicationHelper({"iperf3", "-c", "10.0.0.2", "-t", "2", "-J"}), 0, Seconds(2));
        Run(Seconds(20));
        NS_TEST_EXPECT_MSG_EQ(client->GetStatus(), 0, client->GetOutput());
        return client->GetOutput();
    }

    void RunWithKernel() override
    {
        const std::string first = RunOnce();
        const auto sum = first.find("\"sum_received\"");
        NS_TEST_ASSERT_MSG_NE(sum, std::string::npos, first);
        const auto rate = first.find("\"bits_per_second\":", sum);
        const double value = std::strtod(first.c_str() + rate + 18, nullptr);
        NS_TEST_EXPECT_MSG_GT(value, 50e6, "it fills the link");
        NS_TEST_EXPECT_MSG_LT(value, 100e6, "and no more");
        NS_TEST_EXPECT_MSG_EQ((RunOnce() == first), true, "the same output again");
    }
};

/** Tests that the output and exit status of a program are written to files. */
class OutputTestCase : public ProgramTestCase
{
  public:
    OutputTestCase() : ProgramTestCase("output and status are kept, environment and folder arrive")
    {
    }

  private:
    void RunWithKernel() override
    {
        MakeNetwork();
        KernelApplicationHelper helper({"sh", "-c", "echo $X; pwd; echo oh >&2; exit 4"});
        helper.SetEnvironment("X", "a b");
        helper.SetAttribute("WorkingDirectory", StringValue("/usr"));
        const std::string prefix = CreateTempDirFilename("program");
        helper.SetOutputPrefix(prefix);
        Start(helper, 1, Seconds(1));
        const std::string base = prefix + "-" + std::to_string(m_nodes.Get(1)->GetId()) + "-0";
        Run(Seconds(2));
        NS_TEST_EXPECT_MSG_EQ(Read(base + ".out"), "a b\n/usr\n", "standard output");
        NS_TEST_EXPECT_MSG_EQ(Read(base + ".err"), "oh\n", "standard error");
        NS_TEST_EXPECT_MSG_EQ(Read(base + ".status"), "exit status 4\n", "how it ended");
    }

    static std::string Read(const std::string& name)
    {
        std::ifstream file(name);
        return {std::istreambuf_iterator<char>(file), {}};
    }
};

/** Tests that a missing program ends the run with an error that names the program. */
class MissingProgramTestCase : public ProgramTestCase
{
  public:
    MissingProgramTestCase() : ProgramTestCase("a missing program is named")
    {
    }

  private:
    void RunWithKernel() override
    {
        MakeNetwork();
        Start(KernelApplicationHelper({"no-such-program"}), 0, Seconds(1));
        std::string message;
        try
        {
            Simulator::Stop(Seconds(2));
            Simulator::Run();
        }
        catch (const viaduct::Error& error)
        {
            message = error.what();
        }
        Simulator::Destroy();
        NS_TEST_EXPECT_MSG_NE(
            message.find("start no-such-program: No such file"), std::string::npos, message);
    }
};

/** The test suite of ns3::KernelApplication. */
class KernelApplicationTestSuite : public TestSuite
{
  public:
    KernelApplicationTestSuite() : TestSuite("viaduct-kernel-application", Type::SYSTEM)
    {
        AddTestCase(new PingTestCase, Duration::QUICK);
        AddTestCase(new Iperf3TestCase, Duration::QUICK);
        AddTestCase(new OutputTestCase, Duration::QUICK);
        AddTestCase(new MissingProgramTestCase, Duration::QUICK);
    }
};

KernelApplicationTestSuite g_kernelApplicationTestSuite; //!< registers the suite

} // namespace
