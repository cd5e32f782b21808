/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/socket/test/host-socket-test-support.h"

#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-packet-info-tag.h"
#include "ns3/ipv6-address-helper.h"
#include "ns3/ipv6-packet-info-tag.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/udp-socket.h"

/**
 * @file
 * @ingroup viaduct
 * Tests of the host's UDP sockets between two namespaces.
 */

using namespace ns3;
using viaducttest::HOST_UDP;
using viaducttest::HostPair;
using viaducttest::HostSocketTestCase;
using viaducttest::Pattern;

namespace
{

constexpr uint16_t PORT = 4000;

/** Collects the datagrams that a socket receives, with their senders. */
struct Inbox
{
    explicit Inbox(Ptr<Socket> socket)
    {
        socket->SetRecvCallback(Callback<void, Ptr<Socket>>([this](Ptr<Socket> reader) {
            Address from;
            while (auto packet = reader->RecvFrom(from))
            {
                packets.push_back(packet);
                senders.push_back(from);
            }
        }));
    }

    std::vector<Ptr<Packet>> packets;
    std::vector<Address> senders;
};

bool
Same(Ptr<const Packet> one, Ptr<const Packet> other)
{
    std::vector<uint8_t> bytes(one->GetSize());
    std::vector<uint8_t> others(other->GetSize());
    one->CopyData(bytes.data(), one->GetSize());
    other->CopyData(others.data(), other->GetSize());
    return bytes == others;
}

/** Tests datagrams from empty to the maximum size, in both directions. */
void
Sizes(HostSocketTestCase& test, HostPair& pair, bool ipv6)
{
    pair.Install();
    auto server = pair.MakeSocket(1, HOST_UDP);
    test.Equal(server->Bind(HostPair::At(ipv6, -1, PORT)), 0, "bound");
    auto client = pair.MakeSocket(0, HOST_UDP);
    Inbox requests(server);
    Inbox answers(client);
    const Address to = HostPair::At(ipv6, 1, PORT);
    for (const uint32_t size : {0u, 1u, 1472u, 1473u, 9000u, 65507u})
    {
        const auto sent = Pattern(size, size);
        test.Equal(client->SendTo(sent, 0, to), static_cast<int>(size), "sent");
        const size_t before = requests.packets.size();
        test.Equal(pair.RunUntil([&] { return requests.packets.size() > before; }), true, "there");
        test.Equal(Same(requests.packets.back(), sent), true, "its bytes");
        server->SendTo(requests.packets.back(), 0, requests.senders.back());
        test.Equal(pair.RunUntil([&] { return answers.packets.size() > before; }), true, "back");
        test.Equal(answers.packets.back()->GetSize(), size, "size of the answer");
        test.Equal(answers.senders.back() == to, true, "sender of the answer");
    }
    Address name;
    client->GetSockName(name);
    const auto port = [&](const Address& address) {
        return ipv6 ? Inet6SocketAddress::ConvertFrom(address).GetPort()
                    : InetSocketAddress::ConvertFrom(address).GetPort();
    };
    test.Equal(port(name), port(requests.senders.back()), "the client's port");
    test.Equal(client->SendTo(Create<Packet>(65508), 0, to), -1, "too big");
    test.Equal(client->GetErrno(), Socket::ERROR_MSGSIZE, "errno");
}

/** Tests that a connected socket reports that its peer's port is closed, and that a datagram
 * arrives when the port is open. */
void
Connected(HostSocketTestCase& test, HostPair& pair, bool ipv6)
{
    pair.Install();
    auto client = pair.MakeSocket(0, HOST_UDP);
    client->Connect(HostPair::At(ipv6, 1, PORT));
    client->Send(Create<Packet>(10));
    const bool refused = pair.RunUntil([&] { return client->GetErrno() == Socket::ERROR_NOTCONN; });
    test.Equal(refused, true, "port unreachable");
    auto server = pair.MakeSocket(1, HOST_UDP);
    server->Bind(HostPair::At(ipv6, 1, PORT));
    Inbox inbox(server);
    test.Equal(client->Send(Create<Packet>(11)), 11, "sent");
    test.Equal(pair.RunUntil([&] { return !inbox.packets.empty(); }), true, "arrives");
    Address peer;
    test.Equal(client->GetPeerName(peer), 0, "it has a peer");
    test.Equal(peer == HostPair::At(ipv6, 1, PORT), true, "which one");
    test.Equal(client->Close(), 0, "closed");
    test.Equal(client->Send(Create<Packet>(1)), -1, "and cannot send");
}

/** Tests the TTL and type of service of sent IPv4 packets, as the receiver reports them. */
void
Tags4(HostSocketTestCase& test, HostPair& pair)
{
    pair.Install();
    auto server = pair.MakeSocket(1, HOST_UDP);
    server->SetRecvPktInfo(true);
    server->SetIpRecvTtl(true);
    server->SetIpRecvTos(true);
    server->Bind(HostPair::At(false, -1, PORT));
    Inbox inbox(server);
    auto client = pair.MakeSocket(0, HOST_UDP);
    client->SetIpTtl(7);
    client->SetIpTos(0x10);
    client->SendTo(Create<Packet>(10), 0, HostPair::At(false, 1, PORT));
    test.Equal(pair.RunUntil([&] { return !inbox.packets.empty(); }), true, "arrives");
    const auto packet = inbox.packets.at(0);
    SocketIpTtlTag ttl;
    SocketIpTosTag tos;
    Ipv4PacketInfoTag info;
    test.Equal(packet->PeekPacketTag(ttl) && ttl.GetTtl() == 7, true, "TTL");
    test.Equal(packet->PeekPacketTag(tos) && tos.GetTos() == 0x10, true, "TOS");
    test.Equal(packet->PeekPacketTag(info), true, "packet info");
    test.Equal(info.GetAddress(), Ipv4Address("10.0.0.2"), "its destination");
}

/** Tests the hop limit and traffic class of sent IPv6 packets, as the receiver reports them. */
void
Tags6(HostSocketTestCase& test, HostPair& pair)
{
    pair.Install();
    auto server = pair.MakeSocket(1, HOST_UDP);
    server->SetRecvPktInfo(true);
    server->SetIpv6RecvHopLimit(true);
    server->SetIpv6RecvTclass(true);
    server->Bind(HostPair::At(true, -1, PORT));
    Inbox inbox(server);
    auto client = pair.MakeSocket(0, HOST_UDP);
    client->SetIpv6HopLimit(9);
    client->SetIpv6Tclass(0x20);
    client->SendTo(Create<Packet>(10), 0, HostPair::At(true, 1, PORT));
    test.Equal(pair.RunUntil([&] { return !inbox.packets.empty(); }), true, "arrives");
    const auto packet = inbox.packets.at(0);
    SocketIpv6HopLimitTag hopLimit;
    SocketIpv6TclassTag tclass;
    Ipv6PacketInfoTag info;
    test.Equal(packet->PeekPacketTag(hopLimit) && hopLimit.GetHopLimit() == 9, true, "hop limit");
    test.Equal(packet->PeekPacketTag(tclass) && tclass.GetTclass() == 0x20, true, "class");
    test.Equal(packet->PeekPacketTag(info), true, "packet info");
    test.Equal(info.GetAddress(), Ipv6Address("fd00::2"), "its destination");
}

/** Tests that broadcasts are sent only if the socket allows broadcasts. */
void
Broadcast(HostSocketTestCase& test, HostPair& pair)
{
    pair.Install();
    auto server = pair.MakeSocket(1, HOST_UDP);
    server->Bind(HostPair::At(false, -1, PORT));
    Inbox inbox(server);
    auto client = pair.MakeSocket(0, HOST_UDP);
    const InetSocketAddress all("10.0.0.255", PORT);
    client->SendTo(Create<Packet>(10), 0, all);
    const bool refused =
        pair.RunUntil([&] { return client->GetErrno() == Socket::ERROR_NOROUTETOHOST; });
    test.Equal(refused, true, "not allowed");
    test.Equal(client->SetAllowBroadcast(true), true, "allow it");
    client->SendTo(Create<Packet>(20), 0, all);
    test.Equal(pair.RunUntil([&] { return !inbox.packets.empty(); }), true, "arrives");
    test.Equal(inbox.packets.at(0)->GetSize(), 20u, "the one that was allowed");
}

/** Tests sockets that are bound to devices, and multicast groups that are joined on devices. */
void
DevicesAndGroups(HostSocketTestCase& test, HostPair& pair)
{
    pair.Install();
    const NodeContainer nodes(pair.nodes[0], pair.nodes[1]);
    InternetStackHelper().Install(nodes);
    const auto devices = SimpleNetDeviceHelper().Install(nodes);
    Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(devices);
    Ipv6AddressHelper(Ipv6Address("fd00::"), Ipv6Prefix(64)).Assign(devices);
    for (int i : {0, 1})
    {
        const viaduct::sys::NamespaceScope scope(pair.namespaces[i].get());
        HostSocketHelper::SetInterface(devices.Get(i), "", "eth0");
    }
    for (const bool ipv6 : {false, true})
    {
        const Address group = ipv6 ? Address(Inet6SocketAddress(Ipv6Address("ff02::77"), PORT))
                                   : Address(InetSocketAddress(Ipv4Address("239.1.2.3"), PORT));
        auto member = pair.MakeSocket(1, HOST_UDP);
        member->SetRecvPktInfo(true);
        member->Bind(HostPair::At(ipv6, -1, PORT));
        member->BindToNetDevice(devices.Get(1));
        test.Equal(DynamicCast<UdpSocket>(member)->MulticastJoinGroup(1, group), 0, "joined");
        Inbox inbox(member);
        auto sender = pair.MakeSocket(0, HOST_UDP);
        sender->BindToNetDevice(devices.Get(0));
        test.Equal(sender->SendTo(Create<Packet>(30), 0, group), 30, "sent");
        test.Equal(pair.RunUntil([&] { return !inbox.packets.empty(); }), true, "arrives");
        Ipv4PacketInfoTag info4;
        Ipv6PacketInfoTag info6;
        const auto packet = inbox.packets.at(0);
        test.Equal(ipv6 ? packet->PeekPacketTag(info6) : packet->PeekPacketTag(info4),
                   true,
                   "packet info");
        test.Equal(ipv6 ? info6.GetRecvIf() : info4.GetRecvIf(),
                   devices.Get(1)->GetIfIndex(),
                   "the device");
        test.Equal(DynamicCast<UdpSocket>(member)->MulticastLeaveGroup(1, group), 0, "left");
        member->Close();
        sender->Close();
    }
}

class HostUdpTestSuite : public TestSuite
{
  public:
    HostUdpTestSuite() : TestSuite("viaduct-host-udp", Type::SYSTEM)
    {
        for (const bool ipv6 : {false, true})
        {
            const std::string family = ipv6 ? " (IPv6)" : " (IPv4)";
            Add("sizes" + family, [=](auto& test, auto& pair) { Sizes(test, pair, ipv6); });
            Add("connected" + family, [=](auto& test, auto& pair) { Connected(test, pair, ipv6); });
        }
        Add("tags of IPv4", Tags4);
        Add("tags of IPv6", Tags6);
        Add("broadcast", Broadcast);
        Add("devices and groups", DevicesAndGroups);
    }

  private:
    void Add(const std::string& name,
             const std::function<void(HostSocketTestCase&, HostPair&)>& scenario)
    {
        AddTestCase(new HostSocketTestCase(name, scenario), Duration::QUICK);
    }
};

HostUdpTestSuite g_hostUdpTestSuite; //!< registers itself

} // namespace
