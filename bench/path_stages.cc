// Measures the cost of each stage of the path emulator, in nanoseconds per packet: one packet per
// microsecond passes through a pipeline in its steady state, with calls of Push and Pop as the
// engine makes them.
//
//   build/bench/path-stages [--benchmark_filter=REGEX] [--benchmark_format=json]
#include <benchmark/benchmark.h>

#include <array>
#include <vector>

#include "path/pipeline.h"

namespace viaduct::path {
namespace {

constexpr uint32_t kFrameBytes = 202;  // 160 bytes of UDP payload

// Memory for frames: slots of equal size and a stack of the free slots, as in the engine's pool.
class Slots final : public FrameStore {
 public:
  explicit Slots(size_t count) : bytes_(count * kFrameBytes) {
    for (size_t i = 0; i < count; ++i) free_.push_back(static_cast<FrameHandle>(i));
  }
  FrameHandle Take() {
    const FrameHandle frame = free_.back();
    free_.pop_back();
    return frame;
  }
  std::span<std::byte> Bytes(FrameHandle frame) override {
    return {bytes_.data() + size_t{frame} * kFrameBytes, kFrameBytes};
  }
  std::optional<FrameHandle> Clone(FrameHandle) override { return Take(); }
  void CompleteChecksum(FrameHandle) override {}
  void Free(FrameHandle frame) override { free_.push_back(frame); }

 private:
  std::vector<std::byte> bytes_;
  std::vector<FrameHandle> free_;
};

class CountFates : public FateObserver {
 public:
  void OnFate(const Packet& packet, Fate, Instant) override { sum_ += packet.number; }

 private:
  uint64_t sum_ = 0;
};

void RunSpec(benchmark::State& state, const char* spec, bool observed = false) {
  Slots slots(1 << 16);
  Pipeline pipeline(ParseSpec(spec), slots, {});
  CountFates observer;
  if (observed) pipeline.SetObserver(&observer);
  std::array<Departure, 64> out;
  Instant now;
  const auto step = [&] {
    now += Duration::Microseconds(1);
    pipeline.Push(slots.Take(), kFrameBytes, now);
    if (pipeline.NextEvent() > now) return;
    const size_t count = pipeline.Pop(now, out);
    for (size_t i = 0; i < count; ++i) slots.Free(out[i].frame);
  };
  for (int i = 0; i < 200000; ++i) step();  // until as many packets depart as arrive
  for (auto _ : state) step();
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()));
}

// Measures bursts, the other extreme of the engine's work: one call of Pop for many packets.
void RunBursts(benchmark::State& state, const char* spec) {
  Slots slots(1 << 16);
  Pipeline pipeline(ParseSpec(spec), slots, {});
  std::array<Departure, 64> out;
  Instant now;
  while (state.KeepRunningBatch(32)) {
    for (int i = 0; i < 32; ++i) {
      now += Duration::Microseconds(1);
      pipeline.Push(slots.Take(), kFrameBytes, now);
    }
    for (size_t count = out.size(); count == out.size();) {
      count = pipeline.Pop(now, out);
      for (size_t i = 0; i < count; ++i) slots.Free(out[i].frame);
    }
  }
}

constexpr char kAll[] =
    "loss=0.1% dup=0.1% reorder=0.1% ber=1e-7 delay=10ms jitter=1ms rate=100Gbit aqm=codel";

BENCHMARK_CAPTURE(RunSpec, wire, "");
BENCHMARK_CAPTURE(RunSpec, delay, "delay=10ms");
BENCHMARK_CAPTURE(RunSpec, delay_observed, "delay=10ms", true);
BENCHMARK_CAPTURE(RunSpec, loss, "delay=10ms loss=0.1%");
BENCHMARK_CAPTURE(RunSpec, loss_correlated, "delay=10ms loss=0.1%:corr=25%");
BENCHMARK_CAPTURE(RunSpec, loss_gilbert_elliott, "delay=10ms loss=gemodel:p=0.1%,r=10%");
BENCHMARK_CAPTURE(RunSpec, loss_four_states,
                  "delay=10ms loss=state:p13=0.1%,p31=50%,p32=30%,p23=30%,p14=0.1%");
BENCHMARK_CAPTURE(RunSpec, ber_1e_9, "delay=10ms ber=1e-9");
BENCHMARK_CAPTURE(RunSpec, ber_1e_4, "delay=10ms ber=1e-4");
BENCHMARK_CAPTURE(RunSpec, duplicate, "delay=10ms dup=0.1%");
BENCHMARK_CAPTURE(RunSpec, rate, "delay=10ms rate=100Gbit");
BENCHMARK_CAPTURE(RunSpec, token_bucket, "delay=10ms rate=100Gbit burst=15kB");
BENCHMARK_CAPTURE(RunSpec, codel, "delay=10ms rate=100Gbit aqm=codel");
BENCHMARK_CAPTURE(RunSpec, pie, "delay=10ms rate=100Gbit aqm=pie");
BENCHMARK_CAPTURE(RunSpec, red, "delay=10ms rate=100Gbit aqm=red");
BENCHMARK_CAPTURE(RunSpec, fq_codel, "delay=10ms rate=100Gbit aqm=fq_codel");
BENCHMARK_CAPTURE(RunSpec, jitter_uniform, "delay=10ms jitter=1ms");
BENCHMARK_CAPTURE(RunSpec, jitter_normal, "delay=10ms jitter=1ms dist=normal");
BENCHMARK_CAPTURE(RunSpec, jitter_pareto, "delay=10ms jitter=1ms dist=pareto");
BENCHMARK_CAPTURE(RunSpec, jitter_correlated, "delay=10ms jitter=1ms:corr=25%");
BENCHMARK_CAPTURE(RunSpec, jitter_in_order, "delay=10ms jitter=1ms order=keep");
BENCHMARK_CAPTURE(RunSpec, reorder, "delay=10ms reorder=0.1%");
BENCHMARK_CAPTURE(RunSpec, all, kAll);
BENCHMARK_CAPTURE(RunBursts, delay, "delay=10ms");
BENCHMARK_CAPTURE(RunBursts, all, kAll);

}  // namespace
}  // namespace viaduct::path

BENCHMARK_MAIN();
