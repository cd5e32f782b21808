/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_HEADER_ONLY_TEST_SUPPORT_H
#define VIADUCT_HEADER_ONLY_TEST_SUPPORT_H

#include "ns3/test/viaduct-test-support.h"

#include "ns3/icmpv6-l4-protocol.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6.h"
#include "ns3/socket.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"

#include "base/wire/test/packet_builder.h"

#include <algorithm>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup viaduct
 * A router under test whose receiving device passes packets with only their headers, or with their
 * payloads.
 */

namespace ns3::viaducttest
{

namespace packet = viaduct::wire::packet;

constexpr uint32_t HEADER_BYTES = 64; //!< attribute HeaderBytes of tests with header-only passing
/// The Ethernet header of packets for the router.
inline const packet::Ethernet TO_ROUTER{.source = "02:00:00:00:00:0a",
                                        .destination = "02:00:00:00:00:01"};

/** @return two frames for the router: an IPv4 packet from 10.0.1.2 to 10.0.2.2, and an IPv6 packet
 * from fd01::2 to fd02::2, each with `size` bytes of transport payload */
template <class Transport>
std::vector<Frame>
BothVersions(Transport transport, size_t size, uint8_t ttl = 64)
{
    const packet::Ipv4 ip4{
        .source = "10.0.1.2", .destination = "10.0.2.2", .ttl = ttl, .tos = 0x2, .id = 7};
    const packet::Ipv6 ip6{.source = "fd01::2", .destination = "fd02::2", .hop_limit = ttl};
    return {packet::Build(TO_ROUTER / ip4 / transport / packet::Counting(size)),
            packet::Build(TO_ROUTER / ip6 / transport / packet::Counting(size))};
}

/** The result of a test's simulation. */
struct Outcome
{
    std::vector<Frame> left;         //!< frames sent by the sending device
    std::vector<Frame> back;         //!< frames sent by the receiving device
    std::vector<Frame> delivered;    //!< payloads delivered to an application
    HeldPayloads::Counters counters; //!< counters of the receiving device's pool of payloads
    uint32_t waiting = 0;            //!< number of payloads that are still held at the end
    uint64_t drops = 0;              //!< number of frames that the sending device dropped

    /** Sorts the frames, so that their order is ignored. */
    void Sort()
    {
        for (auto* frames : {&left, &back, &delivered})
        {
            std::sort(frames->begin(), frames->end());
        }
    }

    /** @return the total number of frames and datagrams */
    size_t Count() const
    {
        return left.size() + back.size() + delivered.size();
    }
};

/** A router with two devices: the receiving device has the addresses 10.0.1.1/24 and fd01::1/64,
 * the sending device 10.0.2.1/24 and fd02::1/64. */
class Router
{
  public:
    /**
     * @param headerBytes attribute HeaderBytes of the receiving device
     * @param payloads attribute HeldPayloads, the maximum number of payloads held
     * @param mtu the MTU of the sending device
     */
    explicit Router(uint32_t headerBytes, uint32_t payloads = 4096, uint16_t mtu = 1500)
        : node(CreateObject<Node>()), in(node, "02:00:00:00:00:01"), out(node, "02:00:00:00:00:02")
    {
        in.device->SetAttribute("HeaderBytes", UintegerValue(headerBytes));
        in.device->SetAttribute("HeldPayloads", UintegerValue(payloads));
        out.device->SetMtu(mtu);
        InternetStackHelper().Install(node);
        // Duplicate address detection is off, so that addresses are usable from the start.
        node->GetObject<Icmpv6L4Protocol>()->SetAttribute("DAD", BooleanValue(false));
        uint32_t network = 1;
        for (Ptr<NetDevice> device : {in.device, out.device})
        {
            device->SetAttribute("NeedsArp", BooleanValue(false));
            const std::string number = std::to_string(network++);
            auto ipv4 = node->GetObject<Ipv4>();
            const uint32_t i = ipv4->AddInterface(device);
            ipv4->AddAddress(i, {Ipv4Address(("10.0." + number + ".1").c_str()), "255.255.255.0"});
            ipv4->SetUp(i);
            auto ipv6 = node->GetObject<Ipv6>();
            const uint32_t j = ipv6->AddInterface(device);
            ipv6->AddAddress(j, {Ipv6Address(("fd0" + number + "::1").c_str()), Ipv6Prefix(64)});
            ipv6->SetUp(j);
            ipv6->SetAttribute("IpForward", BooleanValue(true));
            ipv6->SetForwarding(j, true);
        }
    }

    /**
     * Runs for 50 ms of simulated time; over real interfaces, until all frames have arrived.
     * @param frames the frames that the router receives after 10 ms
     * @return the result of the simulation with these frames
     */
    Outcome Run(const std::vector<Frame>& frames)
    {
        Simulator::Schedule(MilliSeconds(10), [&] {
            in.out->clear();
            out.out->clear();
            in.in->insert(in.in->end(), frames.begin(), frames.end());
        });
        StopAfter(MilliSeconds(50),
                  [&] { return in.out->size() + out.out->size() + delivered.size(); });
        Simulator::Run();
        Outcome outcome;
        outcome.left.assign(out.out->begin(), out.out->end());
        outcome.back.assign(in.out->begin(), in.out->end());
        outcome.delivered = delivered;
        outcome.drops = out.device->GetTotalDrops();
        if (const auto* held = in.device->GetHeldPayloads())
        {
            outcome.counters = held->GetCounters();
            outcome.waiting = held->CountWaiting();
        }
        return outcome;
    }

    /** Records the payloads of datagrams that arrive at a UDP port.
     * @param any the address and port to which the socket is bound */
    void Listen(const Address& any)
    {
        Ptr<Socket> socket = Socket::CreateSocket(node, UdpSocketFactory::GetTypeId());
        socket->Bind(any);
        socket->SetRecvCallback(Callback<void, Ptr<Socket>>([this](Ptr<Socket> from) {
            Ptr<Packet> packet = from->Recv();
            delivered.emplace_back(packet->GetSize());
            packet->CopyData(reinterpret_cast<uint8_t*>(delivered.back().data()),
                             packet->GetSize());
        }));
    }

    Ptr<Node> node; //!< the router
    TestDevice in;  //!< the receiving device
    TestDevice out; //!< the sending device
    /** Payloads of the datagrams that the sockets of Listen() have received. */
    std::vector<Frame> delivered;
};

/** @return frames with UDP, TCP and ICMP packets of many sizes, with the destination MAC address @p
 * destination, of the router or of another node behind a bridge */
inline std::vector<Frame>
ManyKinds(const char* destination = "02:00:00:00:00:01")
{
    std::vector<Frame> frames;
    const auto add = [&](std::vector<Frame> more) {
        frames.insert(frames.end(), more.begin(), more.end());
    };
    for (size_t size : {0, 1, 17, 100, 101, 127, 128, 129, 500, 1001, 1432, 1440})
    {
        add(BothVersions(packet::Udp{.source = 5, .destination = 6}, size));
        add(BothVersions(packet::Tcp{.sequence = 77}, std::min<size_t>(size, 1420)));
    }
    add({BothVersions(packet::Icmp{}, 700).front(), BothVersions(packet::Icmpv6{}, 701).back()});
    for (Frame& frame : frames)
    {
        Mac48Address(destination).CopyTo(reinterpret_cast<uint8_t*>(frame.data()));
    }
    return frames;
}

} // namespace ns3::viaducttest

#endif /* VIADUCT_HEADER_ONLY_TEST_SUPPORT_H */
