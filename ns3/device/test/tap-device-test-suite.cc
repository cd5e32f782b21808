/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/device/test/interface-test-support.h"

#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-interface-address.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/uinteger.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sstream>
#include <sys/socket.h>
#include <thread>

/**
 * @file
 * @ingroup viaduct
 * Tests of nodes at the user-space end of a TAP device: attributes Port=Tap and Queues.
 */

using namespace ns3;
using namespace ns3::viaducttest;

namespace
{

constexpr uint16_t PORT = 4000;
constexpr size_t BYTES = 1 << 20; //!< bytes sent per connection

/** A network namespace for the TAP device tap0. */
struct TapHost
{
    viaduct::io::TestNamespace host; //!< the network namespace

    /** @return a device of a new node at the user-space end of tap0 */
    Ptr<RingNetDevice> MakeDevice(uint32_t queues)
    {
        auto device = CreateObject<RingNetDevice>();
        device->SetAttribute("Namespace", StringValue(host.Path()));
        device->SetAttribute("Interface", StringValue("tap0"));
        device->SetAttribute("Port", StringValue("Tap"));
        device->SetAttribute("Queues", UintegerValue(queues));
        CreateObject<Node>()->AddDevice(device);
        return device;
    }

    /** Assigns addresses to tap0, the kernel's end of the TAP device. */
    void Configure() const
    {
        host.Run("ip addr add 10.79.0.1/24 dev tap0; ip addr add fd00:79::1/64 dev tap0 nodad");
    }

    /** @return a TCP socket of the namespace that is connected to an address of the node */
    viaduct::UniqueFd Connect(int family) const
    {
        viaduct::UniqueFd socket = host.Socket(family, SOCK_STREAM, 0);
        sockaddr_in to{};
        sockaddr_in6 to6{};
        to.sin_family = AF_INET;
        to6.sin6_family = AF_INET6;
        to.sin_port = to6.sin6_port = htons(PORT);
        inet_pton(AF_INET, "10.79.0.2", &to.sin_addr);
        inet_pton(AF_INET6, "fd00:79::2", &to6.sin6_addr);
        const auto* address = family == AF_INET ? reinterpret_cast<const sockaddr*>(&to)
                                                : reinterpret_cast<const sockaddr*>(&to6);
        viaduct::SystemCall(
            "connect", connect(socket.get(), address, family == AF_INET ? sizeof to : sizeof to6));
        return socket;
    }
};

/** @return the message with which a device refuses to open tap0; empty if the device does not
 * refuse */
std::string
RefusalOf(Ptr<RingNetDevice> device)
{
    std::string refusal = Refusal(device);
    device->Dispose();
    return refusal;
}

/** The namespace's kernel sends data to a node over TCP. */
class TapTransferTestCase : public TestCase
{
  public:
    TapTransferTestCase(uint32_t queues, int family)
        : TestCase("TCP from the host's kernel, queues: " + std::to_string(queues) +
                   (family == AF_INET6 ? ", IPv6" : "")),
          m_queues(queues),
          m_family(family)
    {
    }

  private:
    void DoRun() override
    {
        if (geteuid() != 0)
        {
            std::cout << "SKIPPED " << GetName() << ": needs root" << std::endl;
            return;
        }
        ReactorScope reactor(TestTime::REAL);
        TapHost tap;
        Ptr<RingNetDevice> device = tap.MakeDevice(m_queues);
        Ptr<Node> node = device->GetNode();
        InternetStackHelper().Install(node);
        Ptr<Ipv4> ipv4 = node->GetObject<Ipv4>();
        const uint32_t interface = ipv4->AddInterface(device);
        ipv4->AddAddress(interface, Ipv4InterfaceAddress("10.79.0.2", "255.255.255.0"));
        ipv4->SetUp(interface);
        Ptr<Ipv6> ipv6 = node->GetObject<Ipv6>();
        const uint32_t interface6 = ipv6->AddInterface(device);
        ipv6->AddAddress(interface6, Ipv6InterfaceAddress("fd00:79::2", Ipv6Prefix(64)));
        ipv6->SetUp(interface6);
        const Address any = m_family == AF_INET
                                ? Address(InetSocketAddress(Ipv4Address::GetAny(), PORT))
                                : Address(Inet6SocketAddress(Ipv6Address::GetAny(), PORT));
        auto sinks = PacketSinkHelper("ns3::TcpSocketFactory", any).Install(node);
        Ptr<PacketSink> sink = DynamicCast<PacketSink>(sinks.Get(0));
        node->Initialize();
        tap.Configure();
        std::string trouble;
        std::thread writer([&] {
            try
            {
                const viaduct::UniqueFd socket = tap.Connect(m_family);
                const std::vector<char> text(BYTES, 'x');
                for (size_t sent = 0; sent < BYTES;)
                {
                    sent += static_cast<size_t>(viaduct::SystemCall(
                        "send", send(socket.get(), &text[sent], BYTES - sent, MSG_NOSIGNAL)));
                }
            }
            catch (const viaduct::Error& error)
            {
                trouble = error.what();
            }
        });
        Simulator::Schedule(MilliSeconds(1),
                            [&] { StopWhen([&] { return sink->GetTotalRx() >= BYTES; }); });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(sink->GetTotalRx(), BYTES, "all bytes, once");
        std::ostringstream printed;
        device->PrintTiming(printed);
        NS_TEST_EXPECT_MSG_EQ(device->GetTotalDrops(), 0, printed.str());
        const auto counters = device->GetPort()->Counters();
        NS_TEST_EXPECT_MSG_LT(counters.rx_frames, BYTES / 1000, "segments are cut here");
        const std::string queues = std::to_string(m_queues) + " queues";
        NS_TEST_EXPECT_MSG_EQ(
            (printed.str().find(queues) != std::string::npos), (m_queues > 1), printed.str());
        device->Dispose();
        writer.join();
        NS_TEST_EXPECT_MSG_EQ(trouble, "", "the host's side");
        Simulator::Destroy();
    }

    const uint32_t m_queues; //!< attribute Queues
    const int m_family;      //!< family of the connection's addresses
};

/** A RingNetDevice creates tap0, takes an existing tap0 over and leaves it as before, or refuses
 * it. */
class TapOpeningTestCase : public TestCase
{
  public:
    TapOpeningTestCase() : TestCase("a TAP device is made, or taken and left as it was, or refused")
    {
    }

  private:
    void DoRun() override
    {
        if (geteuid() != 0)
        {
            std::cout << "SKIPPED " << GetName() << ": needs root" << std::endl;
            return;
        }
        ReactorScope reactor(TestTime::REAL);
        TapHost tap;
        const auto exists = [&] { return tap.host.IfIndex("tap0") != 0; };
        const auto expect = [&](const std::string& said, const std::string& why) {
            NS_TEST_EXPECT_MSG_NE(said.find(why), std::string::npos, said);
            NS_TEST_EXPECT_MSG_EQ(said.find('\n'), std::string::npos, "one line");
        };
        Ptr<RingNetDevice> made = tap.MakeDevice(1);
        made->SetMtu(1400);
        NS_TEST_EXPECT_MSG_EQ(Refusal(made), "", "made");
        tap.host.Run("ip link show tap0 | grep -q 'mtu 1400.*LOWER_UP\\|LOWER_UP.*mtu 1400'");
        expect(RefusalOf(tap.MakeDevice(1)), "TAP device tap0: another program uses the device");
        made->Dispose();
        NS_TEST_EXPECT_MSG_EQ(exists(), false, "gone with its device");
        tap.host.Run("ip tuntap add tap0 mode tap; ip link set tap0 up");
        const std::string offload = "ethtool -k tap0 | grep -q 'tcp-segmentation-offload: ";
        tap.host.Run(offload + "off'");
        Ptr<RingNetDevice> taken = tap.MakeDevice(1);
        NS_TEST_EXPECT_MSG_EQ(Refusal(taken), "", "taken");
        tap.host.Run(offload + "on'");
        taken->Dispose();
        NS_TEST_EXPECT_MSG_EQ(exists(), true, "stays");
        tap.host.Run(offload + "off'");
        expect(RefusalOf(tap.MakeDevice(3)), "not a TAP device with multiple queues");
        Ptr<RingNetDevice> filtered = tap.MakeDevice(1);
        filtered->SetAttribute("Filter", StringValue("arp"));
        expect(RefusalOf(filtered), "frames that a Filter excludes would be lost");
        tap.host.Run("ip link del tap0; ip link add tap0 type bridge");
        expect(RefusalOf(tap.MakeDevice(1)),
               "an interface with this name exists, but is not a TAP");
        Simulator::Destroy();
    }
};

/** The tests of TAP devices. */
class TapDeviceTestSuite : public TestSuite
{
  public:
    TapDeviceTestSuite() : TestSuite("viaduct-tap-device", Type::UNIT)
    {
        for (const int family : {AF_INET, AF_INET6})
        {
            AddTestCase(new TapTransferTestCase(1, family), TestCase::Duration::QUICK);
            AddTestCase(new TapTransferTestCase(3, family), TestCase::Duration::QUICK);
        }
        AddTestCase(new TapOpeningTestCase, TestCase::Duration::QUICK);
    }
};

TapDeviceTestSuite g_tapDeviceTestSuite; //!< registers the suite

} // namespace
