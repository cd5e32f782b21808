// Tests of the engine on real interfaces and threads, which also run under ThreadSanitizer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/error.h"
#include "path/engine/engine.h"
#include "port/packet/ring_port.h"
#include "port/test/test_network.h"

namespace viaduct::engine {
namespace {

using namespace wire::packet;
using testing::HasSubstr;

// Veth pairs: the engine has the near ends, the test has the far ends.
class EngineRootTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    namespace_.emplace();
    namespace_->Run("sysctl -qw net.ipv6.conf.default.disable_ipv6=1");
  }

  void AddLink(int index) {
    namespace_->Run(fmt::format("ip link add near{0} type veth peer name far{0}", index));
    namespace_->Run(fmt::format("ip link set near{0} up && ip link set far{0} up", index));
    namespace_->Run(
        fmt::format("until ip link show far{} | grep -q 'state UP'; do sleep 0.01; done", index));
  }
  io::RingPort Open(const std::string& name) {
    return io::RingPort(namespace_->PacketSocket(), {.ifindex = namespace_->IfIndex(name)});
  }
  io::RingPort Far(int index) { return Open(fmt::format("far{}", index)); }
  std::unique_ptr<io::AnyPort> Near(int index) {
    return io::Hold(Open(fmt::format("near{}", index)));
  }

  // Starts an engine that joins the ports 0 and 1, 2 and 3... in `pairs` pairs.
  std::unique_ptr<Engine> Start(int pairs, int threads, const std::string& spec) {
    Config config;
    std::vector<std::unique_ptr<io::AnyPort>> ports;
    for (int i = 0; i < 2 * pairs; ++i) {
      AddLink(i);
      config.ports.push_back(fmt::format("near{}", i));
      ports.push_back(Near(i));
    }
    for (size_t i = 0; i < static_cast<size_t>(pairs); ++i) {
      config.pairs.push_back({fmt::format("p{}", i),
                              {2 * i, {}, {}},
                              {2 * i + 1, {}, {}},
                              path::ParseSpec(spec),
                              path::ParseSpec(spec),
                              {}});
    }
    config.threads = threads;
    config.trace = trace_;
    config.memory = 16 << 20;
    auto engine = std::make_unique<Engine>(std::move(config), std::move(ports));
    engine->Start();
    return engine;
  }

  static std::vector<std::byte> Frame(int number) {
    return Build(Ethernet{} / Ipv4{} / Udp{1024, 53} / Payload{std::to_string(number)});
  }
  static void SendMany(io::RingPort& port, int count, int first = 0) {
    for (int i = 0; i < count; ++i) io::SendFrame(port, Frame(first + i));
  }
  // Expects that exactly the frames of SendMany() arrive, in order.
  static void ExpectMany(io::RingPort& port, int count) {
    ExpectMany(io::ReceiveDescribed(port, static_cast<size_t>(count)), count);
  }
  static void ExpectMany(const std::vector<std::string>& received, int count) {
    ASSERT_EQ(received.size(), static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(received[static_cast<size_t>(i)], Describe(Frame(i)));
    }
  }

  std::optional<io::TestNamespace> namespace_;
  std::optional<std::string> trace_;
};

TEST_F(EngineRootTest, TwoThreadsOneDirectionEachWhileOthersReadAndChange) {
  const auto engine = Start(1, 2, "delay=2ms");
  io::RingPort a = Far(0), b = Far(1);
  std::atomic<bool> end = false;
  std::thread reader([&] {
    while (!end) {
      const Statistics statistics = engine->Read();
      EXPECT_EQ(statistics.pipelines.size(), 2u);
      for (const PipelineStatistics& each : statistics.pipelines) {
        const path::Counters& counters = each.counters;
        EXPECT_EQ(counters.arrived, counters.of(path::Fate::kDelivered) + each.waiting);
      }
      engine->Apply({"p0", "", Direction::kUp, path::ParseSpec("delay=3ms")});
      EXPECT_THROW(engine->Apply({"p1", "", Direction::kUp, {}}), UsageError);
      EXPECT_THROW(
          engine->Apply({"p0", "", Direction::kUp, path::ParseSpec("loss=trace:/nonexistent")}),
          UsageError);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  constexpr int kFrames = 2000;
  std::thread sender([&] { SendMany(a, kFrames); });
  ExpectMany(b, kFrames);
  sender.join();
  std::thread other([&] { SendMany(b, kFrames); });
  ExpectMany(a, kFrames);
  other.join();
  end = true;
  reader.join();
  const Statistics statistics = engine->Read();
  EXPECT_EQ(statistics.lateness.Count(), 2u * kFrames);
  EXPECT_EQ(statistics.memory_used, 0);
  for (const PortStatistics& port : statistics.ports) {
    EXPECT_TRUE(port.up);
    EXPECT_EQ(port.counters.tx_frames, static_cast<uint64_t>(kFrames));
  }
}

TEST_F(EngineRootTest, AnInterfaceThatVanishesUnderLoadStopsNoOther) {
  const auto engine = Start(2, 1, "delay=1ms");
  io::RingPort a = Far(0), c = Far(2), d = Far(3);
  SendMany(a, 100);
  namespace_->Run("ip link del near1");
  SendMany(a, 100);
  SendMany(c, 500);
  ExpectMany(d, 500);
  const Statistics statistics = engine->Read();
  EXPECT_FALSE(statistics.ports[1].up);
  EXPECT_TRUE(statistics.ports[3].up);
  EXPECT_GE(statistics.ports[1].counters.tx_dropped_error, 100u);
  uint64_t refused = 0;
  for (const PipelineStatistics& each : statistics.pipelines) {
    refused += each.counters.of(path::Fate::kRefused);
  }
  EXPECT_EQ(refused, statistics.ports[1].counters.tx_dropped_error);

  AddLink(1);
  engine->ReplacePort(1, Near(1));
  io::RingPort b = Far(1);
  SendMany(a, 50);
  ExpectMany(b, 50);
  const Statistics after = engine->Read();
  EXPECT_TRUE(after.ports[1].up);
  // The counts of the replaced port are included in the port's counters.
  EXPECT_EQ(after.ports[1].counters.tx_dropped_error, refused);
  EXPECT_EQ(after.ports[1].counters.tx_frames, statistics.ports[1].counters.tx_frames + 50);
}

TEST_F(EngineRootTest, TracesEveryFate) {
  const std::string file = testing::TempDir() + "engine_root_test.jsonl";
  trace_ = file;
  auto engine = Start(1, 2, "loss=list:2");
  io::RingPort a = Far(0), b = Far(1);
  SendMany(a, 3);
  EXPECT_EQ(io::ReceiveDescribed(b, 2).size(), 2u);
  engine.reset();
  std::ifstream text(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[0], HasSubstr("\"pipeline\":\"p0/up\",\"number\":1"));
  EXPECT_THAT(lines[0], HasSubstr("delivered"));
  EXPECT_THAT(lines[1], HasSubstr("lost"));
  std::remove(file.c_str());
}

TEST_F(EngineRootTest, AnInterfaceTakenDownAndUpGoesOn) {
  const auto engine = Start(1, 1, "");
  io::RingPort a = Far(0), b = Far(1);
  namespace_->Run("ip link set near1 down");
  constexpr int kLost = 100;
  SendMany(a, 10, kLost);
  namespace_->Run("ip link set near1 up");
  namespace_->Run("until ip link show far1 | grep -q 'state UP'; do sleep 0.01; done");
  while (!engine->Read().ports[1].up) std::this_thread::yield();
  SendMany(a, 10);
  // The last frame that was sent while the interface was down may still have waited in the ring
  // when the interface came up.
  std::vector<std::string> received = io::ReceiveDescribed(b, 10);
  if (!received.empty() && received.front() == Describe(Frame(kLost + 9))) {
    received.erase(received.begin());
    std::ranges::copy(io::ReceiveDescribed(b, 10 - received.size()), std::back_inserter(received));
  }
  ExpectMany(received, 10);
  SendMany(b, 10);
  ExpectMany(a, 10);
}

}  // namespace
}  // namespace viaduct::engine
