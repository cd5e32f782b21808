/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test/kernel-socket-test-support.h"

#include "ns3/bulk-send-helper.h"
#include "ns3/icmpv4.h"
#include "ns3/icmpv6-header.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv6-header.h"
#include "ns3/on-off-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/socket/kernel-socket-factory.h"
#include "ns3/socket/kernel-socket-mixin.h"
#include "ns3/string.h"
#include "ns3/udp-client-server-helper.h"
#include "ns3/udp-echo-helper.h"
#include "ns3/udp-server.h"
#include "ns3/uinteger.h"

#include <chrono>
#include <csignal>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <set>
#include <sys/resource.h>
#include <thread>
#include <utility>

/**
 * @file
 * @ingroup viaduct
 * Tests of the kernel socket factories against this machine's kernel.
 */

using namespace ns3;
using viaducttest::Diary;
using viaducttest::KernelSocketTestCase;
using viaducttest::Local;
using viaducttest::NativeNode;
using viaducttest::Pattern;
using viaducttest::TCP;
using viaducttest::UDP;

namespace
{

/** Sends @p bytes bytes from a source to a sink, both on the node, and compares the number of bytes
 * that the sink receives with @p bytes. */
void
TestSource(KernelSocketTestCase& test,
           NativeNode& kernel,
           const std::string& factory,
           ApplicationHelper& source,
           const Address& sinkAddress,
           uint64_t bytes)
{
    source.SetAttribute("MaxBytes", UintegerValue(bytes));
    PacketSinkHelper sinkHelper(factory, sinkAddress);
    auto sink = DynamicCast<PacketSink>(sinkHelper.Install(kernel.node).Get(0));
    source.Install(kernel.node).Start(MilliSeconds(100));
    kernel.RunPast([&] { return sink->GetTotalRx() >= bytes; });
    test.Equal(sink->GetTotalRx(), bytes, "bytes over " + factory);
}

void
TestBulkSend(KernelSocketTestCase& test, NativeNode& kernel)
{
    // Applications that are not written for kernel nodes ask for ns3::TcpSocketFactory.
    BulkSendHelper source("ns3::TcpSocketFactory", Local(5001));
    TestSource(test, kernel, "ns3::TcpSocketFactory", source, InetSocketAddress(5001), 3000000);
}

void
TestBulkSend6(KernelSocketTestCase& test, NativeNode& kernel)
{
    BulkSendHelper source(TCP, Inet6SocketAddress(Ipv6Address("::1"), 5001));
    const Inet6SocketAddress any(Ipv6Address::GetAny(), 5001);
    TestSource(test, kernel, TCP, source, any, 300000);
}

void
TestMptcp(KernelSocketTestCase& test, NativeNode& kernel)
{
    const std::string mptcp = "ns3::KernelMptcpSocketFactory";
    BulkSendHelper source(mptcp, Local(5001));
    TestSource(test, kernel, mptcp, source, InetSocketAddress(5001), 300000);
}

void
TestOnOff(KernelSocketTestCase& test, NativeNode& kernel)
{
    for (const char* factory : {TCP, UDP})
    {
        const uint16_t port = factory == TCP ? 5001 : 5002;
        OnOffHelper source(factory, Local(port));
        source.SetConstantRate(DataRate("1Mbps"), 1000);
        TestSource(test, kernel, factory, source, InetSocketAddress(port), 50000);
    }
}

void
TestEcho(KernelSocketTestCase& test, NativeNode& kernel)
{
    // The server and the client ask for ns3::UdpSocketFactory and have no attribute for another
    // factory.
    UdpEchoServerHelper server(9);
    server.Install(kernel.node);
    UdpEchoClientHelper client(Ipv4Address("127.0.0.1"), 9);
    client.SetAttribute("MaxPackets", UintegerValue(5));
    client.SetAttribute("Interval", TimeValue(MilliSeconds(100)));
    auto echo = client.Install(kernel.node);
    echo.Start(MilliSeconds(100));
    int echoes = 0;
    echo.Get(0)->TraceConnectWithoutContext(
        "Rx", Callback<void, Ptr<const Packet>>([&](Ptr<const Packet>) { ++echoes; }));
    kernel.RunPast([&] { return echoes >= 5; });
    test.Equal(echoes, 5, "echoes");
}

void
TestClientServer(KernelSocketTestCase& test, NativeNode& kernel)
{
    UdpServerHelper serverHelper(4000);
    auto server = DynamicCast<UdpServer>(serverHelper.Install(kernel.node).Get(0));
    UdpClientHelper client(Ipv4Address("127.0.0.1"), 4000);
    client.SetAttribute("MaxPackets", UintegerValue(20));
    client.SetAttribute("Interval", TimeValue(MilliSeconds(20)));
    client.Install(kernel.node).Start(MilliSeconds(100));
    kernel.RunUntil([&] { return server->GetReceived() + server->GetLost() >= 20; });
    // The sequence numbers in the payload reveal lost packets.
    test.Equal(server->GetReceived(), 20u, "datagrams with sequence numbers");
    test.Equal(server->GetLost(), 0u, "lost by their sequence numbers");
}

void
TestNames(KernelSocketTestCase& test, NativeNode& kernel)
{
    Simulator::Schedule(MilliSeconds(50), [&] {
        auto first = kernel.MakeSocket(TCP);
        test.Equal(first->Bind(InetSocketAddress(Ipv4Address::GetAny(), 5001)), 0, "bind");
        first->Listen();
        auto second = kernel.MakeSocket(TCP);
        test.Equal(second->Bind(Local(5001)), -1, "bind to a port in use");
        test.Equal(second->GetErrno(), Socket::ERROR_ADDRINUSE, "its error");
        test.Equal(second->Bind(InetSocketAddress(Ipv4Address("10.9.9.9"), 1)),
                   -1,
                   "bind to an address of nobody");
        test.Equal(second->GetErrno(), Socket::ERROR_ADDRNOTAVAIL, "its error");
        auto any = kernel.MakeSocket(UDP);
        any->Bind();
        Address address;
        any->GetSockName(address);
        test.Equal(InetSocketAddress::ConvertFrom(address).GetPort() != 0,
                   true,
                   "a port by the kernel's choice");
        test.Equal(any->GetPeerName(address), -1, "a peer without connection");
        test.Equal(any->GetErrno(), Socket::ERROR_NOTCONN, "its error");
        test.Equal(any->Bind(Inet6SocketAddress(Ipv6Address::GetAny(), 1)),
                   -1,
                   "one socket, two families");
        test.Equal(any->GetErrno(), Socket::ERROR_AFNOSUPPORT, "its error");
    });
    Simulator::Stop(Seconds(1));
    Simulator::Run();
}

/** Tests that sockets can bind to the same port if their addresses or devices differ, as in ns-3's
 * UDP. */
void
TestUdpNames(KernelSocketTestCase& test, NativeNode& kernel)
{
    auto first = kernel.MakeSocket(UDP);
    test.Equal(first->Bind(Local(7000)), 0, "bind before the start");
    auto second = kernel.MakeSocket(UDP);
    test.Equal(second->Bind(Local(7000)), -1, "the same name before the start");
    test.Equal(second->GetErrno(), Socket::ERROR_ADDRINUSE, "its error");
    Simulator::Schedule(MilliSeconds(50), [&] {
        test.Equal(second->Bind(Local(7000)), -1, "the same name");
        test.Equal(second->GetErrno(), Socket::ERROR_ADDRINUSE, "its error");
        test.Equal(second->Bind(InetSocketAddress(Ipv4Address::GetAny(), 7000)), 0, "any address");
        auto other = kernel.MakeSocket(UDP);
        test.Equal(other->Bind(Inet6SocketAddress(Ipv6Address::GetAny(), 7000)), 0, "of IPv6");
        first->Close();
    });
    Simulator::Schedule(MilliSeconds(100), [&] {
        auto again = kernel.MakeSocket(UDP);
        test.Equal(again->Bind(Local(7000)), 0, "a name that was given back");
        std::set<uint16_t> ports;
        for (int i = 0; i < 300; ++i)
        {
            auto any = kernel.MakeSocket(UDP);
            any->Bind();
            Address address;
            any->GetSockName(address);
            ports.insert(InetSocketAddress::ConvertFrom(address).GetPort());
        }
        test.Equal(ports.size(), 300u, "ports of the kernel's choice, all different");
    });
    Simulator::Stop(MilliSeconds(200));
    Simulator::Run();
}

void
TestOpenFiles(KernelSocketTestCase& test, NativeNode& kernel)
{
    const rlimit few{30, 30};
    prlimit(kernel.channel.GetPid(), RLIMIT_NOFILE, &few, nullptr);
    for (int i = 0; i < 40; ++i)
    {
        kernel.MakeSocket(UDP)->Bind();
    }
    std::string what = "no error";
    try
    {
        Simulator::Stop(MilliSeconds(200));
        Simulator::Run();
    }
    catch (const viaduct::Error& error)
    {
        what = error.what();
    }
    test.Equal(what,
               "kernel node n0: open a socket of protocol 17: Too many open files: close sockets, "
               "or spread the nodes over more guests (SetGuests())",
               "what is said");
}

/** Tests an agent that starts late and answers late, as on a busy machine: simulated time waits. */
void
TestSlowAgent(KernelSocketTestCase& test, NativeNode& kernel)
{
    const auto pause = [&kernel] {
        kill(kernel.channel.GetPid(), SIGSTOP);
        return std::jthread([pid = kernel.channel.GetPid()] {
            std::this_thread::sleep_for(std::chrono::milliseconds(400));
            kill(pid, SIGCONT);
        });
    };
    const auto start = pause();
    bool bound = false;
    Simulator::Schedule(MilliSeconds(50), [&] {
        const auto answer = pause();
        auto socket = kernel.MakeSocket(UDP);
        socket->Bind();
        Address address;
        socket->GetSockName(address);
        bound = InetSocketAddress::ConvertFrom(address).GetPort() != 0;
    });
    Simulator::Stop(MilliSeconds(60));
    Simulator::Run();
    test.Equal(bound, true, "a port by the kernel's choice");
}

void
TestLife(KernelSocketTestCase& test, NativeNode& kernel)
{
    Diary diary;
    auto listener = kernel.MakeSocket(TCP);
    listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), 5001));
    listener->Listen();
    diary.Accept(listener, true);
    auto client = kernel.MakeSocket(TCP);
    diary.Watch(client, "client");
    client->Connect(Local(5001));
    const auto happened = [&diary](const char* what) {
        return diary.text.find(what) != std::string::npos;
    };
    test.Equal(
        kernel.RunUntil([&] { return happened("client connected") && happened("accepted"); }),
        true,
        "what happened: " + diary.text);
    Address peer;
    Address name;
    diary.accepted->GetPeerName(peer);
    client->GetSockName(name);
    test.Equal(peer, name, "the names of both ends");
    diary.text.clear();
    client->Close();
    test.Equal(client->Send(Create<Packet>(1)), -1, "sending after Close()");
    kernel.RunPast([&] { return happened("server"); });
    test.Equal(diary.text, "server closed, ", "after the client's Close()");
    diary.accepted->Close();
    kernel.RunPast([&] { return happened("client"); });
    test.Equal(diary.text, "server closed, client closed, ", "after the server's Close()");
}

void
TestRefusals(KernelSocketTestCase& test, NativeNode& kernel)
{
    Diary diary;
    auto nobody = kernel.MakeSocket(TCP);
    diary.Watch(nobody, "first");
    nobody->Connect(Local(5999));
    auto listener = kernel.MakeSocket(TCP);
    listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), 5001));
    listener->Listen();
    diary.Accept(listener, false);
    auto unwanted = kernel.MakeSocket(TCP);
    diary.Watch(unwanted, "second");
    unwanted->Connect(Local(5001));
    auto nowhere = kernel.MakeSocket(TCP);
    diary.Watch(nowhere, "third");
    nowhere->Connect(InetSocketAddress(Ipv4Address("10.9.9.9"), 1));
    for (const char* what : {"first failed", "second connected", "second broken", "third failed"})
    {
        test.Equal(kernel.RunUntil([&] { return diary.text.find(what) != std::string::npos; }),
                   true,
                   std::string(what) + " is not in: " + diary.text);
    }
    test.Equal(nobody->GetErrno(), Socket::ERROR_NOTCONN, "refused");
    test.Equal(nowhere->GetErrno(), Socket::ERROR_NOROUTETOHOST, "no route");
}

void
TestBackPressure(KernelSocketTestCase& test, NativeNode& kernel)
{
    constexpr uint32_t CHUNK = 1000;
    uint32_t sent = 0;
    uint32_t received = 0;
    bool same = true;
    Ptr<Socket> reader;
    auto listener = kernel.MakeSocket(TCP);
    listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), 5001));
    listener->Listen();
    listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                Callback<void, Ptr<Socket>, const Address&>(
                                    [&](Ptr<Socket> socket, const Address&) { reader = socket; }));
    auto sender = kernel.MakeSocket(TCP);
    const auto fill = [&](Ptr<Socket> socket, uint32_t) {
        while (socket->GetTxAvailable() >= CHUNK && sent < 40000000)
        {
            test.Equal(socket->Send(Pattern(sent, CHUNK)), static_cast<int>(CHUNK), "send");
            sent += CHUNK;
        }
    };
    sender->SetSendCallback(Callback<void, Ptr<Socket>, uint32_t>(fill));
    sender->Connect(Local(5001));
    uint32_t stuck = 0;
    int unchanged = 0;
    // The last bytes are in transit while the receiver does not read: the sender's buffer must stay
    // full.
    const bool stays = kernel.RunUntil([&] {
        unchanged = std::exchange(stuck, sent) == sent ? unchanged + 1 : 0;
        return unchanged > 200 && sender->GetTxAvailable() < CHUNK && reader &&
               reader->GetRxAvailable() >= 131072;
    });
    test.Equal(stays, true, "no room while nobody reads");
    test.Equal(sender->Send(Create<Packet>(2 * CHUNK)), -1, "sending more");
    if (!reader)
    {
        return;
    }
    test.Equal(reader->GetRxAvailable(), 131072u, "what waits for the reader");
    const auto read = [&](Ptr<Socket> socket) {
        while (auto packet = socket->Recv(3333, 0))
        {
            const uint32_t size = packet->GetSize();
            std::vector<uint8_t> got(size);
            std::vector<uint8_t> expected(size);
            packet->CopyData(got.data(), size);
            Pattern(received, size)->CopyData(expected.data(), size);
            same = same && got == expected;
            received += size;
        }
    };
    reader->SetRecvCallback(Callback<void, Ptr<Socket>>(read));
    read(reader);
    test.Equal(
        kernel.RunUntil([&] { return sent > 2 * stuck; }), true, "room again once somebody reads");
    sender->SetSendCallback(MakeNullCallback<void, Ptr<Socket>, uint32_t>());
    kernel.RunPast([&] { return received >= sent; });
    test.Equal(received, sent, "bytes received");
    test.Equal(same, true, "bytes in their order");
}

void
TestOptions(KernelSocketTestCase& test, NativeNode& kernel)
{
    Simulator::Schedule(MilliSeconds(50), [&] {
        auto socket = kernel.MakeSocket(TCP);
        socket->SetAttribute("CongestionControl", StringValue("reno"));
        socket->SetAttribute("SndBufSize", UintegerValue(50000));
        socket->SetIpTos(0x28);
        socket->Bind();
        auto options = dynamic_cast<KernelSocketOptions*>(PeekPointer(socket));
        const auto value = [&](int level, int name) {
            int number = -1;
            const auto bytes = options->GetSockOpt(level, name);
            std::memcpy(&number, bytes.data(), std::min(bytes.size(), sizeof number));
            return number;
        };
        const auto name = options->GetSockOpt(IPPROTO_TCP, TCP_CONGESTION);
        const std::string padded(reinterpret_cast<const char*>(name.data()), name.size());
        test.Equal(std::string(padded.c_str()), "reno", "congestion");
        test.Equal(value(SOL_SOCKET, SO_SNDBUF), 100000, "the kernel doubles buffers");
        test.Equal(value(IPPROTO_TCP, TCP_NODELAY), 1, "as ns-3's default says");
        test.Equal(value(IPPROTO_IP, IP_TOS), 0x28, "type of service");
        socket->SetIpTtl(7);
        socket->Connect(Local(5001));
        test.Equal(value(IPPROTO_IP, IP_TTL), 7, "time to live");
        test.Equal(options->GetSockOpt(IPPROTO_TCP, 9999).empty(), true, "no such option");
        test.Equal(socket->GetErrno(), Socket::ERROR_OPNOTSUPP, "its error");
    });
    Simulator::Stop(MilliSeconds(200));
    Simulator::Run();
}

void
TestDatagrams(KernelSocketTestCase& test, NativeNode& kernel)
{
    auto receiver = kernel.MakeSocket(UDP);
    receiver->SetIpRecvTos(true);
    receiver->SetIpRecvTtl(true);
    receiver->Bind(InetSocketAddress(Ipv4Address::GetAny(), 7000));
    std::vector<uint32_t> sizes;
    uint8_t tos = 0;
    uint8_t ttl = 0;
    Address from;
    receiver->SetRecvCallback(Callback<void, Ptr<Socket>>([&](Ptr<Socket> socket) {
        while (auto packet = socket->RecvFrom(from))
        {
            sizes.push_back(packet->GetSize());
            SocketIpTosTag tosTag;
            SocketIpTtlTag ttlTag;
            tos = packet->PeekPacketTag(tosTag) ? tosTag.GetTos() : 0;
            ttl = packet->PeekPacketTag(ttlTag) ? ttlTag.GetTtl() : 0;
        }
    }));
    auto sender = kernel.MakeSocket(UDP);
    sender->SetIpTos(0x10);
    sender->SetIpTtl(9);
    for (const uint32_t size : {1u, 1400u, 60000u})
    {
        test.Equal(
            sender->SendTo(Pattern(0, size), 0, Local(7000)), static_cast<int>(size), "a datagram");
    }
    test.Equal(sender->SendTo(Create<Packet>(65508), 0, Local(7000)), -1, "too long a datagram");
    test.Equal(sender->GetErrno(), Socket::ERROR_MSGSIZE, "its error");
    kernel.RunPast([&] { return sizes.size() >= 3; });
    test.Equal(sizes.size(), 3u, "datagrams");
    test.Equal(sizes == std::vector<uint32_t>({1, 1400, 60000}), true, "their sizes");
    test.Equal(tos, 0x10, "type of service");
    test.Equal(ttl, 9, "time to live");
    Address name;
    sender->GetSockName(name);
    test.Equal(InetSocketAddress::ConvertFrom(from).GetPort(),
               InetSocketAddress::ConvertFrom(name).GetPort(),
               "the sender's port");
}

void
TestRaw(KernelSocketTestCase& test, NativeNode& kernel)
{
    auto raw = kernel.MakeSocket("ns3::Ipv4RawSocketFactory");
    raw->SetAttribute("Protocol", UintegerValue(1));
    raw->Bind();
    int replies = 0;
    raw->SetRecvCallback(Callback<void, Ptr<Socket>>([&](Ptr<Socket> socket) {
        while (auto packet = socket->Recv())
        {
            Ipv4Header ip;
            Icmpv4Header icmp;
            packet->RemoveHeader(ip);
            packet->RemoveHeader(icmp);
            replies += icmp.GetType() == Icmpv4Header::ICMPV4_ECHO_REPLY &&
                       ip.GetSource() == Ipv4Address("127.0.0.1");
        }
    }));
    Icmpv4Echo echo;
    echo.SetIdentifier(1);
    auto packet = Create<Packet>();
    packet->AddHeader(echo);
    Icmpv4Header header;
    header.SetType(Icmpv4Header::ICMPV4_ECHO);
    header.EnableChecksum();
    packet->AddHeader(header);
    raw->SendTo(packet, 0, Local(0));
    kernel.RunPast([&] { return replies >= 1; });
    test.Equal(replies, 1, "echo replies of the kernel");
}

void
TestRaw6(KernelSocketTestCase& test, NativeNode& kernel)
{
    auto raw = kernel.MakeSocket("ns3::Ipv6RawSocketFactory");
    raw->SetAttribute("Protocol", UintegerValue(58));
    int replies = 0;
    raw->SetRecvCallback(Callback<void, Ptr<Socket>>([&](Ptr<Socket> socket) {
        while (auto packet = socket->Recv())
        {
            Ipv6Header ip;
            Icmpv6Echo echo;
            packet->RemoveHeader(ip);
            packet->RemoveHeader(echo);
            replies += echo.GetType() == Icmpv6Header::ICMPV6_ECHO_REPLY && echo.GetId() == 7 &&
                       packet->GetSize() == 56 && ip.GetNextHeader() == 58 &&
                       ip.GetSource() == Ipv6Address("::1");
        }
    }));
    auto packet = Create<Packet>(56);
    Icmpv6Echo echo(true);
    echo.SetId(7);
    packet->AddHeader(echo);
    raw->SendTo(packet, 0, Inet6SocketAddress(Ipv6Address("::1"), 0));
    kernel.RunPast([&] { return replies >= 1; });
    test.Equal(replies, 1, "echo replies of the kernel");
}

} // namespace

/** The test suite of the kernel socket factories. */
class KernelSocketTestSuite : public TestSuite
{
  public:
    KernelSocketTestSuite() : TestSuite("viaduct-kernel-socket", Type::UNIT)
    {
        const auto add = [this](const char* name, auto scenario) {
            AddTestCase(new KernelSocketTestCase(name, scenario), Duration::QUICK);
        };
        add("BulkSend to PacketSink, TCP over IPv4", TestBulkSend);
        add("BulkSend to PacketSink, TCP over IPv6", TestBulkSend6);
        add("BulkSend to PacketSink, MPTCP", TestMptcp);
        add("OnOff to PacketSink, TCP and UDP", TestOnOff);
        add("UdpEcho", TestEcho);
        add("UdpClient and UdpServer", TestClientServer);
        add("names and their errors", TestNames);
        add("names of UDP sockets", TestUdpNames);
        add("more sockets than open files", TestOpenFiles);
        add("an agent on a busy machine", TestSlowAgent);
        add("a connection from handshake to close", TestLife);
        add("connections refused", TestRefusals);
        add("back-pressure both ways, bytes in order", TestBackPressure);
        add("options and attributes", TestOptions);
        add("datagrams: boundaries, sender, tags", TestDatagrams);
        add("raw sockets", TestRaw);
        add("raw sockets of IPv6", TestRaw6);
    }
};

static KernelSocketTestSuite g_kernelSocketTestSuite; //!< registers itself
