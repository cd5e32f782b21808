/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/socket/test/host-socket-test-support.h"

#include "ns3/internet-stack-helper.h"
#include "ns3/olsr-helper.h"
#include "ns3/socket/host-socket.h"
#include "ns3/udp-socket-factory.h"

#include <cerrno>
#include <map>
#include <memory>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

/**
 * @file
 * @ingroup viaduct
 * Tests of the host's TCP sockets between two namespaces, and of the helper that installs them.
 */

using namespace ns3;
using viaduct::UniqueFd;
using viaducttest::ByteSink;
using viaducttest::ByteSource;
using viaducttest::Diary;
using viaducttest::HOST_TCP;
using viaducttest::HOST_UDP;
using viaducttest::HostPair;
using viaducttest::HostSocketTestCase;

namespace
{

constexpr uint16_t PORT = 5201;

/** A listening server that sends four bytes on a connection when the peer has ended its sending. */
struct Server
{
    explicit Server(Ptr<Socket> listener)
    {
        listener->SetAcceptCallback(
            MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
            Callback<void, Ptr<Socket>, const Address&>(
                [this](Ptr<Socket> socket, const Address&) { Accept(socket); }));
        listener->Listen();
    }

    void Accept(Ptr<Socket> socket)
    {
        ByteSink& sink = sinks[socket];
        socket->SetRecvCallback(
            Callback<void, Ptr<Socket>>([&sink](Ptr<Socket> from) { sink.Read(from); }));
        socket->SetCloseCallbacks(Callback<void, Ptr<Socket>>([&sink](Ptr<Socket> from) {
                                      sink.Read(from);
                                      sink.ended = true;
                                      from->Send(Create<Packet>(4));
                                      from->Close();
                                  }),
                                  MakeNullCallback<void, Ptr<Socket>>());
    }

    std::map<Ptr<Socket>, ByteSink> sinks;
};

/** A client that sends bytes and waits for the server's answer. */
struct Client
{
    Client(Ptr<Socket> socket, const Address& server, uint32_t bytes)
    {
        socket->SetConnectCallback(
            Callback<void, Ptr<Socket>>(
                [this, bytes](Ptr<Socket> connected) { source.Start(connected, bytes); }),
            MakeNullCallback<void, Ptr<Socket>>());
        socket->SetRecvCallback(Callback<void, Ptr<Socket>>([this](Ptr<Socket> from) {
            while (auto packet = from->Recv())
            {
                if (packet->GetSize() == 0)
                {
                    break;
                }
                answer += packet->GetSize();
            }
        }));
        socket->Connect(server);
    }

    ByteSource source;
    uint32_t answer = 0;
};

/** Runs `count` simultaneous transfers of different sizes. On each connection, first the client
 * ends its sending direction, then the server. */
void
TransferMany(HostSocketTestCase& test, HostPair& pair, bool ipv6, uint32_t count, uint32_t bytes)
{
    pair.Install();
    auto listener = pair.MakeSocket(1, HOST_TCP);
    test.Equal(listener->Bind(HostPair::At(ipv6, -1, PORT)), 0, "bound");
    Server server(listener);
    std::vector<std::unique_ptr<Client>> clients;
    for (uint32_t i = 0; i < count; ++i)
    {
        clients.push_back(std::make_unique<Client>(
            pair.MakeSocket(0, HOST_TCP), HostPair::At(ipv6, 1, PORT), bytes + i));
    }
    const bool done = pair.RunUntil([&] {
        return std::all_of(
            clients.begin(), clients.end(), [](const auto& client) { return client->answer == 4; });
    });
    test.Equal(done, true, "all are answered");
    test.Equal(server.sinks.size(), count, "connections");
    uint64_t received = 0;
    for (const auto& [socket, sink] : server.sinks)
    {
        test.Equal(sink.intact && sink.ended, true, "whole and ended");
        received += sink.received;
    }
    const uint64_t n = count;
    test.Equal(received, n * bytes + n * (n - 1) / 2, "bytes");
}

/** A TCP server on a plain socket of the kernel, without ns-3. */
struct PlainServer
{
    PlainServer(const HostPair& pair, int node, bool ipv6)
    {
        const viaduct::sys::NamespaceScope scope(pair.namespaces[node].get());
        listener = UniqueFd(viaduct::SystemCall(
            "socket", socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)));
        sockaddr_storage any{};
        any.ss_family = ipv6 ? AF_INET6 : AF_INET;
        // The port in sockaddr_in6 has the same offset.
        reinterpret_cast<sockaddr_in&>(any).sin_port = htons(PORT);
        viaduct::SystemCall("bind",
                            bind(listener.get(),
                                 reinterpret_cast<sockaddr*>(&any),
                                 ipv6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in)));
        viaduct::SystemCall("listen", listen(listener.get(), 10));
    }

    bool Accept()
    {
        if (!connection)
        {
            connection = UniqueFd(accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK));
        }
        return bool{connection};
    }

    /** Reads the available bytes; returns whether the end of the stream is reached. */
    bool Read()
    {
        std::array<uint8_t, 65536> buffer;
        ssize_t size = 0;
        while ((size = recv(connection.get(), buffer.data(), buffer.size(), 0)) > 0)
        {
            sink.Take(buffer.data(), static_cast<uint32_t>(size));
        }
        return size == 0;
    }

    UniqueFd listener;
    UniqueFd connection;
    ByteSink sink;
};

/** Tests that a reader that pauses stops the writer, and that all bytes arrive when the reader
 * continues. */
void
SlowReader(HostSocketTestCase& test, HostPair& pair, bool ipv6)
{
    constexpr uint32_t TOTAL = 64 << 20; // bytes, more than the kernel buffers
    pair.Install();
    PlainServer server(pair, 1, ipv6);
    Client client(pair.MakeSocket(0, HOST_TCP), HostPair::At(ipv6, 1, PORT), TOTAL);
    uint32_t before = 0;
    Time since;
    const bool stuck = pair.RunUntil([&] {
        server.Accept();
        if (std::exchange(before, client.source.sent) != client.source.sent)
        {
            since = Simulator::Now();
        }
        return client.source.sent > 0 && client.source.socket->GetTxAvailable() == 0 &&
               Simulator::Now() - since > MilliSeconds(300);
    });
    test.Equal(stuck, true, "the writer waits");
    test.Equal(client.source.sent < TOTAL, true, "buffers are bounded");
    const bool ended = pair.RunUntil([&] { return server.Read(); });
    test.Equal(ended, true, "the end arrives");
    test.Equal(server.sink.received, TOTAL, "bytes that the plain socket read");
    test.Equal(client.source.sent, TOTAL, "bytes that were sent");
    test.Equal(server.sink.intact, true, "in order");
}

/** Tests that a client is notified of a refused connection, and of a connection that the peer
 * resets. */
void
RefusedAndReset(HostSocketTestCase& test, HostPair& pair, bool ipv6)
{
    pair.Install();
    Diary diary;
    auto refused = pair.MakeSocket(0, HOST_TCP);
    diary.Watch(refused, "client");
    refused->Connect(HostPair::At(ipv6, 1, PORT));
    test.Equal(pair.RunUntil([&] { return !diary.text.empty(); }), true, "an answer");
    test.Equal(diary.text, std::string("client failed, "), "refused");
    test.Equal(refused->GetErrno(), Socket::ERROR_NOTCONN, "errno");

    diary.text.clear();
    PlainServer server(pair, 1, ipv6);
    auto reset = pair.MakeSocket(0, HOST_TCP);
    diary.Watch(reset, "client");
    reset->Connect(HostPair::At(ipv6, 1, PORT));
    pair.RunUntil([&] { return server.Accept() && !diary.text.empty(); });
    Address name;
    Address peer;
    reset->GetSockName(name);
    reset->GetPeerName(peer);
    test.Equal(peer == HostPair::At(ipv6, 1, PORT), true, "peer's name");
    test.Equal(name == peer, false, "own name");
    const linger atOnce{1, 0};
    setsockopt(server.connection.get(), SOL_SOCKET, SO_LINGER, &atOnce, sizeof atOnce);
    server.connection.reset();
    test.Equal(pair.RunUntil([&] { return diary.text != "client connected, "; }), true, "news");
    test.Equal(diary.text, std::string("client connected, client broken, "), "reset");
    test.Equal(reset->Send(Create<Packet>(1)), -1, "nothing can be sent");
}

/** Tests the results of Bind(), among them the errors for addresses that are in use, are not the
 * node's own, or are of the other family. */
void
Names(HostSocketTestCase& test, HostPair& pair)
{
    pair.Install();
    for (const std::string factory : {HOST_TCP, HOST_UDP})
    {
        auto first = pair.MakeSocket(0, factory);
        auto second = pair.MakeSocket(0, factory);
        auto foreign = pair.MakeSocket(0, factory);
        auto six = pair.MakeSocket(0, factory);
        test.Equal(first->Bind(HostPair::At(false, 0, 80)), 0, "bound");
        test.Equal(second->Bind(HostPair::At(false, 0, 80)), -1, "in use");
        test.Equal(second->GetErrno(), Socket::ERROR_ADDRINUSE, "errno");
        test.Equal(foreign->Bind(HostPair::At(false, 1, 80)), -1, "not the node's own");
        test.Equal(foreign->GetErrno(), Socket::ERROR_ADDRNOTAVAIL, "errno of it");
        test.Equal(six->Bind6(), 0, "any of IPv6");
        Address name;
        six->GetSockName(name);
        test.Equal(Inet6SocketAddress::ConvertFrom(name).GetPort() > 0, true, "the kernel's port");
        test.Equal(six->Bind(HostPair::At(false, 0, 81)), -1, "of the other family");
    }
}

/** @return the message of the Error that a function throws; empty: no error */
std::string
ErrorOf(const std::function<void()>& function)
{
    try
    {
        function();
    }
    catch (const viaduct::Error& error)
    {
        return error.what();
    }
    return "";
}

/** Tests that each impossible installation results in an error that names the reason. */
void
Refusals(HostSocketTestCase& test, HostPair& pair)
{
    const auto says = [&](const std::string& text, const std::function<void()>& function) {
        const std::string error = ErrorOf(function);
        test.Equal(error.find(text) != std::string::npos, true, text + " in: " + error);
    };
    says("no-such-namespace",
         [&] { HostSocketHelper().Install(pair.nodes[0], "no-such-namespace"); });
    pair.Install();
    says("already has kernel sockets", [&] { pair.Install(); });
    auto router = CreateObject<Node>();
    InternetStackHelper stack;
    stack.SetRoutingHelper(OlsrHelper());
    stack.Install(router);
    HostSocketHelper byDefault;
    byDefault.SetDefault(true);
    says("ns3::olsr::RoutingProtocol", [&] { byDefault.Install(router); });
    test.Equal(ErrorOf([&] { HostSocketHelper().Install(router); }), "", "by name");
    const auto own = router->GetObject<UdpSocketFactory>();
    test.Equal(DynamicCast<HostUdpDefaultSocketFactory>(own) == nullptr, true, "ns-3's own stays");
    Simulator::Destroy();
    GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::DefaultSimulatorImpl"));
    says("DefaultSimulatorImpl", [&] { HostSocketHelper().Install(CreateObject<Node>()); });
}

/** Tests that the simulation ends with an error if a listener gets no file descriptor for a
 * connection. */
void
NoDescriptors(HostSocketTestCase& test, HostPair& pair)
{
    pair.Install();
    auto listener = pair.MakeSocket(1, HOST_TCP);
    listener->Bind(HostPair::At(false, -1, PORT));
    Server server(listener);
    auto client = pair.MakeSocket(0, HOST_TCP);
    client->Bind(HostPair::At(false, -1, 0));
    client->Connect(HostPair::At(false, 1, PORT));
    rlimit before;
    getrlimit(RLIMIT_NOFILE, &before);
    const UniqueFd lowest(dup(pair.namespaces[0].get()));
    const rlimit none{static_cast<rlim_t>(lowest.get()) + 1, before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    const std::string error = ErrorOf([&] { pair.RunUntil([] { return false; }); });
    setrlimit(RLIMIT_NOFILE, &before);
    test.Equal(error, "accept a connection: Too many open files", "error");
}

class HostSocketTestSuite : public TestSuite
{
  public:
    HostSocketTestSuite() : TestSuite("viaduct-host-socket", Type::SYSTEM)
    {
        for (const bool ipv6 : {false, true})
        {
            const std::string family = ipv6 ? " (IPv6)" : " (IPv4)";
            Add("one transfer" + family,
                [=](auto& test, auto& pair) { TransferMany(test, pair, ipv6, 1, 3000000); });
            Add("no bytes, two connections" + family,
                [=](auto& test, auto& pair) { TransferMany(test, pair, ipv6, 2, 0); });
            Add("1,000 connections at once" + family,
                [=](auto& test, auto& pair) { TransferMany(test, pair, ipv6, 1000, 1000); });
            Add("a slow reader" + family,
                [=](auto& test, auto& pair) { SlowReader(test, pair, ipv6); });
            Add("refused and reset connections" + family,
                [=](auto& test, auto& pair) { RefusedAndReset(test, pair, ipv6); });
        }
        Add("names", Names);
        Add("refusals", Refusals);
        Add("no descriptors left", NoDescriptors);
    }

  private:
    void Add(const std::string& name,
             const std::function<void(HostSocketTestCase&, HostPair&)>& scenario)
    {
        AddTestCase(new HostSocketTestCase(name, scenario), Duration::QUICK);
    }
};

HostSocketTestSuite g_hostSocketTestSuite; //!< registers itself

} // namespace
