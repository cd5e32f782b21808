// Fuzzes a table in shared memory and frames from the network: no bytes may make the forwarder read
// or write out of bounds, or hang; nor may a forwarder's events do so to their reader.
#include <algorithm>
#include <vector>

#include "base/error.h"
#include "plane/forward/bridge.h"
#include "plane/forward/rbridge.h"
#include "plane/forward/router.h"
#include "plane/forward/table_writer.h"
#include "plane/rbridge/test_network.h"

using namespace viaduct;
using namespace viaduct::forward;

namespace {

struct Nowhere final : Carrier {
  void Transmit(size_t, std::span<const wire::ConstBytes>) override {}
  void SendAsOwn(wire::Family, wire::ConstBytes, uint32_t) override {}
  void SendIcmpv6(const wire::IpAddress&, wire::ConstBytes, uint32_t) override {}
  void PassUp(size_t, wire::ConstBytes, uint32_t) override {}
};

constexpr size_t kTableWords = 64;

// Returns a table whose words are the fuzzer's input, behind a header that a reader accepts.
std::vector<Word> HostileTable(std::span<const uint8_t> input) {
  std::vector<Word> words(table::kHeaderWords + kTableWords);
  for (size_t i = 0; i < std::min(input.size(), kTableWords * 8); ++i) {
    words[table::kCurrent + i / 8] |= uint64_t{input[i]} << 8 * (i % 8);
  }
  words[table::kMagicWord] = table::kMagic;
  words[table::kFormatWord] = table::kFormat;
  return words;
}

// Runs an RBridge on one frame. Before, each word of the input overwrites one word of the RBridge's
// tables.
void RunRBridge(std::span<const Word> input, std::vector<std::byte> frame, Outbox& outbox) {
  static std::vector<Word> words(rbridge_tables::kWords);
  static std::vector<Word> ring(event_ring::kWords);
  static const auto tables = rbridge::test::LineOfThree(2);
  words[rbridge_tables::kCurrent] = 0;
  RBridgeTablesWriter(words).Publish(*tables);
  for (const Word& word : input) {
    const size_t place = word % (rbridge_tables::kWords - rbridge_tables::kBegun);
    words[rbridge_tables::kBegun + place] = word.load();
  }
  ring[event_ring::kRead] = input[0].load();
  ring[event_ring::kWritten] = input[1].load();
  EventWriter events(ring, -1);
  EventReader reader(ring, -1);
  RBridge rbridge({"n", {{"eth0", 1, {}, 1500}, {"eth1", 2, {}, 68}}, words, nullptr, &events});
  if (rbridge.Take({frame.size() % 2, frame, {}}, outbox) >= RBridge::kOutcomes.size())
    __builtin_trap();
  outbox.EndBurst();
  reader.Answer();
  size_t read = 0;
  while (reader.Read()) ++read;
  if (read > event_ring::kEvents) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span input(data, size);
  const size_t table_bytes = std::min(size, kTableWords * 8);
  const std::vector<Word> words = HostileTable(input.first(table_bytes));
  NeighbourTable neighbours;
  const Node node{"n", {{"eth0", 1, {}, 1500}, {"eth1", 2, {}, 68}}, words, &neighbours};
  neighbours.Set(2, {}, {}, false);
  Nowhere nowhere;
  Outbox outbox(node.ports.size(), nowhere);
  Router router(node);
  Bridge bridge(node);
  const auto rest = std::as_bytes(input.subspan(table_bytes));
  std::vector<std::byte> frame(rest.begin(), rest.end());
  for (const uint16_t type : {0x0800, 0x86DD}) {
    if (frame.size() >= 14) {
      std::fill_n(frame.begin(), 12, std::byte{0});
      wire::Store16(&frame[12], type);
    }
    if (router.Take({0, frame, {}}, outbox) >= Router::kOutcomes.size()) __builtin_trap();
    if (bridge.Take({0, frame, {}}, outbox) >= Bridge::kOutcomes.size()) __builtin_trap();
    outbox.EndBurst();
  }
  RunRBridge(std::span(words).subspan(table::kHeaderWords), {rest.begin(), rest.end()}, outbox);
  return 0;
}
