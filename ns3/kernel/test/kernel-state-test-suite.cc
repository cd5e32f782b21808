/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test/kernel-test-support.h"

#include "ns3/bulk-send-application.h"
#include "ns3/bulk-send-helper.h"
#include "ns3/inet-socket-address.h"
#include "ns3/kernel/kernel-application-helper.h"
#include "ns3/kernel/kernel-node.h"
#include "ns3/kernel/kernel-state.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

/**
 * @file
 * @ingroup viaduct
 * Tests of ns3::KernelState, which samples the state of a real kernel.
 */

using namespace ns3;

namespace
{

using viaducttest::KernelTestCase;

/** The rows of a file of comma-separated values; each row maps the names of the columns to
 * values. */
using Table = std::vector<std::map<std::string, std::string>>;

/** A test of the state of kernel nodes, with functions that make traffic and read files. */
class StateTestCase : public KernelTestCase
{
  public:
    using KernelTestCase::KernelTestCase;

  protected:
    /** Installs two TCP transfers from node 0 to node 1: one starts at 1 s, the second, with other
     * random numbers, at 5 s. @return the application of the first transfer */
    Ptr<Application> MakeTraffic(uint32_t bytes)
    {
        const auto any = InetSocketAddress(Ipv4Address::GetAny(), 5000);
        m_sink = PacketSinkHelper("ns3::TcpSocketFactory", any)
                     .Install(m_nodes.Get(1))
                     .Get(0)
                     ->GetObject<PacketSink>();
        BulkSendHelper source("ns3::TcpSocketFactory",
                              InetSocketAddress(m_interfaces.GetAddress(1), 5000));
        source.SetAttribute("MaxBytes", UintegerValue(bytes));
        auto first = source.Install(m_nodes.Get(0));
        first.Start(Seconds(1));
        source.Install(m_nodes.Get(0)).Start(Seconds(5));
        return first.Get(0);
    }

    void DoSetup() override
    {
        std::string name = std::filesystem::temp_directory_path() / "viaduct-state-XXXXXX";
        m_folder = mkdtemp(name.data());
    }

    void DoTeardown() override
    {
        std::filesystem::remove_all(m_folder);
    }

    Table Read(const std::string& file) const
    {
        std::ifstream stream(m_folder + "/" + file);
        const auto split = [&](std::vector<std::string>* fields) {
            std::string line;
            fields->clear();
            const bool more = static_cast<bool>(std::getline(stream, line));
            std::istringstream rest(line);
            for (std::string field; std::getline(rest, field, ',');)
            {
                fields->push_back(field);
            }
            return more;
        };
        std::vector<std::string> names;
        std::vector<std::string> fields;
        split(&names);
        Table table;
        while (split(&fields))
        {
            auto& row = table.emplace_back();
            for (size_t i = 0; i < names.size() && i < fields.size(); ++i)
            {
                row[names[i]] = fields[i];
            }
        }
        return table;
    }

    std::string m_folder;   //!< temporary folder of the files
    Ptr<PacketSink> m_sink; //!< receiver of the transfers of MakeTraffic()
};

/** Tests that the frames of a simulation are the same with and without sampling. */
class UnchangedTest : public StateTestCase
{
  public:
    UnchangedTest()
        : StateTestCase("The same frames, to the bit, with and without a look each 20 ms")
    {
    }

  private:
    std::string Trace(bool look)
    {
        Mac48Address::ResetAllocationIndex();
        m_trace.str("");
        KernelStackHelper stack;
        MakeLine(2, stack);
        Record(m_devices.Get(0));
        Record(m_devices.Get(1));
        MakeTraffic(300000);
        if (look)
        {
            KernelStackHelper::EnableStateCsv(m_folder + "/t", m_nodes, MilliSeconds(20));
        }
        Simulator::Stop(Seconds(6));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(m_sink->GetTotalRx(), 600000, "all of it arrives");
        m_sink = nullptr;
        Clear();
        return m_trace.str();
    }

    void RunWithKernel() override
    {
        const std::string without = Trace(false);
        const std::string with = Trace(true);
        const auto [a, b] = std::mismatch(without.begin(), without.end(), with.begin(), with.end());
        NS_TEST_EXPECT_MSG_EQ((without == with),
                              true,
                              "from byte "
                                  << (a - without.begin())
                                  << " on: " << std::string(a, std::min(a + 80, without.end()))
                                  << "; with: " << std::string(b, std::min(b + 80, with.end())));
    }
};

/** Tests the content of the files that KernelStackHelper::EnableStateCsv() writes. */
class CsvTest : public StateTestCase
{
  public:
    CsvTest() : StateTestCase("State of sockets, queueing disciplines and counters as CSV")
    {
    }

  private:
    void RunWithKernel() override
    {
        KernelStackHelper stack;
        stack.SetSysctl("net.ipv4.tcp_congestion_control", "reno");
        MakeLine(2, stack);
        Record(m_devices.Get(0));
        auto source = MakeTraffic(1000000);
        auto kernel = m_nodes.Get(0)->GetObject<KernelNode>();
        KernelStackHelper::EnableStateCsv(m_folder + "/t", m_nodes, MilliSeconds(20));
        uint64_t sent = 0;
        // Counts the sent bytes at 1.98 s, the time of the last sample.
        Simulator::Schedule(MilliSeconds(1980), [&] {
            sent = kernel->GetBridge(m_devices.Get(0))->GetNic().counters().tx_bytes;
        });
        std::vector<std::pair<uint32_t, uint32_t>> windows;
        Simulator::Schedule(MilliSeconds(1010), [&] {
            DynamicCast<BulkSendApplication>(source)->GetSocket()->TraceConnectWithoutContext(
                "CongestionWindow",
                Callback<void, uint32_t, uint32_t>(
                    [&](uint32_t before, uint32_t now) { windows.emplace_back(before, now); }));
        });
        Simulator::Stop(MilliSeconds(1990));
        Simulator::Run();
        m_sink = nullptr;
        Clear();
        CheckTcp(Read("t-0-tcp.csv"), windows);
        CheckQdisc(Read("t-0-qdisc.csv"), sent);
        CheckCounters(Read("t-0-nstat.csv"));
        NS_TEST_EXPECT_MSG_EQ(
            Read("t-1-tcp.csv").back()["received_bytes"], "1000001", "and the FIN");
    }

    void CheckTcp(const Table& table, const std::vector<std::pair<uint32_t, uint32_t>>& windows)
    {
        NS_TEST_ASSERT_MSG_GT(table.size(), 7, "a connection of some round trips");
        std::set<std::string> ids;
        size_t ticks = 0;
        for (const auto& row : table)
        {
            ids.insert(row.at("socket"));
            ticks += row.at("time_s").ends_with("0000000") ? 1 : 0;
            NS_TEST_EXPECT_MSG_EQ(row.at("peer"), "10.0.0.2", "its peer");
            NS_TEST_EXPECT_MSG_EQ(row.at("peer_port"), "5000", "its port");
            NS_TEST_EXPECT_MSG_EQ(row.at("congestion_control"), "reno", "as the node has it");
        }
        NS_TEST_EXPECT_MSG_EQ(ids.size(), 1, "one socket");
        // The first sample is at the time of the connect, which takes a microsecond of virtual
        // time; all later samples are at multiples of 20 ms.
        NS_TEST_EXPECT_MSG_EQ(ticks, table.size() - 1, "looked at when asked to");
        const auto& opening = table.front();
        NS_TEST_EXPECT_MSG_EQ(opening.at("time_s").substr(0, 7), "1.00000", "with the connect");
        NS_TEST_EXPECT_MSG_EQ(opening.at("state"), "SYN-SENT", "not answered yet");
        NS_TEST_EXPECT_MSG_EQ(opening.at("ssthresh_segments"), "", "none yet");
        const auto& last = table.back();
        NS_TEST_EXPECT_MSG_EQ(last.at("sent_bytes"), "1000000", "the payload");
        NS_TEST_EXPECT_MSG_GT(std::stoul(last.at("acked_bytes")), 500000, "most of it");
        NS_TEST_EXPECT_MSG_GT(std::stoul(last.at("cwnd_segments")), 100, "slow start");
        NS_TEST_EXPECT_MSG_EQ(last.at("retransmitted_segments"), "0", "nothing is lost");
        const double rtt = std::stod(table.at(3).at("rtt_us"));
        NS_TEST_EXPECT_MSG_EQ_TOL(rtt, 20500, 500, "the link's delay, there and back");
        NS_TEST_ASSERT_MSG_GT(windows.size(), 3, "the socket's own trace source");
        NS_TEST_EXPECT_MSG_EQ(windows.front().first, 0, "nothing before");
        NS_TEST_EXPECT_MSG_EQ(windows.back().second,
                              std::stoul(last.at("cwnd_segments")) *
                                  std::stoul(last.at("mss_bytes")),
                              "the same in bytes");
    }

    void CheckQdisc(const Table& table, uint64_t sent)
    {
        NS_TEST_ASSERT_MSG_EQ(table.size(), 100, "one device, one look each 20 ms");
        const auto& last = table.back();
        NS_TEST_EXPECT_MSG_EQ(last.at("device"), "eth0", "its name");
        NS_TEST_EXPECT_MSG_EQ(last.at("kind"), "pfifo_fast", "the kernel's default");
        NS_TEST_EXPECT_MSG_EQ(last.at("parent"), "root", "of the device");
        NS_TEST_EXPECT_MSG_EQ(last.at("sent_bytes"), std::to_string(sent), "as the device counts");
    }

    void CheckCounters(const Table& table)
    {
        std::map<std::string, std::string> values;
        for (const auto& row : table)
        {
            NS_TEST_EXPECT_MSG_NE(row.at("value"), values[row.at("counter")], "only changes");
            values[row.at("counter")] = row.at("value");
        }
        NS_TEST_EXPECT_MSG_EQ(values["TcpActiveOpens"], "1", "one connection");
        NS_TEST_EXPECT_MSG_GT(std::stoul(values["TcpOutSegs"]), 690, "1 MB of segments");
        NS_TEST_EXPECT_MSG_GT(std::stoul(values["TcpExtTCPDelivered"]), 690, "of netstat");
    }
};

/** Tests that samples include the sockets of programs. */
class ProgramTest : public StateTestCase
{
  public:
    ProgramTest() : StateTestCase("The state of a program's sockets")
    {
    }

  private:
    void RunWithKernel() override
    {
        KernelStackHelper stack;
        MakeLine(2, stack);
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), 5000));
        sink.Install(m_nodes.Get(1));
        KernelApplicationHelper program(
            {"bash", "-c", "exec 3<>/dev/tcp/10.0.0.2/5000; printf %5000s x >&3; sleep 9"});
        program.Install(m_nodes.Get(0)).Start(Seconds(1));
        uint64_t acked = 0;
        auto state = m_nodes.Get(0)->GetObject<KernelState>();
        state->TraceConnectWithoutContext(
            "TcpInfo", Callback<void, const KernelTcpInfo&>([&](const KernelTcpInfo& info) {
                acked = info.bytesAcked;
            }));
        state->SetAttribute("Interval", TimeValue(MilliSeconds(100)));
        Simulator::Stop(Seconds(2));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(acked, 5001, "what it sent, and the SYN");
    }
};

/** Tests that samples include the subflows of MPTCP as TCP sockets, and that the trace sources of
 * an MPTCP socket report its first subflow. */
class MptcpTest : public StateTestCase
{
  public:
    MptcpTest() : StateTestCase("The state of MPTCP's subflows")
    {
    }

  private:
    void RunWithKernel() override
    {
        KernelStackHelper stack;
        MakeLine(2, stack);
        const std::string factory = "ns3::KernelMptcpSocketFactory";
        PacketSinkHelper(factory, InetSocketAddress(Ipv4Address::GetAny(), 5000))
            .Install(m_nodes.Get(1));
        auto socket = Socket::CreateSocket(m_nodes.Get(0), TypeId::LookupByName(factory));
        uint32_t window = 0;
        socket->TraceConnectWithoutContext(
            "CongestionWindow",
            Callback<void, uint32_t, uint32_t>([&](uint32_t, uint32_t now) { window = now; }));
        socket->Connect(InetSocketAddress(m_interfaces.GetAddress(1), 5000));
        socket->Send(Create<Packet>(50000));
        uint64_t acked = 0;
        auto state = m_nodes.Get(0)->GetObject<KernelState>();
        state->TraceConnectWithoutContext(
            "TcpInfo", Callback<void, const KernelTcpInfo&>([&](const KernelTcpInfo& info) {
                acked = info.bytesAcked;
            }));
        state->SetAttribute("Interval", TimeValue(MilliSeconds(100)));
        Simulator::Stop(Seconds(1));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(acked, 50001, "what it sent, and the SYN");
        NS_TEST_EXPECT_MSG_GT(window, 14000, "at least the first ten segments");
    }
};

class KernelStateTestSuite : public TestSuite
{
  public:
    KernelStateTestSuite() : TestSuite("viaduct-kernel-state", Type::SYSTEM)
    {
        AddTestCase(new UnchangedTest, Duration::QUICK);
        AddTestCase(new CsvTest, Duration::QUICK);
        AddTestCase(new ProgramTest, Duration::QUICK);
        AddTestCase(new MptcpTest, Duration::QUICK);
    }
};

KernelStateTestSuite g_kernelStateTestSuite; //!< registers the suite

} // namespace
