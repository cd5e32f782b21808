/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test/kernel-test-support.h"

#include "ns3/ipv4.h"
#include "ns3/udp-client-server-helper.h"
#include "ns3/udp-server.h"
#include "ns3/uinteger.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

/**
 * @file
 * @ingroup viaduct
 * Tests of the number of devices that a simulation of kernel nodes can have.
 */

using namespace ns3;

namespace
{

using viaducttest::KernelTestCase;

/** A test of simulations that are refused with an error at the start. */
class RefusalTestCase : public KernelTestCase
{
  public:
    using KernelTestCase::KernelTestCase;

  protected:
    /**
     * Runs the simulation and checks the error with which it is refused.
     * @param words part of the expected error message, which must be one line
     */
    void Expect(const std::string& words)
    {
        std::string what = "no error";
        try
        {
            Simulator::Stop(Seconds(1));
            Simulator::Run();
        }
        catch (const viaduct::Error& error)
        {
            what = error.what();
        }
        NS_TEST_EXPECT_MSG_NE(what.find(words), std::string::npos, what);
        NS_TEST_EXPECT_MSG_EQ(what.find('\n'), std::string::npos, "one line");
        Clear();
    }
};

/** Tests a kernel that supports few devices, like an unpatched kernel. */
class FewDevicesTest : public RefusalTestCase
{
  public:
    FewDevicesTest() : RefusalTestCase("Nodes are spread over guests by what their kernel takes")
    {
    }

  private:
    /** Creates a symbolic link to the newest kernel, and in the link's folder an image.json that
     * sets the maximum number of devices.
     * @return the path of the link */
    std::string KernelWith(uint32_t devices)
    {
        auto image = viaduct::guest::FindImage("");
        std::filesystem::create_symlink(image.file, m_folder + "/linux");
        image.devices = devices;
        std::ofstream(m_folder + "/image.json") << nlohmann::json(image);
        return m_folder + "/linux";
    }

    void RunWithKernel() override
    {
        // A guest with nine devices has capacity for two nodes with four devices each, and for the
        // control device.
        const std::string kernel = KernelWith(9);
        KernelStackHelper stack;
        stack.SetAttribute("Kernel", StringValue(kernel));
        MakeLine(6, stack);
        NS_TEST_EXPECT_MSG_EQ(stack.GetGuests().size(), 3, "as few as take them");
        UdpServerHelper server(7);
        auto received = server.Install(m_nodes.Get(3)).Get(0)->GetObject<UdpServer>();
        UdpClientHelper client(m_interfaces.GetAddress(5), 7);
        client.SetAttribute("MaxPackets", UintegerValue(3));
        client.Install(m_nodes.Get(2)).Start(Seconds(1));
        Simulator::Stop(Seconds(5));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(received->GetReceived(), 3, "and all of them are there");
        Clear();

        KernelStackHelper one;
        one.SetAttribute("Kernel", StringValue(kernel));
        one.SetGuests(1);
        MakeLine(6, one);
        Expect("can have 9 network devices, including its control device, not 11");
    }

    void DoSetup() override
    {
        std::string name = std::filesystem::temp_directory_path() / "viaduct-limits-XXXXXX";
        m_folder = mkdtemp(name.data());
    }

    void DoTeardown() override
    {
        std::filesystem::remove_all(m_folder);
    }

    std::string m_folder; //!< folder of the symbolic link to the kernel
};

/** Tests that addresses given twice are refused, as neither kernels nor ns-3 detect them. */
class AddressClashTest : public RefusalTestCase
{
  public:
    AddressClashTest() : RefusalTestCase("Addresses given twice are refused")
    {
    }

  private:
    void RunWithKernel() override
    {
        KernelStackHelper stack;
        MakeLine(2, stack);
        m_nodes.Get(1)->GetObject<Ipv4>()->AddAddress(
            1, Ipv4InterfaceAddress("10.0.0.1", "255.255.255.0"));
        Expect("nodes n0 and n1 have the same address 10.0.0.1 on one channel: assign");

        MakeLine(2, stack);
        m_nodes.Get(1)->GetObject<Ipv4>()->AddAddress(
            1, Ipv4InterfaceAddress("10.0.0.2", "255.255.255.0"));
        Expect("node n1 has the address 10.0.0.2 twice on one device: remove one");

        MakeLine(2, stack);
        m_devices.Get(1)->SetAddress(m_devices.Get(0)->GetAddress());
        Expect("two devices of guest 0 (n0, n1) have the MAC address 00:00:00:00:00:");
    }
};

/** Tests that the limit of open files is raised for the connections of the devices. */
class OpenFilesTest : public KernelTestCase
{
  public:
    OpenFilesTest()
        : KernelTestCase(
              "318 devices: all are up at the start, with as many open files as they need")
    {
    }

  private:
    void RunWithKernel() override
    {
        rlimit before{};
        getrlimit(RLIMIT_NOFILE, &before);
        const rlimit few{256, before.rlim_max};
        setrlimit(RLIMIT_NOFILE, &few);
        KernelStackHelper stack;
        MakeLine(160, stack);
        UdpServerHelper server(7);
        auto received = server.Install(m_nodes.Get(159)).Get(0)->GetObject<UdpServer>();
        UdpClientHelper client(m_interfaces.GetAddress(317), 7);
        client.SetAttribute("MaxPackets", UintegerValue(1));
        client.Install(m_nodes.Get(158)).Start(MilliSeconds(10));
        Simulator::Stop(MilliSeconds(100));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(received->GetReceived(), 1, "the last device is up as the first");
        rlimit after{};
        getrlimit(RLIMIT_NOFILE, &after);
        setrlimit(RLIMIT_NOFILE, &before);
        NS_TEST_EXPECT_MSG_GT(after.rlim_cur, 3 * 318, "three a device");
    }
};

class KernelLimitsTestSuite : public TestSuite
{
  public:
    KernelLimitsTestSuite() : TestSuite("viaduct-kernel-limits", Type::SYSTEM)
    {
        AddTestCase(new FewDevicesTest, Duration::QUICK);
        AddTestCase(new AddressClashTest, Duration::QUICK);
        AddTestCase(new OpenFilesTest, Duration::QUICK);
    }
};

KernelLimitsTestSuite g_kernelLimitsTestSuite; //!< registers the suite

} // namespace
