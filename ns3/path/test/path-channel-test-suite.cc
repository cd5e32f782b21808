/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/base/path-seed.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/flow-id-tag.h"
#include "ns3/global-value.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/names.h"
#include "ns3/offload/lab-helper.h"
#include "ns3/packet-socket-helper.h"
#include "ns3/path/packet-store.h"
#include "ns3/path/path-channel.h"
#include "ns3/path/path-helper.h"
#include "ns3/path/path-net-device.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/udp-socket-factory.h"

#include "ns3/path/test/path-test-link.h"

#include "base/error.h"
#include "path/pipeline.h"

#include <array>
#include <map>
#include <set>
#include <vector>

/**
 * @file
 * @ingroup viaduct
 * Tests of ns3::PathChannel, ns3::PathNetDevice and ns3::PacketStore.
 */

using namespace ns3;
using viaduct::path::Fate;
using viaduct::path::ParseSpec;
using viaducttest::TestLink;

namespace
{

/** @return the length of a frame with @p payload bytes of payload */
constexpr uint32_t
FrameSize(uint32_t payload)
{
    return payload + 14;
}

/** Packets arrive at the exact times that the delay and the rate determine. */
class TimeTestCase : public TestCase
{
  public:
    TimeTestCase() : TestCase("delay and rate are exact to the nanosecond, in each direction")
    {
    }

  private:
    void DoRun() override
    {
        TestLink link("delay=3ms rate=8Mbit", "delay=7ms");
        link.SendAt(0, MilliSeconds(1), Create<Packet>(486));
        link.SendAt(0, MilliSeconds(1), Create<Packet>(986));
        link.SendAt(1, MilliSeconds(2), Create<Packet>(100));
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(link.arrivals[1].size(), 2, "up");
        // The frame of 500 bytes takes 0.5 ms at 8 Mbit/s, and then the frame of 1000 bytes takes 1
        // ms.
        NS_TEST_EXPECT_MSG_EQ(link.arrivals[1][0].at, MicroSeconds(4500), "first");
        NS_TEST_EXPECT_MSG_EQ(link.arrivals[1][1].at, MicroSeconds(5500), "behind it");
        NS_TEST_ASSERT_MSG_EQ(link.arrivals[0].size(), 1, "down");
        NS_TEST_EXPECT_MSG_EQ(link.arrivals[0][0].at, MilliSeconds(9), "no rate");
        NS_TEST_EXPECT_MSG_EQ(link.path->GetCounters(0).delivered_bytes,
                              FrameSize(486) + FrameSize(986),
                              "frames count with their Ethernet header");
        Simulator::Destroy();
    }
};

/** Tests that packets keep their uid and tags, and also their bytes unless there are bit errors. */
class IdentityTestCase : public TestCase
{
  public:
    IdentityTestCase() : TestCase("packets keep uid, packet tags and byte tags")
    {
    }

  private:
    /**
     * @param spec a SPEC that delivers the packet
     * @return the payload that arrived
     */
    std::vector<uint8_t> Check(const std::string& spec)
    {
        TestLink link(spec, spec);
        std::vector<uint8_t> payload(1000, 0x55);
        auto packet = Create<Packet>(payload.data(), payload.size());
        packet->AddPacketTag(FlowIdTag(7));
        packet->AddByteTag(FlowIdTag(9));
        link.SendAt(0, Seconds(0), packet);
        const uint64_t uid = packet->GetUid();
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(link.arrivals[1].size(), 1, spec);
        std::vector<uint8_t> received;
        if (!link.arrivals[1].empty())
        {
            Ptr<Packet> arrived = link.arrivals[1][0].packet;
            FlowIdTag tag;
            NS_TEST_EXPECT_MSG_EQ(arrived->GetUid(), uid, spec);
            NS_TEST_EXPECT_MSG_EQ(arrived->PeekPacketTag(tag), true, spec);
            NS_TEST_EXPECT_MSG_EQ(tag.GetFlowId(), 7, spec);
            NS_TEST_EXPECT_MSG_EQ(arrived->FindFirstMatchingByteTag(tag), true, spec);
            NS_TEST_EXPECT_MSG_EQ(tag.GetFlowId(), 9, spec);
            received.resize(arrived->GetSize());
            arrived->CopyData(received.data(), received.size());
        }
        Simulator::Destroy();
        return received;
    }

    void DoRun() override
    {
        const std::vector<uint8_t> sent(1000, 0x55);
        NS_TEST_EXPECT_MSG_EQ((Check("delay=1ms") == sent), true, "unchanged");
        // FQ-CoDel reads the bytes of every packet, and changes none.
        NS_TEST_EXPECT_MSG_EQ((Check("rate=10Mbit aqm=fq_codel") == sent), true, "looked at");
        GlobalValue::Bind("ChecksumEnabled", BooleanValue(true));
        const auto received = Check("ber=1e-2");
        GlobalValue::Bind("ChecksumEnabled", BooleanValue(false));
        NS_TEST_ASSERT_MSG_EQ(received.size(), sent.size(), "length");
        uint32_t flipped = 0;
        for (size_t i = 0; i < sent.size(); i++)
        {
            flipped += __builtin_popcount(received[i] ^ sent[i]);
        }
        // The expected number of flipped bits is 80 of 8000; 5 sigma are 45.
        NS_TEST_EXPECT_MSG_GT(flipped, 35, "bits were flipped");
        NS_TEST_EXPECT_MSG_LT(flipped, 125, "as many as asked for");
    }
};

/** Packets with bit errors are dropped while checksums are off. */
class CorruptionTestCase : public TestCase
{
  public:
    CorruptionTestCase() : TestCase("corrupted packets are never taken for good ones")
    {
    }

  private:
    void DoRun() override
    {
        TestLink link("ber=1e-2", "");
        std::map<PathNetDevice::DropReason, int> drops;
        link.devices.Get(1)->TraceConnectWithoutContext(
            "MacRxDrop",
            Callback<void, Ptr<const Packet>, PathNetDevice::DropReason>(
                [&](Ptr<const Packet>, PathNetDevice::DropReason reason) { drops[reason]++; }));
        for (int i = 0; i < 50; i++)
        {
            link.SendAt(0, MilliSeconds(i), Create<Packet>(1000));
        }
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(link.arrivals[1].size(), 0, "no checksums: dropped like a bad FCS");
        NS_TEST_EXPECT_MSG_EQ(drops[PathNetDevice::RX_CORRUPTED], 50, "with the reason");
        NS_TEST_EXPECT_MSG_EQ(link.path->GetCounters(0).corrupted, 50, "counted");
        Simulator::Destroy();
    }
};

/** UDP over a channel with bit errors delivers only correct datagrams. */
class ChecksumTestCase : public TestCase
{
  public:
    ChecksumTestCase() : TestCase("UDP over bit errors delivers only what was sent")
    {
    }

  private:
    void DoRun() override
    {
        GlobalValue::Bind("ChecksumEnabled", BooleanValue(true));
        NodeContainer nodes(2);
        PathHelper helper;
        helper.SetChannelAttribute("Up", StringValue("delay=1ms ber=1e-4"));
        NetDeviceContainer devices = helper.Install(nodes);
        InternetStackHelper().Install(nodes);
        Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(devices);
        Ptr<Socket> receiver = Socket::CreateSocket(nodes.Get(1), UdpSocketFactory::GetTypeId());
        receiver->Bind(InetSocketAddress(Ipv4Address::GetAny(), 9));
        const std::vector<uint8_t> payload(1000, 0x55);
        uint32_t good = 0;
        uint32_t bad = 0;
        auto receive = [&](Ptr<Socket> socket) {
            while (Ptr<Packet> packet = socket->Recv())
            {
                std::vector<uint8_t> bytes(packet->GetSize());
                packet->CopyData(bytes.data(), bytes.size());
                (bytes == payload ? good : bad)++;
            }
        };
        receiver->SetRecvCallback(Callback<void, Ptr<Socket>>(receive));
        Ptr<Socket> sender = Socket::CreateSocket(nodes.Get(0), UdpSocketFactory::GetTypeId());
        sender->Connect(InetSocketAddress("10.0.0.2", 9));
        for (int i = 0; i < 1000; i++)
        {
            auto send = [&]() { sender->Send(payload.data(), payload.size(), 0); };
            Simulator::ScheduleWithContext(nodes.Get(0)->GetId(), MilliSeconds(10 * i), send);
        }
        Simulator::Run();
        auto path = DynamicCast<PathChannel>(devices.Get(0)->GetChannel());
        // (1 - 1e-4)^8224 = 44% of the packets have no error; 5 sigma for 1000 packets are 79.
        NS_TEST_EXPECT_MSG_GT(path->GetCounters(0).corrupted, 450, "bit errors");
        NS_TEST_EXPECT_MSG_EQ(bad, 0, "none of them delivered");
        NS_TEST_EXPECT_MSG_GT(good, 350, "what had none was");
        NS_TEST_EXPECT_MSG_LT(good, 530, "and no more");
        Simulator::Destroy();
        GlobalValue::Bind("ChecksumEnabled", BooleanValue(false));
    }
};

/** A store for a pipeline that the test runs without a channel; all frames share the same bytes. */
class PlainStore : public viaduct::path::FrameStore
{
  public:
    std::span<std::byte> Bytes(viaduct::path::FrameHandle) override
    {
        return m_bytes;
    }

    std::optional<viaduct::path::FrameHandle> Clone(viaduct::path::FrameHandle frame) override
    {
        return frame;
    }

    void CompleteChecksum(viaduct::path::FrameHandle) override
    {
    }

    void Free(viaduct::path::FrameHandle) override
    {
    }

  private:
    std::array<std::byte, 2000> m_bytes{}; //!< the bytes of every frame
};

/** A packet's fate for comparison: number, fate, time in nanoseconds, duplicate, corrupted. */
using FateLine = std::tuple<uint64_t, Fate, int64_t, bool, bool>;

/** Collects the fates that a pipeline reports. */
class FateList : public viaduct::path::FateObserver
{
  public:
    void OnFate(const viaduct::path::Packet& packet, Fate fate, viaduct::Instant at) override
    {
        lines.emplace_back(
            packet.number, fate, at.nanoseconds(), packet.duplicate, packet.corrupted);
    }

    std::vector<FateLine> lines; //!< fates in order
};

/** Packets have the same fates in a channel as in a pipeline with the same seed and name. */
class FatesTestCase : public TestCase
{
  public:
    FatesTestCase() : TestCase("fates are the pipeline's own for this seed, name and direction")
    {
    }

  private:
    static constexpr int PACKETS = 500; //!< packets sent, enough for every kind of fate
    static constexpr const char* SPEC =
        "loss=5% dup=3% rate=10Mbit queue=20p delay=5ms jitter=1ms order=free";

    /** @return the time at which packet @p i is sent: ten packets at once, then a pause */
    static Time SentAt(int i)
    {
        return MilliSeconds(8 * (i / 10));
    }

    std::vector<FateLine> ByChannel(uint32_t from) const
    {
        TestLink link(SPEC, SPEC);
        std::vector<FateLine> lines;
        auto record = [&](Ptr<const Packet>, const PathFate& fate) {
            lines.emplace_back(
                fate.number, fate.fate, fate.at.GetNanoSeconds(), fate.duplicate, fate.corrupted);
        };
        link.path->TraceConnectWithoutContext(
            "Fate", Callback<void, Ptr<const Packet>, const PathFate&>(record));
        for (int i = 0; i < PACKETS; i++)
        {
            link.SendAt(from, SentAt(i), Create<Packet>(986));
        }
        Simulator::Run();
        Simulator::Destroy();
        return lines;
    }

    static std::vector<FateLine> ByHand(const std::string& name)
    {
        PlainStore store;
        FateList list;
        viaduct::path::PipelineOptions options;
        options.seed = PathSeed();
        options.name = name;
        viaduct::path::Pipeline pipeline(ParseSpec(SPEC), store, options);
        pipeline.SetObserver(&list);
        std::array<viaduct::path::Departure, 16> out;
        auto advance = [&](viaduct::Instant to) {
            while (pipeline.NextEvent() <= to && pipeline.NextEvent() < viaduct::Instant::Never())
            {
                pipeline.Pop(pipeline.NextEvent(), out);
            }
        };
        for (int i = 0; i < PACKETS; i++)
        {
            const auto now = viaduct::Instant::FromNanoseconds(SentAt(i).GetNanoSeconds());
            advance(now);
            pipeline.Push(0, FrameSize(986), now);
        }
        advance(viaduct::Instant::FromNanoseconds(1'000'000'000'000));
        return list.lines;
    }

    void DoRun() override
    {
        const uint32_t seed = RngSeedManager::GetSeed();
        RngSeedManager::SetSeed(42);
        const auto up = ByChannel(0);
        NS_TEST_EXPECT_MSG_EQ((up == ByHand("wire/up")), true, "up");
        NS_TEST_EXPECT_MSG_EQ((ByChannel(1) == ByHand("wire/down")), true, "down");
        NS_TEST_EXPECT_MSG_EQ((up == ByHand("wire/down")), false, "streams of their own");
        std::map<Fate, int> causes;
        for (const FateLine& line : up)
        {
            causes[std::get<Fate>(line)]++;
        }
        NS_TEST_EXPECT_MSG_GT(causes[Fate::kLost], 5, "something was lost");
        NS_TEST_EXPECT_MSG_GT(causes[Fate::kDelivered], 400, "most was not");
        RngSeedManager::SetSeed(43);
        NS_TEST_EXPECT_MSG_EQ((up == ByChannel(0)), false, "another seed");
        RngSeedManager::SetSeed(seed);
    }
};

/** Tests that SetSeedAndRun() converts a number to ns-3's seed and run, and that PathSeed() returns
 * the number again. */
class SeedTestCase : public TestCase
{
  public:
    SeedTestCase() : TestCase("one number becomes seed and run, and is read back")
    {
    }

  private:
    void DoRun() override
    {
        const uint32_t seed = RngSeedManager::GetSeed();
        const uint64_t run = RngSeedManager::GetRun();
        for (const uint64_t number : {1ULL, 7ULL, 4294944442ULL, 4294944444ULL, 1ULL << 60})
        {
            SetSeedAndRun(number);
            NS_TEST_EXPECT_MSG_EQ(PathSeed(), number, "read back");
        }
        RngSeedManager::SetSeed(seed);
        RngSeedManager::SetRun(run);
    }
};

/** A channel of three devices applies its SPEC to each sender's frames, and delivers a frame to all
 * other devices. */
class SharedTestCase : public TestCase
{
  public:
    SharedTestCase() : TestCase("an Ethernet of three: each sender's SPEC, then all others")
    {
    }

  private:
    void DoRun() override
    {
        TestLink link("delay=2ms loss=50%", "", 3);
        std::vector<std::set<uint64_t>> lost(3);
        auto record = [&](Ptr<const Packet>, const PathFate& fate) {
            if (fate.fate == Fate::kLost)
            {
                lost[fate.device].insert(fate.number);
            }
        };
        link.path->TraceConnectWithoutContext(
            "Fate", Callback<void, Ptr<const Packet>, const PathFate&>(record));
        for (int i = 0; i < 100; i++)
        {
            for (uint32_t from = 0; from < 3; from++)
            {
                link.SendAt(from, MilliSeconds(i), Create<Packet>(100));
            }
        }
        Simulator::Run();
        for (uint32_t i = 0; i < 3; i++)
        {
            const size_t others = 200 - lost[(i + 1) % 3].size() - lost[(i + 2) % 3].size();
            NS_TEST_EXPECT_MSG_EQ(link.arrivals[i].size(), others, "all that others delivered");
            NS_TEST_EXPECT_MSG_GT(link.arrivals[i][0].at, MicroSeconds(1999), "after 2 ms");
            NS_TEST_EXPECT_MSG_GT(lost[i].size(), 25, "half of them lost");
        }
        NS_TEST_EXPECT_MSG_EQ((lost[0] == lost[1]), false, "each sender on its own");
        Simulator::Destroy();
    }
};

/** Tests that a change of a SPEC loses no packet in flight, and that no packet arrives while the
 * link is unplugged. */
class ChangeTestCase : public TestCase
{
  public:
    ChangeTestCase() : TestCase("a change loses no packet; a pulled plug lets none through")
    {
    }

  private:
    void DoRun() override
    {
        TestLink link("delay=10ms", "");
        for (int i = 0; i < 40; i++)
        {
            link.SendAt(0, MilliSeconds(i), Create<Packet>(100));
        }
        Simulator::Schedule(MicroSeconds(10500), [&]() {
            link.path->SetAttribute("Up", StringValue("delay=1ms order=free"));
        });
        Simulator::Schedule(MicroSeconds(30500), [&]() { link.path->SetLinkUp(false); });
        Simulator::Schedule(MicroSeconds(35500), [&]() { link.path->SetLinkUp(true); });
        Simulator::Run();
        // Packets 31 to 35 are sent while the link is unplugged, and packet 30 would arrive in that
        // time.
        NS_TEST_ASSERT_MSG_EQ(link.arrivals[1].size(), 34, "all others");
        NS_TEST_EXPECT_MSG_EQ(link.arrivals[1][0].at, MilliSeconds(10), "the old delay");
        NS_TEST_EXPECT_MSG_EQ(link.arrivals[1].back().at, MilliSeconds(40), "the new one");
        const auto drops = [&](uint32_t device, PathNetDevice::DropReason reason) {
            return DynamicCast<PathNetDevice>(link.devices.Get(device))->GetDrops(reason);
        };
        NS_TEST_EXPECT_MSG_EQ(drops(0, PathNetDevice::TX_LINK_DOWN), 5, "not sent");
        NS_TEST_EXPECT_MSG_EQ(drops(1, PathNetDevice::RX_LINK_DOWN), 1, "lost at the far end");
        const auto counters = link.path->GetCounters(0);
        NS_TEST_EXPECT_MSG_EQ(counters.of(viaduct::path::Fate::kRefused), 1, "as by an interface");
        NS_TEST_EXPECT_MSG_EQ(counters.of(viaduct::path::Fate::kDelivered), 34, "all others");
        NS_TEST_EXPECT_MSG_EQ(
            (link.path->GetSpec(0) == ParseSpec("delay=1ms order=free")), true, "what is in force");
        Simulator::Destroy();
    }
};

/** A refused change leaves the states of both directions as they were. */
class RefusalTestCase : public TestCase
{
  public:
    RefusalTestCase() : TestCase("a change that is refused leaves the states of both directions")
    {
    }

  private:
    void DoRun() override
    {
        TestLink link("loss=cycle:pass=34,lose=1,times=1", "");
        for (int i = 0; i < 40; i++)
        {
            link.SendAt(0, MilliSeconds(i), Create<Packet>(100));
        }
        Simulator::Schedule(MicroSeconds(20500), [&link]() {
            try
            {
                link.path->SetSpecs(ParseSpec(""), ParseSpec("delay=trace:/nowhere"));
            }
            catch (const viaduct::UsageError&)
            {
                // SetSpecs() throws because the trace file does not exist.
            }
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(link.arrivals[1].size(), 39, "the 35th is lost, counted as before");
        Simulator::Destroy();
    }
};

/** The description of a lab contains the channel's SPECs, the channel's name and the seed. */
class DescribeTestCase : public TestCase
{
  public:
    DescribeTestCase() : TestCase("a lab has the channel's SPECs, its name and the seed")
    {
    }

  private:
    void DoRun() override
    {
        NodeContainer nodes(2);
        PathHelper helper;
        helper.SetChannelAttribute("Up", StringValue("delay=3ms jitter=1ms loss=1%"));
        helper.SetChannelAttribute("Down", StringValue("ber=1e-6"));
        helper.SetChannelAttribute("Name", StringValue("uplink"));
        NetDeviceContainer devices = helper.Install(nodes);
        InternetStackHelper().Install(nodes);
        Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(devices);
        LabHelper lab("offload");
        lab.SetLabName("test");
        const auto topology = lab.Describe(nodes);
        viaduct::lab::Validate(topology);
        NS_TEST_EXPECT_MSG_EQ(topology.seed, PathSeed(), "seed");
        NS_TEST_ASSERT_MSG_EQ(topology.links.size(), 1, "links");
        const auto& link = topology.links[0];
        NS_TEST_EXPECT_MSG_EQ(link.name, "uplink", "name");
        NS_TEST_EXPECT_MSG_EQ((link.emulator == viaduct::lab::Emulator::kEngine), true, "engine");
        NS_TEST_EXPECT_MSG_EQ(
            (link.specs[0] == ParseSpec("delay=3ms jitter=1ms loss=1%")), true, "up");
        NS_TEST_EXPECT_MSG_EQ((link.specs[1] == ParseSpec("ber=1e-6")), true, "down");
        Simulator::Destroy();
    }
};

/** A PacketStore, without a channel, returns the packet object itself unless its bytes changed. */
class StoreTestCase : public TestCase
{
  public:
    StoreTestCase() : TestCase("the store gives back the packet itself unless its bytes changed")
    {
    }

  private:
    void DoRun() override
    {
        PacketStore store;
        auto packet = Create<Packet>(100);
        const auto frame = store.Add(packet);
        NS_TEST_EXPECT_MSG_EQ(store.Bytes(frame).size(), 100, "bytes");
        const auto clone = store.Clone(frame);
        NS_TEST_ASSERT_MSG_EQ(clone.has_value(), true, "a clone");
        store.Bytes(*clone)[3] = std::byte{0xff};
        NS_TEST_EXPECT_MSG_EQ(store.Take(frame), packet, "the same object");
        Ptr<Packet> changed = store.Take(*clone);
        uint8_t bytes[100];
        changed->CopyData(bytes, sizeof bytes);
        NS_TEST_EXPECT_MSG_EQ(bytes[3], 0xff, "the clone's own bytes");
        NS_TEST_EXPECT_MSG_EQ(changed->GetUid(), packet->GetUid(), "a copy's uid");
        const auto again = store.Add(packet);
        NS_TEST_EXPECT_MSG_EQ((again == frame || again == *clone), true, "handles are used again");
        NS_TEST_EXPECT_MSG_EQ(static_cast<int>(store.Bytes(again)[3]), 0, "without old bytes");
        store.Free(again);
    }
};

/** The tests of path channels. */
class PathChannelTestSuite : public TestSuite
{
  public:
    PathChannelTestSuite() : TestSuite("viaduct-path-channel", Type::UNIT)
    {
        AddTestCase(new StoreTestCase, TestCase::Duration::QUICK);
        AddTestCase(new TimeTestCase, TestCase::Duration::QUICK);
        AddTestCase(new IdentityTestCase, TestCase::Duration::QUICK);
        AddTestCase(new CorruptionTestCase, TestCase::Duration::QUICK);
        AddTestCase(new ChecksumTestCase, TestCase::Duration::QUICK);
        AddTestCase(new FatesTestCase, TestCase::Duration::QUICK);
        AddTestCase(new SeedTestCase, TestCase::Duration::QUICK);
        AddTestCase(new SharedTestCase, TestCase::Duration::QUICK);
        AddTestCase(new ChangeTestCase, TestCase::Duration::QUICK);
        AddTestCase(new RefusalTestCase, TestCase::Duration::QUICK);
        AddTestCase(new DescribeTestCase, TestCase::Duration::QUICK);
    }
};

PathChannelTestSuite g_pathChannelTestSuite; //!< registers the suite

} // namespace
