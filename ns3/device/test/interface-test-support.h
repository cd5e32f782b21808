/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_INTERFACE_TEST_SUPPORT_H
#define VIADUCT_INTERFACE_TEST_SUPPORT_H

#include "ns3/test/viaduct-test-support.h"

#include "ns3/test.h"
#include "ns3/uinteger.h"

#include "base/clock.h"
#include "base/error.h"
#include "port/dpdk/open.h"
#include "port/packet/ring_port.h"
#include "port/test/test_network.h"
#include "port/xdp/program.h"

#include <algorithm>
#include <iostream>
#include <list>
#include <string>
#include <unistd.h>

/**
 * @file
 * @ingroup viaduct
 * Support for tests of devices on real interfaces, with every kind of port that ns3::RingNetDevice
 * opens.
 */

namespace ns3::viaducttest
{

/// The kinds of port to test: values of the attribute Port, with a suffix if the attribute Queues
/// or RingBlocks is set too.
inline const char* const PORT_KINDS[] = {
    "AfPacket", "AfXdp", "Dpdk", "AfPacketQueues", "AfPacketBlocks"};

/** @return the reason why ports of this kind cannot be opened on this machine; empty if they can be
 * opened */
inline std::string
PortUnavailable(const std::string& kind)
{
    if (geteuid() != 0)
    {
        return "needs root: makes network namespaces";
    }
    if (kind == "Dpdk")
    {
        return viaduct::dpdk::Unavailable();
    }
    return kind.rfind("AfXdp", 0) == 0 ? viaduct::xdp::Unavailable() : "";
}

/** A test of a kind of port; skipped on a machine where ports of that kind cannot be opened. */
class PortTestCase : public TestCase
{
  public:
    /**
     * @param kind the kind of port: a value of the attribute Port, perhaps with the suffix Queues
     * or Blocks
     * @param name the behaviour that the test shows
     */
    PortTestCase(const std::string& kind, const std::string& name)
        : TestCase(kind + ": " + name), m_kind(kind)
    {
    }

  protected:
    const std::string m_kind; //!< kind of port under test

  private:
    /** Runs the test; called unless it is skipped. */
    virtual void RunOnInterfaces() = 0;

    void DoRun() override
    {
        const std::string reason = PortUnavailable(m_kind);
        if (reason.empty())
        {
            RunOnInterfaces();
        }
        else
        {
            std::cout << "SKIPPED " << GetName() << ": " << reason << std::endl;
        }
    }
};

/** A veth pair: b0 for a device, a0 for the test. */
struct TestInterface
{
    /** The veth pair; each end is in a separate network namespace. */
    viaduct::io::TestNetwork network{/*ipv6=*/false};

    /** @return a new device on b0, added to `node`, or to a new node if `node` is null */
    Ptr<RingNetDevice> MakeDevice(const std::string& kind, Ptr<Node> node = nullptr)
    {
        auto device = CreateObject<RingNetDevice>();
        Open(device, kind);
        (node ? node : CreateObject<Node>())->AddDevice(device);
        return device;
    }

    /** Sets the attributes with which a device opens b0. */
    void Open(Ptr<RingNetDevice> device, const std::string& kind)
    {
        device->SetAttribute("Namespace", StringValue(network.b.Path()));
        device->SetAttribute("Interface", StringValue("b0"));
        const auto end = std::min(kind.find("Queues"), kind.find("Blocks"));
        const std::string rest = end == std::string::npos ? "" : kind.substr(end);
        device->SetAttribute("Port", StringValue(kind.substr(0, end)));
        device->SetAttribute("Queues", UintegerValue(rest == "Queues" ? 3 : 1));
        device->SetAttribute("RingBlocks", BooleanValue(rest == "Blocks"));
    }

    /** @return a port on a0 */
    viaduct::io::RingPort Outside()
    {
        return {network.a.PacketSocket(), viaduct::io::RingOptions{.ifindex = network.a_index}};
    }
};

/** @return the message with which a device refuses to open its interface; empty if the device has
 * opened it */
inline std::string
Refusal(Ptr<RingNetDevice> device)
{
    try
    {
        device->GetNode()->Initialize();
    }
    catch (const viaduct::Error& error)
    {
        return error.what();
    }
    return "";
}

/** Checks a condition every millisecond of simulated time until it is true, for at most 20 s; then
 * stops the simulation. */
inline void
StopWhen(std::function<bool()> condition,
         viaduct::Instant until = viaduct::MonotonicClock::Now() + viaduct::Duration::Seconds(20))
{
    if (condition() || viaduct::MonotonicClock::Now() > until)
    {
        Simulator::Stop();
        return;
    }
    Simulator::Schedule(MilliSeconds(1), [=] { StopWhen(condition, until); });
}

/** @return the frames that a port has received */
inline std::vector<Frame>
TakeFrames(viaduct::io::AnyPort& port)
{
    std::vector<Frame> taken;
    std::array<viaduct::io::ReceivedFrame, 64> burst;
    while (const size_t count = port.Receive(burst))
    {
        for (const auto& frame : std::span(burst).first(count))
        {
            taken.emplace_back(frame.bytes.begin(), frame.bytes.end());
        }
    }
    return taken;
}

/** Connects TestDevices to interfaces during its lifetime; moves frames between the peer interfaces
 * and the devices' queues. */
class InterfaceWires : public TestWires
{
  public:
    /**
     * @param kind the kind of port: a value of the attribute Port, perhaps with the suffix Queues
     * or Blocks
     * @param expected the number of frames and datagrams after which the simulation stops
     */
    InterfaceWires(const std::string& kind, size_t expected) : m_kind(kind), m_expected(expected)
    {
    }

    void Connect(TestDevice& device) override
    {
        Link& link = m_links.emplace_back();
        link.interface.Open(device.device, m_kind);
        link.outside.emplace(link.interface.Outside());
        link.in = device.in;
        link.out = device.out;
        if (m_links.size() == 1)
        {
            Simulator::ScheduleNow([this] { Pump(); });
        }
    }

    void StopAfter(Time time, std::function<size_t()> count) override
    {
        Simulator::Schedule(
            time, [this, count] { StopWhen([this, count] { return count() >= m_expected; }); });
    }

  private:
    /** The link between a TestDevice and its interface. */
    struct Link
    {
        TestInterface interface;                      //!< veth pair of the device
        std::optional<viaduct::io::RingPort> outside; //!< the port at the peer interface
        std::shared_ptr<Wire> in;                     //!< frames for the device to receive
        std::shared_ptr<Wire> out;                    //!< frames that the device has sent
    };

    /** @return whether a frame is an IPv6 multicast; nodes send such frames without a request, so
     * the tests ignore them */
    static bool IsMulticast(const Frame& frame)
    {
        return frame[0] == std::byte{0x33} && frame[1] == std::byte{0x33};
    }

    /** Moves frames between the devices' queues and the peer interfaces, and schedules the next
     * call of Pump(). */
    void Pump()
    {
        for (Link& link : m_links)
        {
            for (; !link.in->empty(); link.in->pop_front())
            {
                viaduct::io::SendFrame(*link.outside, link.in->front());
            }
            for (Frame& frame : TakeFrames(*link.outside))
            {
                if (!IsMulticast(frame))
                {
                    link.out->push_back(std::move(frame));
                }
            }
        }
        Simulator::Schedule(MicroSeconds(200), [this] { Pump(); });
    }

    std::string m_kind;      //!< kind of port of the devices
    size_t m_expected;       //!< frames and datagrams after which the simulation stops
    std::list<Link> m_links; //!< links of all devices
};

} // namespace ns3::viaducttest

#endif /* VIADUCT_INTERFACE_TEST_SUPPORT_H */
