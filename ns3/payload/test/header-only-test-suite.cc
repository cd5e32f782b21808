/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/device/test/interface-test-support.h"
#include "ns3/payload/test/header-only-test-support.h"

#include "ns3/base/wire-conversion.h"
#include "ns3/bridge-net-device.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/path/path-helper.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include "base/wire/checksum.h"

#include <array>
#include <functional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup viaduct
 * Tests of header-only passing: the simulation's output must be the same whether packets enter it
 * with only their headers or with their payloads.
 */

using namespace ns3;
using namespace ns3::viaducttest;
namespace wire = viaduct::wire;

namespace
{

/** A function that changes the UDP header of a packet that is forwarded. The further arguments are
 * all bytes of the packet from the UDP header on, with zeros in place of a held payload, and the
 * packet's addresses. */
using Change = std::function<void(std::span<std::byte> header,
                                  std::span<const std::byte> seen,
                                  const wire::IpAddress& source,
                                  const wire::IpAddress& destination)>;

/** An ns-3 header that contains the bytes of a packet's UDP header. */
class UdpBytes : public Header
{
  public:
    TypeId GetInstanceTypeId() const override
    {
        return Header::GetTypeId();
    }

    uint32_t GetSerializedSize() const override
    {
        return m_bytes.size();
    }

    void Serialize(Buffer::Iterator to) const override
    {
        to.Write(reinterpret_cast<const uint8_t*>(m_bytes.data()), m_bytes.size());
    }

    uint32_t Deserialize(Buffer::Iterator from) override
    {
        from.Read(reinterpret_cast<uint8_t*>(m_bytes.data()), m_bytes.size());
        return m_bytes.size();
    }

    void Print(std::ostream&) const override
    {
    }

    std::array<std::byte, wire::UdpHeader::kSize> m_bytes{}; //!< the bytes of the header
};

/** Applies a change to a UDP packet whose IP header has been removed. */
void
Apply(const Change& change,
      Packet& packet,
      const wire::IpAddress& source,
      const wire::IpAddress& destination)
{
    Frame seen(packet.GetSize());
    packet.CopyData(reinterpret_cast<uint8_t*>(seen.data()), seen.size());
    UdpBytes header;
    packet.RemoveHeader(header);
    change(header.m_bytes, seen, source, destination);
    packet.AddHeader(header);
}

/** Compares frames.
 * @return the first difference, as text; empty: no difference
 */
std::string
Difference(const std::vector<Frame>& found, const std::vector<Frame>& expected)
{
    for (size_t i = 0; i < std::min(found.size(), expected.size()); ++i)
    {
        if (found[i] != expected[i])
        {
            return "frame " + std::to_string(i) + ": " + packet::Describe(found[i]) + ", not " +
                   packet::Describe(expected[i]);
        }
    }
    return found.size() == expected.size()
               ? ""
               : std::to_string(found.size()) + " frames, not " + std::to_string(expected.size());
}

/** Runs a simulation with packets that include their payloads, and again with only their headers,
 * and compares the results. */
class SameTestCase : public TestCase
{
  public:
    /**
     * @param name the behaviour that the test shows
     * @param run runs the simulation; its argument is the attribute HeaderBytes (0: packets include
     * their payloads)
     * @param traffic the limit that the number of arriving frames and datagrams must exceed
     */
    SameTestCase(const std::string& name, std::function<Outcome(uint32_t)> run, size_t traffic)
        : TestCase(name), m_run(std::move(run)), m_traffic(traffic)
    {
    }

  private:
    void DoRun() override
    {
        Outcome whole;
        Outcome headers;
        {
            ReactorScope reactor;
            whole = m_run(0);
        }
        {
            ReactorScope reactor;
            headers = m_run(HEADER_BYTES);
        }
        NS_TEST_EXPECT_MSG_GT(whole.Count(), m_traffic, "traffic");
        NS_TEST_EXPECT_MSG_EQ(Difference(headers.left, whole.left), "", "on the way");
        NS_TEST_EXPECT_MSG_EQ(Difference(headers.back, whole.back), "", "back");
        NS_TEST_EXPECT_MSG_EQ((headers.delivered == whole.delivered), true, "to the application");
        NS_TEST_EXPECT_MSG_EQ(headers.drops, whole.drops, "drops");
        NS_TEST_EXPECT_MSG_EQ(headers.waiting, 0, "nothing waits for ever");
        NS_TEST_EXPECT_MSG_GT(headers.counters.held, 0, "only headers were passed");
    }

    std::function<Outcome(uint32_t)> m_run; //!< runs the simulation with HeaderBytes
    size_t m_traffic; //!< limit that the number of arriving frames and datagrams must exceed
};

/** Compares a simulation over real interfaces with the same simulation over ports in memory. */
class SameOnInterfacesTestCase : public PortTestCase
{
  public:
    /**
     * @param kind the kind of the ports
     * @param name the behaviour that the test shows
     * @param run runs the simulation; its argument is the attribute HeaderBytes (0: packets include
     * their payloads)
     */
    SameOnInterfacesTestCase(const std::string& kind,
                             const std::string& name,
                             std::function<Outcome(uint32_t)> run)
        : PortTestCase(kind, name), m_run(std::move(run))
    {
    }

  private:
    void RunOnInterfaces() override
    {
        Outcome memory;
        {
            ReactorScope reactor;
            memory = m_run(0);
        }
        for (uint32_t headerBytes : {0u, HEADER_BYTES})
        {
            const std::string text = "HeaderBytes " + std::to_string(headerBytes) + ", ";
            ReactorScope reactor(TestTime::REAL);
            InterfaceWires wires(m_kind, memory.Count());
            Outcome real = m_run(headerBytes);
            if (m_kind == "AfPacketQueues") // the order of packets of different flows may change
            {
                real.Sort();
                memory.Sort();
            }
            NS_TEST_EXPECT_MSG_EQ(Difference(real.left, memory.left), "", text + "on the way");
            NS_TEST_EXPECT_MSG_EQ(Difference(real.back, memory.back), "", text + "back");
            NS_TEST_EXPECT_MSG_EQ(
                (real.delivered == memory.delivered), true, text + "to the application");
            NS_TEST_EXPECT_MSG_EQ(real.drops, memory.drops, text + "drops");
            NS_TEST_EXPECT_MSG_EQ(real.waiting, 0, "nothing waits for ever");
            NS_TEST_EXPECT_MSG_EQ((real.counters.held > 0), (headerBytes > 0), text + "headers");
            Simulator::Destroy(); // the devices must be destroyed before their interfaces
        }
    }

    std::function<Outcome(uint32_t)> m_run; //!< runs the simulation with HeaderBytes
};

Outcome
Forward(uint32_t headerBytes)
{
    Router router(headerBytes);
    return router.Run(ManyKinds());
}

Outcome
Fragments(uint32_t headerBytes)
{
    Router router(headerBytes, 4096, 576);
    auto frames = ManyKinds();
    // Two fragments of a packet, which the router fragments further.
    const packet::Ipv4 first{
        .source = "10.0.1.2", .destination = "10.0.2.2", .id = 9, .more_fragments = true};
    packet::Ipv4 last = first;
    last.more_fragments = false;
    last.fragment_offset = 151;
    last.protocol = wire::ip_protocol::kUdp;
    frames.push_back(packet::Build(TO_ROUTER / first / packet::Udp{} / packet::Counting(1200)));
    frames.push_back(packet::Build(TO_ROUTER / last / packet::Counting(900)));
    return router.Run(frames);
}

/** Runs a router that changes each UDP packet that it forwards: IPv4 packets get a new source
 * address, and `change` is applied to all packets. */
Outcome
Changed(uint32_t headerBytes, const Change& change)
{
    Router router(headerBytes);
    router.node->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
        "UnicastForward",
        Callback<void, const Ipv4Header&, Ptr<const Packet>, uint32_t>(
            [&](const Ipv4Header& header, Ptr<const Packet> packet, uint32_t) {
                const_cast<Ipv4Header&>(header).SetSource("10.0.1.77");
                Apply(change,
                      const_cast<Packet&>(*packet),
                      wireconversion::ToWire(header.GetSource()),
                      wireconversion::ToWire(header.GetDestination()));
            }));
    router.node->GetObject<Ipv6L3Protocol>()->TraceConnectWithoutContext(
        "UnicastForward",
        Callback<void, const Ipv6Header&, Ptr<const Packet>, uint32_t>(
            [&](const Ipv6Header& header, Ptr<const Packet> packet, uint32_t) {
                Apply(change,
                      const_cast<Packet&>(*packet),
                      wireconversion::ToWire(header.GetSource()),
                      wireconversion::ToWire(header.GetDestination()));
            }));
    std::vector<Frame> frames;
    for (size_t size : {200, 201, 1440})
    {
        for (const auto& frame : BothVersions(packet::Udp{.source = 5, .destination = 6}, size))
        {
            frames.push_back(frame);
        }
    }
    return router.Run(frames);
}

/** Changes the source port, and computes the checksum over all bytes in the simulation, with zeros
 * in place of a held payload. */
void
Translate(std::span<std::byte> header,
          std::span<const std::byte> seen,
          const wire::IpAddress& source,
          const wire::IpAddress& destination)
{
    std::byte* const field = &header[wire::UdpHeader::kChecksumOffset];
    wire::Store16(header.data(), 40000);
    wire::Store16(field, 0);
    Frame all(seen.begin(), seen.end());
    std::copy(header.begin(), header.end(), all.begin());
    wire::Store16(field,
                  wire::TransportChecksum(source, destination, wire::ip_protocol::kUdp, all));
}

/** Flips a bit of the source port and a bit of the checksum, as a link with bit errors does. */
void
Corrupt(std::span<std::byte> header,
        std::span<const std::byte>,
        const wire::IpAddress&,
        const wire::IpAddress&)
{
    header[1] ^= std::byte{4};
    header[wire::UdpHeader::kChecksumOffset] ^= std::byte{1};
}

/** Changes the source port, and updates the checksum by RFC 1624. */
void
Update(std::span<std::byte> header,
       std::span<const std::byte>,
       const wire::IpAddress&,
       const wire::IpAddress&)
{
    std::byte* const field = &header[wire::UdpHeader::kChecksumOffset];
    const uint16_t before = wire::Load16(header.data());
    wire::Store16(header.data(), 40000);
    wire::Store16(field, wire::UpdateChecksum(wire::Load16(field), before, 40000));
}

/** @return frames to the router itself, for UDP port 6 and for a port without a listener */
std::vector<Frame>
ToTheRouter()
{
    const packet::Ipv4 ip4{.source = "10.0.1.2", .destination = "10.0.1.1", .id = 7};
    const packet::Ipv6 ip6{.source = "fd01::2", .destination = "fd01::1"};
    packet::Ipv4 first = ip4;
    first.more_fragments = true;
    packet::Ipv4 last = ip4;
    last.fragment_offset = 101;
    last.protocol = wire::ip_protocol::kUdp;
    std::vector<Frame> frames;
    for (uint16_t port : {6, 66})
    {
        const packet::Udp udp{.source = 5, .destination = port};
        frames.push_back(packet::Build(TO_ROUTER / ip4 / udp / packet::Counting(1000)));
        frames.push_back(packet::Build(TO_ROUTER / ip6 / udp / packet::Counting(1001)));
    }
    // A datagram in two fragments, whose checksum covers the unfragmented datagram.
    Frame whole = packet::Build(TO_ROUTER / ip4 / packet::Udp{.source = 5, .destination = 6} /
                                packet::Counting(1400));
    constexpr size_t HEADERS = 34;
    const Frame front = packet::Build(TO_ROUTER / first / packet::Payload{std::string(808, 'x')});
    const Frame rest = packet::Build(TO_ROUTER / last / packet::Payload{std::string(600, 'x')});
    for (const auto& [fragment, from] : {std::pair(front, HEADERS), std::pair(rest, HEADERS + 808)})
    {
        Frame frame = fragment;
        std::copy_n(whole.begin() + from, frame.size() - HEADERS, frame.begin() + HEADERS);
        frame[23] = std::byte{wire::ip_protocol::kUdp};
        wire::SetIpv4Checksum(std::span(frame).subspan(14));
        frames.push_back(frame);
    }
    return frames;
}

/** Sends packets to the router itself: they must be delivered with their payloads, and ICMP errors
 * must quote the complete packets. */
Outcome
Deliver(uint32_t headerBytes)
{
    Router router(headerBytes);
    router.Listen(InetSocketAddress(Ipv4Address::GetAny(), 6));
    router.Listen(Inet6SocketAddress(Ipv6Address::GetAny(), 6));
    return router.Run(ToTheRouter());
}

/** Sends packets for which a router sends ICMP errors: TTL expired, packet too big, no route. */
Outcome
Errors(uint32_t headerBytes)
{
    Router router(headerBytes, 4096, 1280);
    auto frames = BothVersions(packet::Udp{}, 1000, 1);
    for (const auto& frame : BothVersions(packet::Udp{}, 1400))
    {
        frames.push_back(frame);
    }
    const packet::Ipv6 nowhere{.source = "fd01::2", .destination = "fd09::2"};
    frames.push_back(packet::Build(TO_ROUTER / nowhere / packet::Udp{} / packet::Counting(900)));
    return router.Run(frames);
}

/** Sends packets to a raw socket, which must receive them with their payloads. */
Outcome
RawSocket(uint32_t headerBytes)
{
    Router router(headerBytes);
    Ptr<Socket> socket =
        Socket::CreateSocket(router.node, TypeId::LookupByName("ns3::Ipv4RawSocketFactory"));
    socket->SetAttribute("Protocol", UintegerValue(wire::ip_protocol::kUdp));
    socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), 0));
    socket->SetRecvCallback(Callback<void, Ptr<Socket>>([&](Ptr<Socket> from) {
        Ptr<Packet> packet = from->Recv();
        router.delivered.emplace_back(packet->GetSize());
        packet->CopyData(reinterpret_cast<uint8_t*>(router.delivered.back().data()),
                         packet->GetSize());
    }));
    auto frames = ToTheRouter();
    const auto more = ManyKinds();
    frames.insert(frames.end(), more.begin(), more.end());
    Outcome outcome = router.Run(frames);
    socket->Close();
    return outcome;
}

/** Floods frames through a bridge with three ports, so that each payload is sent twice. */
Outcome
Flood(uint32_t headerBytes)
{
    Ptr<Node> node = CreateObject<Node>();
    TestDevice a(node, "02:00:00:00:00:01");
    TestDevice b(node, "02:00:00:00:00:02");
    TestDevice c(node, "02:00:00:00:00:03");
    a.device->SetAttribute("HeaderBytes", UintegerValue(headerBytes));
    Ptr<BridgeNetDevice> bridge = CreateObject<BridgeNetDevice>();
    node->AddDevice(bridge);
    for (const auto& device : {a.device, b.device, c.device})
    {
        bridge->AddBridgePort(device);
    }
    const auto frames = ManyKinds("02:00:00:00:00:0b");
    a.in->insert(a.in->end(), frames.begin(), frames.end());
    if (b.port)
    {
        b.port->m_room = 5; // the frames after the fifth wait for 5 ms with their payloads
        Simulator::Schedule(MilliSeconds(5), [&] { b.port->m_room = 1000; });
    }
    StopAfter(MilliSeconds(10), [&] { return b.out->size() + c.out->size(); });
    Simulator::Run();
    Outcome outcome;
    outcome.left.assign(b.out->begin(), b.out->end());
    outcome.back.assign(c.out->begin(), c.out->end());
    if (const auto* held = a.device->GetHeldPayloads())
    {
        outcome.counters = held->GetCounters();
        outcome.waiting = held->CountWaiting();
    }
    return outcome;
}

/** Sends frames over an emulated link in the simulation, which has the SPEC `spec`. */
Outcome
OverPath(uint32_t headerBytes, const std::string& spec)
{
    NodeContainer nodes(2);
    TestDevice in(nodes.Get(0), "02:00:00:00:00:01");
    TestDevice out(nodes.Get(1), "02:00:00:00:00:02");
    in.device->SetAttribute("HeaderBytes", UintegerValue(headerBytes));
    PathHelper helper;
    helper.SetChannelAttribute("Name", StringValue("wire"));
    helper.SetChannelAttribute("Up", StringValue(spec));
    NetDeviceContainer path = helper.Install(nodes);
    const std::array<Ptr<NetDevice>, 2> outer{in.device, out.device};
    for (uint32_t i = 0; i < 2; ++i)
    {
        Ptr<BridgeNetDevice> bridge = CreateObject<BridgeNetDevice>();
        nodes.Get(i)->AddDevice(bridge);
        bridge->AddBridgePort(outer[i]);
        bridge->AddBridgePort(path.Get(i));
    }
    const auto frames = ManyKinds("02:00:00:00:00:0b");
    in.in->insert(in.in->end(), frames.begin(), frames.end());
    Simulator::Stop(MilliSeconds(200));
    Simulator::Run();
    Outcome outcome;
    outcome.left.assign(out.out->begin(), out.out->end());
    if (const auto* held = in.device->GetHeldPayloads())
    {
        outcome.counters = held->GetCounters();
        outcome.waiting = held->CountWaiting();
    }
    return outcome;
}

/** Tests a pool that has fewer places than there are packets: the other packets are passed with
 * their payloads, and all places are released. */
class BoundedPoolTestCase : public TestCase
{
  public:
    BoundedPoolTestCase() : TestCase("payloads that have no room are passed whole; none leaks")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        Router router(HEADER_BYTES, 10);
        std::vector<Frame> frames;
        frames.reserve(60);
        for (int i = 0; i < 60; ++i)
        {
            frames.push_back(BothVersions(packet::Udp{}, 1000 + i).front());
        }
        const Outcome outcome = router.Run(frames);
        NS_TEST_EXPECT_MSG_EQ(outcome.counters.held, 10, "headers");
        NS_TEST_EXPECT_MSG_EQ(outcome.counters.poolFull, 50, "whole");
        NS_TEST_EXPECT_MSG_EQ(outcome.left.size(), 60, "all of them left");
        NS_TEST_EXPECT_MSG_EQ(outcome.waiting, 0, "none waits");
    }
};

/** Tests how long payloads are held for packets that the simulation drops, keeps for some time, or
 * keeps until the end. */
class WaitingTestCase : public TestCase
{
  public:
    WaitingTestCase() : TestCase("a payload waits as long as there is a packet, or a copy of it")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        Router router(HEADER_BYTES, 50);
        std::vector<Ptr<const Packet>> kept;
        router.in.device->SetReceiveCallback(
            Callback<bool, Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&>(
                [&](Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address&) {
                    Ptr<Packet> copy = packet->Copy();
                    copy->RemoveAtStart(20);
                    kept.push_back(copy->CreateFragment(10, 900));
                    return true;
                }));
        std::vector<Frame> frames;
        frames.reserve(100);
        for (int i = 0; i < 100; ++i)
        {
            frames.push_back(BothVersions(packet::Udp{}, 1000).front());
        }
        const HeldPayloads* held = nullptr;
        Simulator::Schedule(MilliSeconds(20), [&] {
            held = router.in.device->GetHeldPayloads();
            NS_TEST_EXPECT_MSG_EQ(held->CountWaiting(), 50, "as many as there is room for");
            NS_TEST_EXPECT_MSG_EQ(held->GetCounters().poolFull, 50, "the others were whole");
            kept.resize(20);
            NS_TEST_EXPECT_MSG_EQ(held->CountWaiting(), 20, "of those that are left");
            router.in.in->insert(router.in.in->end(), frames.begin(), frames.end());
        });
        router.Run(frames);
        NS_TEST_EXPECT_MSG_EQ(held->GetCounters().held, 80, "places were used again");
        const uint64_t lost = CountLostPayloads();
        for (const auto& packet : kept)
        {
            if (HasHeldPayload(*packet))
            {
                // JoinPacket() fails, because it is unknown which part of the payload the packet
                // has.
                Frame bytes(packet->GetSize());
                JoinPacket(*packet, bytes, FirstHeader::IP);
            }
        }
        NS_TEST_EXPECT_MSG_GT(CountLostPayloads(), lost, "not sent as zeros");
        kept.clear();
        NS_TEST_EXPECT_MSG_EQ(held->CountWaiting(), 0, "none waits");
    }
};

/** The tests of header-only passing. */
class HeaderOnlyTestSuite : public TestSuite
{
  public:
    HeaderOnlyTestSuite() : TestSuite("viaduct-header-only", Type::UNIT)
    {
        const auto same =
            [this](const std::string& name, size_t traffic, std::function<Outcome(uint32_t)> run) {
                AddTestCase(new SameTestCase("header-only: " + name, std::move(run), traffic),
                            TestCase::Duration::QUICK);
            };
        for (const std::string kind : PORT_KINDS)
        {
            const auto real = [&](const std::string& name, std::function<Outcome(uint32_t)> run) {
                AddTestCase(new SameOnInterfacesTestCase(kind, "as in memory: " + name, run),
                            TestCase::Duration::QUICK);
            };
            real("routed packets of many kinds", &Forward);
            if (kind != "Dpdk") // not for DPDK, whose driver makes the kernel reassemble fragments
            {
                real("packets that are fragmented", &Fragments);
            }
            real("packets for the router, and errors that quote them", &Deliver);
            real("errors of a router", &Errors);
            real("flooded by a bridge", &Flood);
        }
        same("routed packets of many kinds", 49, &Forward);
        same("packets that are fragmented", 40, &Fragments);
        same("packets for the router, and errors that quote them", 4, &Deliver);
        same("errors of a router", 3, &Errors);
        same("a raw socket", 50, &RawSocket);
        same("flooded by a bridge", 99, &Flood);
        for (const Change& change : {Change(&Translate), Change(&Corrupt), Change(&Update)})
        {
            same("changed headers", 5, [change](uint32_t n) { return Changed(n, change); });
        }
        for (const char* spec : {"delay=20ms", "dup=50%", "ber=1e-4", "corrupt=50%", "loss=50%"})
        {
            same(std::string("a link with ") + spec, 20, [spec](uint32_t headerBytes) {
                return OverPath(headerBytes, spec);
            });
        }
        AddTestCase(new BoundedPoolTestCase, TestCase::Duration::QUICK);
        AddTestCase(new WaitingTestCase, TestCase::Duration::QUICK);
    }
};

HeaderOnlyTestSuite g_headerOnlyTestSuite; //!< registers the suite

} // namespace
