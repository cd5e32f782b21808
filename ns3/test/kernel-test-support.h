/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_TEST_SUPPORT_H
#define VIADUCT_KERNEL_TEST_SUPPORT_H

#include "ns3/ipv4-address-helper.h"
#include "ns3/kernel/kernel-stack-helper.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/packet.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"

#include "base/error.h"
#include "guest/image/image.h"
#include "sys/process/find_program.h"

#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup viaduct
 * Helpers for tests whose nodes have a real kernel. The tests need a kernel built by `viaduct
 * kernel build`, but no privilege.
 */

namespace viaducttest
{

using namespace ns3;

/** @return the reason why no kernel is available for tests; empty if a kernel is available */
inline std::string
KernelUnavailable()
{
    try
    {
        viaduct::guest::FindImage("");
        viaduct::sys::FindCompanion("viaduct-guest");
        return "";
    }
    catch (const viaduct::Error& error)
    {
        return error.what();
    }
}

/** @return whether the newest built kernel has a configuration option, for example
 * "CONFIG_IP_DCCP", which Linux removed in 6.16 */
inline bool
KernelHas(const std::string& option)
{
    const auto absent = viaduct::guest::FindImage("").absent;
    return std::find(absent.begin(), absent.end(), option) == absent.end();
}

/** A test that needs a built kernel; prints SKIPPED and succeeds without a kernel. */
class KernelTestCase : public TestCase
{
  public:
    using TestCase::TestCase;

  protected:
    virtual void RunWithKernel() = 0;

    /** Makes a line of nodes with links of 100 Mbit/s and 10 ms; the network of link I, from 0 on,
     * is 10.0.I.0/24. */
    void MakeLine(uint32_t count, KernelStackHelper& stack)
    {
        m_nodes.Create(count);
        stack.Install(m_nodes);
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
        link.SetChannelAttribute("Delay", StringValue("10ms"));
        Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
        for (uint32_t i = 0; i + 1 < count; ++i)
        {
            m_devices.Add(link.Install(m_nodes.Get(i), m_nodes.Get(i + 1)));
            m_interfaces.Add(addresses.Assign(
                NetDeviceContainer(m_devices.Get(2 * i), m_devices.Get(2 * i + 1))));
            addresses.NewNetwork();
        }
    }

    /** Records the times at which a device begins to send a frame and has received a frame. */
    void Record(Ptr<NetDevice> device)
    {
        const uint32_t id = device->GetNode()->GetId();
        device->TraceConnectWithoutContext(
            "PhyTxBegin", Callback<void, Ptr<const Packet>>([this, id](auto packet) {
                Note(id, "sends", packet);
            }));
        device->TraceConnectWithoutContext(
            "PhyRxEnd", Callback<void, Ptr<const Packet>>([this, id](auto packet) {
                Note(id, "gets", packet);
            }));
    }

    std::ostringstream m_trace;          //!< frames of Record() as text, with hashes of contents
    std::vector<Time> m_sends;           //!< times at which frames of Record() were sent
    std::vector<Time> m_gets;            //!< times at which frames of Record() were received
    NodeContainer m_nodes;               //!< the nodes of the test
    NetDeviceContainer m_devices;        //!< devices of MakeLine(), in the order of links
    Ipv4InterfaceContainer m_interfaces; //!< interfaces of MakeLine(), in the order of links

  private:
    void DoRun() override
    {
        if (const std::string reason = KernelUnavailable(); !reason.empty())
        {
            std::cout << "SKIPPED " << GetName() << ": " << reason << std::endl;
            return;
        }
        try
        {
            RunWithKernel();
        }
        catch (const viaduct::Error& error)
        {
            NS_TEST_EXPECT_MSG_EQ(true, false, error.what());
        }
        Clear();
    }

  protected:
    /** Destroys the simulation and clears the containers of nodes, devices and interfaces. */
    void Clear()
    {
        m_nodes = NodeContainer();
        m_devices = NetDeviceContainer();
        m_interfaces = Ipv4InterfaceContainer();
        Simulator::Destroy();
    }

  private:
    void Note(uint32_t node, const char* what, Ptr<const Packet> packet)
    {
        (std::string(what) == "sends" ? m_sends : m_gets).push_back(Simulator::Now());
        m_trace << Simulator::Now().GetNanoSeconds() << " " << node << " " << what << " "
                << packet->GetSize() << " ";
        std::vector<uint8_t> bytes(packet->GetSize());
        packet->CopyData(bytes.data(), packet->GetSize());
        uint64_t hash = 1469598103934665603U; // offset basis of the hash FNV-1a
        for (const uint8_t byte : bytes)
        {
            hash = (hash ^ byte) * 1099511628211U;
        }
        m_trace << hash << "\n";
    }
};

} // namespace viaducttest

#endif // VIADUCT_KERNEL_TEST_SUPPORT_H
