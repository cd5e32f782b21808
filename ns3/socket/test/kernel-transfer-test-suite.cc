/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test/kernel-pair-test-case.h"

#include "ns3/boolean.h"
#include "ns3/bulk-send-helper.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/error-model.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/ipv6-address-helper.h"
#include "ns3/on-off-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/pointer.h"
#include "ns3/socket/kernel-socket-stack.h"
#include "ns3/uinteger.h"

#include <cmath>
#include <map>
#include <numeric>
#include <utility>

/**
 * @file
 * @ingroup viaduct
 * Tests of every transport of a real kernel between two nodes, and of the interface of ns-3's
 * Socket.
 */

using namespace ns3;
using viaducttest::KernelHas;
using viaducttest::KernelPairTestCase;

namespace
{

const char* const TCP = "ns3::KernelTcpSocketFactory";
const char* const UDP = "ns3::KernelUdpSocketFactory";
const char* const SCTP = "ns3::KernelSctpSocketFactory";
const char* const DCCP = "ns3::KernelDccpSocketFactory";
const char* const MPTCP = "ns3::KernelMptcpSocketFactory";

/** The common part of the tests of transports. */
class PairTestCase : public KernelPairTestCase
{
  public:
    using KernelPairTestCase::KernelPairTestCase;

  protected:
    Ptr<Socket> MakeSocket(uint32_t node, const char* factory) const
    {
        return Socket::CreateSocket(m_nodes.Get(node), TypeId::LookupByName(factory));
    }

    /** @return the name of a test: "TCP over IPv6" */
    static std::string Name(const char* factory, bool ipv6)
    {
        const std::string name(factory);
        return name.substr(11, name.find("SocketFactory") - 11) +
               (ipv6 ? " over IPv6" : " over IPv4");
    }
};

/** Tests that every transport carries data of ns-3's applications, over both families. */
class TransportsTest : public PairTestCase
{
  public:
    TransportsTest() : PairTestCase("BulkSend and OnOff over every transport, IPv4 and IPv6")
    {
    }

  private:
    Ptr<PacketSink> Sink(const char* factory, bool ipv6)
    {
        PacketSinkHelper helper(factory, Any(ipv6, ++m_port));
        return DynamicCast<PacketSink>(helper.Install(m_nodes.Get(1)).Get(0));
    }

    Ptr<PacketSink> Bulk(const char* factory, bool ipv6)
    {
        auto sink = Sink(factory, ipv6);
        BulkSendHelper source(factory, Server(ipv6, m_port));
        source.SetAttribute("MaxBytes", UintegerValue(1000000));
        source.SetAttribute("SendSize", UintegerValue(1000));
        source.Install(m_nodes.Get(0)).Start(Seconds(1));
        return sink;
    }

    Ptr<PacketSink> OnOff(const char* factory, bool ipv6)
    {
        auto sink = Sink(factory, ipv6);
        OnOffHelper source(factory, Server(ipv6, m_port));
        source.SetConstantRate(DataRate("1Mbps"), 1000);
        source.SetAttribute("MaxBytes", UintegerValue(100000));
        source.Install(m_nodes.Get(0)).Start(Seconds(1));
        return sink;
    }

    void RunWithKernel() override
    {
        MakePair();
        std::vector<std::pair<std::string, Ptr<PacketSink>>> bulks;
        std::vector<std::pair<std::string, Ptr<PacketSink>>> onOffs;
        for (const bool ipv6 : {false, true})
        {
            for (const char* factory : {TCP, MPTCP, SCTP})
            {
                bulks.emplace_back(Name(factory, ipv6), Bulk(factory, ipv6));
            }
            for (const char* factory : {TCP, MPTCP, SCTP, UDP, DCCP})
            {
                if (factory == DCCP && !KernelHas("CONFIG_IP_DCCP"))
                {
                    continue;
                }
                onOffs.emplace_back(Name(factory, ipv6), OnOff(factory, ipv6));
            }
        }
        Run(Seconds(4));
        for (const auto& [name, sink] : bulks)
        {
            NS_TEST_EXPECT_MSG_EQ(sink->GetTotalRx(), 1000000, "BulkSend, " << name);
        }
        for (const auto& [name, sink] : onOffs)
        {
            NS_TEST_EXPECT_MSG_EQ(sink->GetTotalRx(), 100000, "OnOff, " << name);
        }
    }

    uint16_t m_port{5000}; //!< the last port used
};

/** Records the events of sockets with their times. */
class Diary
{
  public:
    /**
     * Sets all callbacks of a socket.
     * @param socket the socket
     * @param who the socket's name
     */
    void Watch(Ptr<Socket> socket, const std::string& who)
    {
        const auto note = [this, who](const char* what) {
            return Callback<void, Ptr<Socket>>([this, who, what](Ptr<Socket>) { Add(who, what); });
        };
        socket->SetConnectCallback(note("connected"), note("failed"));
        socket->SetCloseCallbacks(note("closed"), note("broken"));
        socket->SetRecvCallback(Callback<void, Ptr<Socket>>([this, who](Ptr<Socket> reader) {
            while (auto packet = reader->Recv())
            {
                if (packet->GetSize() == 0)
                {
                    break;
                }
                Add(who, "got " + std::to_string(packet->GetSize()));
            }
        }));
    }

    /** Stores the socket that a listener accepts in `server`, and records its events as "server".
     */
    void Accept(Ptr<Socket> listener)
    {
        listener->SetAcceptCallback(
            MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
            Callback<void, Ptr<Socket>, const Address&>([this](Ptr<Socket> socket, const Address&) {
                server = socket;
                Watch(socket, "server");
                Add("server", "accepted");
            }));
    }

    /** @return the events since the last call, in order */
    std::string Take()
    {
        return std::exchange(m_text, "");
    }

    Ptr<Socket> server;               //!< the accepted socket
    std::map<std::string, Time> when; //!< time of the last occurrence of each event

  private:
    void Add(const std::string& who, const std::string& what)
    {
        m_text += (m_text.empty() ? "" : ", ") + who + " " + what;
        when[who + " " + what] = Simulator::Now();
    }

    std::string m_text;
};

/** Tests handshake, data, half close and close over TCP, MPTCP and DCCP. */
class LifeTest : public PairTestCase
{
  public:
    LifeTest() : PairTestCase("TCP, MPTCP and DCCP, from handshake to close")
    {
    }

  private:
    void Live(const char* factory, bool ipv6)
    {
        const std::string name = Name(factory, ipv6);
        // SCTP and DCCP close both directions of a connection together.
        const bool halves = factory == TCP || factory == MPTCP;
        MakePair();
        Diary diary;
        auto listener = MakeSocket(1, factory);
        listener->Bind(Any(ipv6, 5000));
        listener->Listen();
        diary.Accept(listener);
        auto client = MakeSocket(0, factory);
        diary.Watch(client, "client");
        Simulator::Schedule(Seconds(1), [&] {
            NS_TEST_EXPECT_MSG_EQ(client->Connect(Server(ipv6, 5000)), 0, name);
            NS_TEST_EXPECT_MSG_EQ(diary.Take(), "", "connecting takes time: " << name);
        });
        Simulator::Schedule(MilliSeconds(1200), [&] {
            const std::string both = diary.Take();
            NS_TEST_EXPECT_MSG_NE(both.find("server accepted"), std::string::npos, name << both);
            NS_TEST_EXPECT_MSG_NE(both.find("client connected"), std::string::npos, name << both);
            NS_TEST_ASSERT_MSG_NE(diary.server, nullptr, name);
            client->Send(Create<Packet>(700));
        });
        Simulator::Schedule(MilliSeconds(1300), [&] {
            NS_TEST_EXPECT_MSG_EQ(diary.Take(), "server got 700", name);
            diary.server->Send(Create<Packet>(300));
        });
        Simulator::Schedule(MilliSeconds(1400), [&] {
            NS_TEST_EXPECT_MSG_EQ(diary.Take(), "client got 300", name);
            if (halves)
            {
                client->ShutdownSend();
                NS_TEST_EXPECT_MSG_EQ(client->Send(Create<Packet>(1)), -1, name);
                NS_TEST_EXPECT_MSG_EQ(client->GetErrno(), Socket::ERROR_SHUTDOWN, name);
            }
        });
        Simulator::Schedule(MilliSeconds(1500), [&] {
            NS_TEST_EXPECT_MSG_EQ(diary.Take(), (halves ? "server closed" : ""), name);
            diary.server->Send(Create<Packet>(200)); // the direction to the client is still open
        });
        Simulator::Schedule(MilliSeconds(1600), [&] {
            NS_TEST_EXPECT_MSG_EQ(diary.Take(), "client got 200", name);
            diary.server->Close();
        });
        Simulator::Schedule(MilliSeconds(1700), [&] {
            const std::string ends = diary.Take();
            NS_TEST_EXPECT_MSG_NE(ends.find("client closed"), std::string::npos, name << ends);
            client->Close();
        });
        Run(Seconds(2));
        NS_TEST_EXPECT_MSG_EQ_TOL((diary.when["client connected"] - Seconds(1)).GetSeconds(),
                                  // SCTP's handshake takes two round trips.
                                  (factory == SCTP ? 0.04 : 0.02),
                                  0.001,
                                  "the handshake's time: " << name);
        End();
    }

    void RunWithKernel() override
    {
        for (const char* factory : {TCP, MPTCP, DCCP})
        {
            if (factory == DCCP && !KernelHas("CONFIG_IP_DCCP"))
            {
                continue;
            }
            for (const bool ipv6 : {false, true})
            {
                Live(factory, ipv6);
            }
        }
    }

    void End()
    {
        m_interfaces6 = Ipv6InterfaceContainer();
        Clear();
    }
};

/** Tests that SCTP messages that exceed the socket's buffer, which SCTP delivers in parts, reach
 * the application as complete messages. */
class LongMessagesTest : public PairTestCase
{
  public:
    LongMessagesTest() : PairTestCase("SCTP messages longer than the receive buffer, whole")
    {
    }

  private:
    void RunWithKernel() override
    {
        Config::SetDefault("ns3::KernelMessageSocket::RcvBufSize", UintegerValue(20000));
        MakePair();
        PacketSinkHelper helper(SCTP, Any(false, 5000));
        auto sink = DynamicCast<PacketSink>(helper.Install(m_nodes.Get(1)).Get(0));
        uint32_t whole = 0;
        uint32_t others = 0;
        sink->TraceConnectWithoutContext("Rx",
                                         Callback<void, Ptr<const Packet>, const Address&>(
                                             [&](Ptr<const Packet> packet, const Address&) {
                                                 ++(packet->GetSize() == 60000 ? whole : others);
                                             }));
        BulkSendHelper source(SCTP, Server(false, 5000));
        source.SetAttribute("MaxBytes", UintegerValue(600000));
        source.SetAttribute("SendSize", UintegerValue(60000));
        source.Install(m_nodes.Get(0)).Start(Seconds(1));
        Run(Seconds(10));
        Config::SetDefault("ns3::KernelMessageSocket::RcvBufSize", UintegerValue(131072));
        NS_TEST_EXPECT_MSG_EQ(whole, 10, "whole messages");
        NS_TEST_EXPECT_MSG_EQ(others, 0, "parts of them");
    }
};

/** Tests DCCP under loss: CCID 2 halves its window at a loss (RFC 4341), CCID 3 changes its rate
 * slowly (RFC 4342). */
class CcidTest : public PairTestCase
{
  public:
    CcidTest() : PairTestCase("DCCP with CCID 2 and 3 under loss")
    {
    }

  private:
    /** @return the rate in Mbit/s in each of 20 intervals of 100 ms */
    std::vector<double> RatesOf(uint32_t ccid)
    {
        Config::SetDefault("ns3::KernelDccpSocket::Ccid", UintegerValue(ccid));
        MakePair("10Mbps");
        auto losses = CreateObject<RateErrorModel>();
        losses->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        losses->SetRate(0.01);
        losses->AssignStreams(1);
        m_devices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(losses));
        PacketSinkHelper helper(DCCP, Any(false, 5000));
        auto sink = DynamicCast<PacketSink>(helper.Install(m_nodes.Get(1)).Get(0));
        OnOffHelper source(DCCP, Server(false, 5000));
        source.SetConstantRate(DataRate("10Mbps"), 1000);
        source.Install(m_nodes.Get(0)).Start(Seconds(1));
        std::vector<double> rates;
        uint64_t before = 0;
        for (int i = 0; i <= 20; ++i)
        {
            Simulator::Schedule(Seconds(2) + MilliSeconds(100) * i, [&, sink] {
                rates.push_back(8e-5 * static_cast<double>(sink->GetTotalRx() - before));
                before = sink->GetTotalRx();
            });
        }
        Run(Seconds(4.1));
        Config::SetDefault("ns3::KernelDccpSocket::Ccid", UintegerValue(0));
        m_interfaces6 = Ipv6InterfaceContainer();
        Clear();
        return {rates.begin() + 1, rates.end()};
    }

    static double MeanOf(const std::vector<double>& values)
    {
        return std::accumulate(values.begin(), values.end(), 0.0) /
               static_cast<double>(values.size());
    }

    /** @return the mean absolute change between consecutive values */
    static double StepOf(const std::vector<double>& values)
    {
        double sum = 0;
        for (size_t i = 1; i < values.size(); ++i)
        {
            sum += std::abs(values[i] - values[i - 1]);
        }
        return sum / static_cast<double>(values.size() - 1);
    }

    void RunWithKernel() override
    {
        if (!KernelHas("CONFIG_IP_DCCP"))
        {
            std::cout << "SKIPPED " << GetName() << ": this kernel has no DCCP" << std::endl;
            return;
        }
        const auto two = RatesOf(2);
        const auto three = RatesOf(3);
        NS_TEST_EXPECT_MSG_GT(MeanOf(two), 2, "Mbit/s with CCID 2");
        NS_TEST_EXPECT_MSG_GT(MeanOf(three), 2, "Mbit/s with CCID 3");
        NS_TEST_EXPECT_MSG_GT(StepOf(two), 0.5, "CCID 2 halves and doubles, from 0.1 s to 0.1 s");
        NS_TEST_EXPECT_MSG_LT(StepOf(three), 0.3, "CCID 3 does not");
    }
};

/** Tests that the end that closes a connection first is notified when the connection ends, and that
 * the socket of this end is then released. */
class ClosedTest : public PairTestCase
{
  public:
    ClosedTest() : PairTestCase("Connections that their opener closes, served by kernel and agent")
    {
    }

  private:
    void Count(Ptr<Socket> socket, const char* who)
    {
        socket->SetCloseCallbacks(
            Callback<void, Ptr<Socket>>([this, who](Ptr<Socket> closed) {
                ++m_counts[who];
                closed->Close();
            }),
            Callback<void, Ptr<Socket>>([this](Ptr<Socket>) { ++m_counts["broken"]; }));
    }

    void Open(const char* factory)
    {
        auto client = MakeSocket(0, factory);
        client->SetConnectCallback(Callback<void, Ptr<Socket>>([](Ptr<Socket> connected) {
                                       connected->Send(Create<Packet>(500));
                                       connected->Close();
                                   }),
                                   MakeNullCallback<void, Ptr<Socket>>());
        Count(client, "openers");
        client->Connect(Server(false, 5000));
    }

    void RunOne(const char* factory, bool served)
    {
        KernelStackHelper stack;
        stack.SetAttribute("ServeSockets", BooleanValue(served));
        MakePair("100Mbps", stack);
        m_counts.clear();
        auto listener = MakeSocket(1, factory);
        listener->Bind(Any(false, 5000));
        listener->Listen();
        listener->SetAcceptCallback(
            MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
            Callback<void, Ptr<Socket>, const Address&>(
                [this](Ptr<Socket> socket, const Address&) { Count(socket, "listeners"); }));
        listener->SetRecvCallback(Callback<void, Ptr<Socket>>([](Ptr<Socket> socket) {
            while (auto packet = socket->Recv())
            {
                if (packet->GetSize() == 0)
                {
                    return;
                }
            }
        }));
        for (uint32_t i = 1; i <= 20; ++i)
        {
            Simulator::Schedule(MilliSeconds(100 * i), [this, factory] { Open(factory); });
        }
        Run(Seconds(10));
        const std::string what = Name(factory, false) + (served ? ", served by the kernel" : "");
        const auto open = [this](uint32_t node) {
            return m_nodes.Get(node)->GetObject<KernelSocketStack>()->GetOpenSockets().size();
        };
        NS_TEST_EXPECT_MSG_EQ(m_counts["openers"], 20, "told their openers, " << what);
        NS_TEST_EXPECT_MSG_EQ(m_counts["listeners"], 20, "told the others, " << what);
        NS_TEST_EXPECT_MSG_EQ(m_counts["broken"], 0, "broken, " << what);
        NS_TEST_EXPECT_MSG_EQ(open(0), 0, "open at their openers, " << what);
        NS_TEST_EXPECT_MSG_EQ(open(1), 1, "the listener alone is open, " << what);
        m_interfaces6 = Ipv6InterfaceContainer();
        Clear();
    }

    void RunWithKernel() override
    {
        for (const char* factory : {TCP, MPTCP, SCTP, DCCP})
        {
            if (factory == DCCP && !KernelHas("CONFIG_IP_DCCP"))
            {
                continue;
            }
            RunOne(factory, true);
            RunOne(factory, false);
        }
    }

    /** Number of close notifications by end of the connection; key of errors: "broken". */
    std::map<std::string, uint32_t> m_counts;
};

class KernelTransferTestSuite : public TestSuite
{
  public:
    KernelTransferTestSuite() : TestSuite("viaduct-kernel-transfer", Type::SYSTEM)
    {
        AddTestCase(new TransportsTest, Duration::QUICK);
        AddTestCase(new LifeTest, Duration::QUICK);
        AddTestCase(new LongMessagesTest, Duration::QUICK);
        AddTestCase(new ClosedTest, Duration::QUICK);
        AddTestCase(new CcidTest, Duration::QUICK);
    }
};

KernelTransferTestSuite g_kernelTransferTestSuite; //!< registers itself

} // namespace
