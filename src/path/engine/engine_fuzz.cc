// Fuzz test of an engine's loop: frames with arbitrary bytes and metadata pass through the handling
// of tags, the classifier and every stage. No access may be out of bounds, and every frame must be
// counted.
#include <cstring>

#include "base/test_clock.h"
#include "path/engine/loop.h"
#include "port/test/memory_port.h"

namespace viaduct::engine {
namespace {

Config MakeConfig() {
  const path::Spec spec = path::ParseSpec(
      "delay=1ms jitter=100us loss=5% dup=5% reorder=5% ber=1e-3 rate=100Mbit queue=20p "
      "aqm=codel:ecn");
  const path::Spec air =
      path::ParseSpec("rate=1Mbit queue=5p link=air corrupt=5% fcs=drop slot=1ms");
  Config config;
  config.ports = {"a", "b"};
  config.memory = 64 << 10;
  config.pairs = {{"vlans", {0, 10, {}}, {1, 20, {}}, spec, spec, {{"ip", "ip", spec, spec}}},
                  {"labels", {0, {}, 100}, {1, {}, 200}, air, air, {}},
                  {"mixed", {0, 30, {}}, {1, {}, 300}, spec, spec, {}},
                  {"rest", {0, {}, {}}, {1, {}, {}}, spec, spec, {}}};
  return config;
}

// Sends one frame of the input (8 bytes of metadata, which include the length, then the bytes) to
// `port`. Returns the number of input bytes used.
size_t TakeFrame(std::span<const uint8_t> input, io::MemoryPort& port, Instant stamp) {
  uint8_t head[8] = {};
  std::memcpy(head, input.data(), std::min(input.size(), sizeof(head)));
  const size_t start = std::min(input.size(), sizeof(head));
  const size_t length = std::min<size_t>(input.size() - start, head[0] * 8);
  io::ReceivedFrame metadata;
  metadata.received = stamp + Duration::Nanoseconds(static_cast<int8_t>(head[1]) * 100000);
  if ((head[2] & 1) != 0) metadata.checksum = io::Checksum::kPartial;
  metadata.checksum_start = static_cast<uint16_t>(head[3] * 2);
  metadata.checksum_offset = head[4];
  metadata.gso_size = (head[2] & 2) != 0 ? static_cast<uint16_t>(head[5] * 4) : uint16_t{0};
  port.SetNextMetadata(metadata);
  const io::FrameToSend frame = std::as_bytes(input.subspan(start, length));
  port.Transmit({&frame, 1});
  return start + length;
}

void Run(std::span<const uint8_t> input) {
  const Config config = MakeConfig();
  const Classifier classifier(config);
  MemoryBudget budget(config.memory);
  TestClock clock;
  auto [a, engine_a] = io::MemoryPort::MakePair();
  auto [b, engine_b] = io::MemoryPort::MakePair();
  const auto left = io::Hold(std::move(engine_a)), right = io::Hold(std::move(engine_b));
  Loop loop(config, classifier, budget, clock);
  loop.AddReceiver(0, left.get());
  loop.AddReceiver(1, right.get());
  loop.AddSender(0, left.get());
  loop.AddSender(1, right.get());
  for (size_t i = 0; i < config.pairs.size(); ++i) {
    for (size_t j = 0; j <= config.pairs[i].classes.size(); ++j) {
      loop.AddPipeline(i, j, Direction::kUp, nullptr, 0);
    }
    for (size_t j = 0; j <= config.pairs[i].classes.size(); ++j) {
      loop.AddPipeline(i, j, Direction::kDown, nullptr, 0);
    }
  }
  loop.JoinReceivers();
  std::array<io::ReceivedFrame, 64> out;
  // The variables are captured by name, because clang 14 refuses to capture structured bindings
  // (C++20, P1381).
  const auto turn = [&, &a = a, &b = b] {
    clock.Advance(Duration::Microseconds(300));
    loop.Sleep(Duration());
    loop.Turn();
    a.Receive(out);
    b.Receive(out);
  };
  while (!input.empty()) {
    input = input.subspan(TakeFrame(input, (input[0] & 1) != 0 ? a : b, clock.Realtime()));
    turn();
  }
  for (int i = 0; i < 100; ++i) turn();
  Statistics statistics;
  statistics.ports.resize(2);
  loop.AddTo(statistics);
  for (const PipelineStatistics& each : statistics.pipelines) {
    uint64_t met = each.waiting;
    for (const uint64_t fate : each.counters.fates) met += fate;
    if (met != each.counters.arrived + each.counters.duplicated) __builtin_trap();
  }
}

}  // namespace
}  // namespace viaduct::engine

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  viaduct::engine::Run({data, size});
  return 0;
}
