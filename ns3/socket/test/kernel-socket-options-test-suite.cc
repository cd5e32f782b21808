/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test/kernel-pair-test-case.h"

#include "ns3/boolean.h"
#include "ns3/bulk-send-helper.h"
#include "ns3/icmpv4.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/integer.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv4-packet-info-tag.h"
#include "ns3/ipv6-address-helper.h"
#include "ns3/ipv6-packet-info-tag.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/socket.h"
#include "ns3/socket/kernel-socket-mixin.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <vector>

/**
 * @file
 * @ingroup viaduct
 * Tests of the effect of attributes and addresses of ns-3's sockets on a real kernel's sockets.
 */

using namespace ns3;
using PairTestCase = viaducttest::KernelPairTestCase;

namespace
{

/** Tests that packets to groups have the hop limits, and reach the members on the sending node, as
 * with ns-3's sockets, although a kernel has different defaults. */
class GroupsTest : public PairTestCase
{
  public:
    GroupsTest() : PairTestCase("Packets to groups: hops, members on the node, as ns-3's sockets")
    {
    }

  private:
    Ptr<Socket> MakeMember(uint32_t node, const Address& group)
    {
        auto socket =
            Socket::CreateSocket(m_nodes.Get(node), TypeId::LookupByName("ns3::UdpSocketFactory"));
        NS_TEST_EXPECT_MSG_EQ(socket->Bind(group), 0, "bound to the group");
        socket->SetRecvPktInfo(true);
        socket->SetRecvCallback(Callback<void, Ptr<Socket>>([this, node](Ptr<Socket> reader) {
            while (auto packet = reader->Recv())
            {
                Ipv4PacketInfoTag tag;
                Ipv6PacketInfoTag tag6;
                const bool ipv4 = packet->PeekPacketTag(tag);
                const bool ipv6 = packet->PeekPacketTag(tag6);
                NS_TEST_EXPECT_MSG_EQ(ipv4 || ipv6, true, "it is known how the packet came");
                m_got[node].push_back(ipv4 ? tag.GetTtl() : tag6.GetHoplimit());
            }
        }));
        return socket;
    }

    void RunWithKernel() override
    {
        for (const bool ipv6 : {false, true})
        {
            MakePair();
            m_got.assign(2, {});
            const Address group = ipv6 ? Address(Inet6SocketAddress("ff05::99", 700))
                                       : Address(InetSocketAddress("239.1.2.3", 700));
            auto own = MakeMember(0, group);
            auto other = MakeMember(1, group);
            auto sender =
                Socket::CreateSocket(m_nodes.Get(0), TypeId::LookupByName("ns3::UdpSocketFactory"));
            sender->SetAttribute("IpMulticastIf", IntegerValue(1));
            const auto send = [&](int tagged) {
                auto packet = Create<Packet>(50);
                if (tagged > 0)
                {
                    SocketIpTtlTag tag;
                    tag.SetTtl(tagged);
                    packet->AddPacketTag(tag);
                }
                NS_TEST_EXPECT_MSG_EQ(sender->SendTo(packet, 0, group), 50, "sent");
            };
            Simulator::Schedule(MilliSeconds(100), [&] {
                send(0);
                send(9);
                sender->SetAttribute("IpMulticastTtl", UintegerValue(5));
                sender->SetAttribute("IpMulticastLoop", BooleanValue(true));
                send(0);
                sender->SetAttribute("IpMulticastTtl", UintegerValue(0));
                sender->SetAttribute("IpMulticastLoop", BooleanValue(false));
                send(0);
            });
            Run(MilliSeconds(200));
            NS_TEST_EXPECT_MSG_EQ((m_got[1] == std::vector<int>{64, 9, 5, 64}),
                                  true,
                                  "hops of what came to the other node, IPv6 " << ipv6);
            NS_TEST_EXPECT_MSG_EQ(
                (m_got[0] == std::vector<int>{5}), true, "once to the node itself, IPv6 " << ipv6);
            End();
        }
    }

    std::vector<std::vector<int>> m_got; //!< hop limits of packets received, by node
};

/** Tests connections to a link-local address over a node's only link: ns-3's addresses do not
 * contain the link. */
class LinkLocalTest : public PairTestCase
{
  public:
    LinkLocalTest() : PairTestCase("Connections to a link-local address over a node's only link")
    {
    }

  private:
    void RunWithKernel() override
    {
        MakePair();
        const Inet6SocketAddress peer(m_interfaces6.GetLinkLocalAddress(1), 700);
        PacketSinkHelper sinkHelper("ns3::TcpSocketFactory",
                                    Inet6SocketAddress(Ipv6Address::GetAny(), 700));
        auto sink = sinkHelper.Install(m_nodes.Get(1)).Get(0)->GetObject<PacketSink>();
        PacketSinkHelper datagramsHelper("ns3::UdpSocketFactory",
                                         Inet6SocketAddress(Ipv6Address::GetAny(), 700));
        auto datagrams = datagramsHelper.Install(m_nodes.Get(1)).Get(0)->GetObject<PacketSink>();
        BulkSendHelper source("ns3::TcpSocketFactory", peer);
        source.SetAttribute("MaxBytes", UintegerValue(50000));
        // Installed before the start, when interfaces have no index yet.
        source.Install(m_nodes.Get(0));
        auto sender =
            Socket::CreateSocket(m_nodes.Get(0), TypeId::LookupByName("ns3::UdpSocketFactory"));
        Simulator::Schedule(MilliSeconds(100), [&] {
            sender->Connect(peer);
            NS_TEST_EXPECT_MSG_EQ(sender->Send(Create<Packet>(70)), 70, "sent");
        });
        Run(Seconds(1));
        NS_TEST_EXPECT_MSG_EQ(sink->GetTotalRx(), 50000, "over TCP");
        NS_TEST_EXPECT_MSG_EQ(datagrams->GetTotalRx(), 70, "over UDP");
        End();
    }
};

/** Tests that attributes of raw sockets take effect if they change while the socket is in use. */
class RawOptionsTest : public PairTestCase
{
  public:
    RawOptionsTest() : PairTestCase("Raw IPv4 sockets: filter and own headers on and off again")
    {
    }

  private:
    void RunWithKernel() override
    {
        MakePair();
        const auto make = [&](uint32_t node, uint32_t protocol) {
            auto socket = Socket::CreateSocket(m_nodes.Get(node),
                                               TypeId::LookupByName("ns3::Ipv4RawSocketFactory"));
            socket->SetAttribute("Protocol", UintegerValue(protocol));
            socket->Bind();
            return socket;
        };
        const InetSocketAddress peer(m_interfaces.GetAddress(1), 0);
        auto pinger = make(0, 1);
        uint32_t answers = 0;
        pinger->SetRecvCallback(Callback<void, Ptr<Socket>>([&](Ptr<Socket> reader) {
            while (reader->Recv())
            {
                ++answers;
            }
        }));
        const auto ping = [&] {
            auto packet = Create<Packet>();
            Icmpv4Echo echo;
            packet->AddHeader(echo);
            Icmpv4Header header;
            header.SetType(Icmpv4Header::ICMPV4_ECHO);
            header.EnableChecksum();
            packet->AddHeader(header);
            pinger->SendTo(packet, 0, peer);
        };
        auto sender = make(0, 253);
        auto receiver = make(1, 253);
        std::vector<uint32_t> sizes;
        receiver->SetRecvCallback(Callback<void, Ptr<Socket>>([&](Ptr<Socket> reader) {
            while (auto packet = reader->Recv())
            {
                sizes.push_back(packet->GetSize());
            }
        }));
        Simulator::Schedule(MilliSeconds(100), [&] {
            pinger->SetAttribute("IcmpFilter", UintegerValue(1)); // echo replies have type 0
            ping();
            sender->SetAttribute("IpHeaderInclude", BooleanValue(true));
            auto packet = Create<Packet>(30);
            Ipv4Header header;
            header.SetDestination(m_interfaces.GetAddress(1));
            header.SetProtocol(253);
            header.SetTtl(7);
            header.SetPayloadSize(30);
            packet->AddHeader(header);
            sender->SendTo(packet, 0, peer);
        });
        Simulator::Schedule(MilliSeconds(200), [&] {
            NS_TEST_EXPECT_MSG_EQ(answers, 0, "answers with a filter");
            pinger->SetAttribute("IcmpFilter", UintegerValue(0));
            ping();
            sender->SetAttribute("IpHeaderInclude", BooleanValue(false));
            sender->SendTo(Create<Packet>(40), 0, peer);
        });
        Run(MilliSeconds(300));
        NS_TEST_EXPECT_MSG_EQ(answers, 1, "answers without it");
        NS_TEST_EXPECT_MSG_EQ((sizes == std::vector<uint32_t>{50, 60}), true, "with a header each");
        End();
    }
};

/** Tests that raw sockets send broadcasts without a permission, like ns-3's own raw sockets,
 * because protocols flood by broadcasts. */
class RawBroadcastTest : public PairTestCase
{
  public:
    RawBroadcastTest() : PairTestCase("Raw sockets: broadcasts, groups, and what cannot be sent")
    {
    }

  private:
    Ptr<Socket> MakeRaw(uint32_t node, bool ipv6) const
    {
        const std::string factory =
            ipv6 ? "ns3::Ipv6RawSocketFactory" : "ns3::Ipv4RawSocketFactory";
        auto socket = Socket::CreateSocket(m_nodes.Get(node), TypeId::LookupByName(factory));
        socket->SetAttribute("Protocol", UintegerValue(253));
        socket->Bind(Any(ipv6, 0));
        socket->BindToNetDevice(m_devices.Get(node));
        return socket;
    }

    static void Note(Ptr<Socket> socket, std::vector<uint32_t>& sizes)
    {
        socket->SetRecvCallback(Callback<void, Ptr<Socket>>([&sizes](Ptr<Socket> reader) {
            while (auto packet = reader->Recv())
            {
                sizes.push_back(packet->GetSize());
            }
        }));
    }

    void Send(Ptr<Socket> socket, const Address& to, int size, Socket::SocketErrno error)
    {
        const bool isSent = error == Socket::ERROR_NOTERROR;
        const int sent = socket->SendTo(Create<Packet>(size), 0, to);
        NS_TEST_EXPECT_MSG_EQ(sent, (isSent ? size : -1), "a packet of " << size);
        if (!isSent)
        {
            NS_TEST_EXPECT_MSG_EQ(socket->GetErrno(), error, "its error");
        }
    }

    void RunWithKernel() override
    {
        MakePair();
        auto receiver = MakeRaw(1, false), receiver6 = MakeRaw(1, true);
        std::vector<uint32_t> sizes, sizes6;
        Note(receiver, sizes);
        Note(receiver6, sizes6);
        auto sender = MakeRaw(0, false), sender6 = MakeRaw(0, true);
        NS_TEST_EXPECT_MSG_EQ(sender->SetAllowBroadcast(false), false, "as in ns-3");
        const auto subnet =
            m_interfaces.Get(0).first->GetAddress(m_interfaces.Get(0).second, 0).GetBroadcast();
        Simulator::Schedule(MilliSeconds(100), [&] {
            Send(sender, InetSocketAddress(subnet, 0), 10, Socket::ERROR_NOTERROR);
            Send(sender,
                 InetSocketAddress(Ipv4Address::GetBroadcast(), 0),
                 20,
                 Socket::ERROR_NOTERROR);
            Send(sender6,
                 Inet6SocketAddress(Ipv6Address::GetAllNodesMulticast(), 0),
                 30,
                 Socket::ERROR_NOTERROR);
        });
        Simulator::Schedule(MilliSeconds(200), [&] {
            auto unbound = Socket::CreateSocket(m_nodes.Get(0),
                                                TypeId::LookupByName("ns3::Ipv4RawSocketFactory"));
            unbound->SetAttribute("Protocol", UintegerValue(253));
            Send(unbound,
                 InetSocketAddress(Ipv4Address("203.0.113.1"), 0),
                 40,
                 Socket::ERROR_NOROUTETOHOST);
            Send(unbound,
                 InetSocketAddress(m_interfaces.GetAddress(1), 0),
                 50,
                 Socket::ERROR_NOTERROR);
        });
        Run(MilliSeconds(300));
        NS_TEST_EXPECT_MSG_EQ((sizes == std::vector<uint32_t>{30, 40, 70}), true, "with headers");
        NS_TEST_EXPECT_MSG_EQ((sizes6 == std::vector<uint32_t>{70}), true, "with its header");
        End();
    }
};

/** Tests that an attribute's default leaves a kernel's option unchanged, unless the attribute had
 * another value before. */
class DefaultsTest : public PairTestCase
{
  public:
    DefaultsTest() : PairTestCase("Attributes that are set back to ns-3's defaults")
    {
    }

  private:
    void RunWithKernel() override
    {
        MakePair();
        auto socket =
            Socket::CreateSocket(m_nodes.Get(0), TypeId::LookupByName("ns3::TcpSocketFactory"));
        const auto value = [&](int level, int name) {
            int number = -1;
            const auto bytes =
                dynamic_cast<KernelSocketOptions*>(PeekPointer(socket))->GetSockOpt(level, name);
            std::memcpy(&number, bytes.data(), std::min(bytes.size(), sizeof number));
            return number;
        };
        Simulator::Schedule(MilliSeconds(100), [&] {
            socket->SetAttribute("SndBufSize", UintegerValue(50000));
            socket->SetAttribute("ConnCount", UintegerValue(3));
            socket->Bind();
            NS_TEST_EXPECT_MSG_EQ(value(SOL_SOCKET, SO_SNDBUF), 100000, "kernels double buffers");
            NS_TEST_EXPECT_MSG_EQ(value(IPPROTO_TCP, TCP_SYNCNT), 3, "attempts to connect");
            socket->SetAttribute("SndBufSize", UintegerValue(131072));
            socket->SetAttribute("ConnCount", UintegerValue(6));
            NS_TEST_EXPECT_MSG_EQ(value(SOL_SOCKET, SO_SNDBUF), 262144, "ns-3's default");
            NS_TEST_EXPECT_MSG_EQ(value(IPPROTO_TCP, TCP_SYNCNT), 6, "ns-3's default");
        });
        Run(MilliSeconds(200));
        socket = nullptr;
        End();
    }
};

/** Tests that Send() refuses flags that it cannot pass on to the kernel, before it sends any data.
 */
class FlagsTest : public PairTestCase
{
  public:
    FlagsTest() : PairTestCase("Send() with flags")
    {
    }

  private:
    void RunWithKernel() override
    {
        MakePair();
        const auto make = [&](const std::string& type) {
            return Socket::CreateSocket(m_nodes.Get(0), TypeId::LookupByName(type));
        };
        auto stream = make("ns3::TcpSocketFactory"), datagrams = make("ns3::UdpSocketFactory");
        const InetSocketAddress to(Ipv4Address("127.0.0.1"), 7000);
        Simulator::Schedule(MilliSeconds(100), [&] {
            NS_TEST_EXPECT_MSG_EQ(datagrams->SendTo(Create<Packet>(1), MSG_OOB, to), -1, "UDP");
            NS_TEST_EXPECT_MSG_EQ(datagrams->GetErrno(), Socket::ERROR_OPNOTSUPP, "its error");
            NS_TEST_EXPECT_MSG_EQ(
                datagrams->SendTo(Create<Packet>(1), MSG_DONTWAIT | MSG_NOSIGNAL, to),
                1,
                "flags that are so in a simulation");
            NS_TEST_EXPECT_MSG_EQ(stream->Send(Create<Packet>(1), MSG_OOB), -1, "TCP");
            NS_TEST_EXPECT_MSG_EQ(stream->GetErrno(), Socket::ERROR_OPNOTSUPP, "its error");
        });
        Run(MilliSeconds(200));
        stream = datagrams = nullptr;
        End();
    }
};

class KernelSocketOptionsTestSuite : public TestSuite
{
  public:
    KernelSocketOptionsTestSuite() : TestSuite("viaduct-kernel-socket-options", Type::SYSTEM)
    {
        AddTestCase(new GroupsTest, Duration::QUICK);
        AddTestCase(new LinkLocalTest, Duration::QUICK);
        AddTestCase(new RawOptionsTest, Duration::QUICK);
        AddTestCase(new RawBroadcastTest, Duration::QUICK);
        AddTestCase(new DefaultsTest, Duration::QUICK);
        AddTestCase(new FlagsTest, Duration::QUICK);
    }
};

KernelSocketOptionsTestSuite g_kernelSocketOptionsTestSuite; //!< registers itself

} // namespace
