// Utilities for tests of pipelines: a bench pushes a schedule of arrivals to a pipeline and keeps
// the departures.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "path/packet/fate.h"
#include "path/pipeline.h"
#include "path/queue/test_queues.h"

namespace viaduct::path::test {

struct Arrival {
  Instant at;
  uint32_t bytes = 100;
};

// Returns the arrivals of `count` packets, `gap` apart, the first at `gap`.
inline std::vector<Arrival> Steady(int count, Duration gap, uint32_t bytes = 100) {
  std::vector<Arrival> arrivals;
  for (int i = 1; i <= count; ++i) arrivals.push_back({Instant() + gap * i, bytes});
  return arrivals;
}

struct Met {
  uint64_t number;
  Fate fate;
  Instant at;
  bool duplicate, corrupted, marked;
  friend bool operator==(const Met&, const Met&) = default;
};

class Fates : public FateObserver {
 public:
  void OnFate(const Packet& packet, Fate fate, Instant at) override {
    all.push_back({packet.number, fate, at, packet.duplicate, packet.corrupted, packet.marked});
  }
  std::vector<Met> all;
};

// The instants at which Pop is called, in addition to the call at the end of the test.
enum class Polling {
  kExact,  // at every instant that NextEvent() returns
  kLate,   // no calls until the end, long after the last arrival
  kRandom  // at random instants
};

struct Outcome {
  std::vector<Departure> departures;
  std::vector<std::vector<std::byte>> frames;  // the bytes of the departures
  Counters counters;
  std::vector<Met> fates;  // empty without an observer
};

// A pipeline together with its frame store.
class Bench {
 public:
  explicit Bench(const std::string& spec, uint64_t seed = 1, PipelineOptions options = {})
      : Bench(ParseSpec(spec), seed, std::move(options)) {}
  Bench(const Spec& spec, uint64_t seed, PipelineOptions options)
      : pipeline_(spec, frames_, Seeded(std::move(options), seed)) {}

  Pipeline& pipeline() { return pipeline_; }
  Frames& frames() { return frames_; }
  void Observe() { pipeline_.SetObserver(&fates_); }

  // Pushes a frame whose bytes all have the value of its number.
  void Push(uint32_t bytes, Instant now) {
    ++pushed_;
    std::vector<std::byte> frame(bytes, static_cast<std::byte>(pushed_));
    pipeline_.Push(frames_.Add(std::move(frame)), bytes, now);
  }
  void Pop(Instant now) {
    Departure out[3];  // a small buffer, so that Pop is called again
    for (size_t n = 3; n == 3;) {
      n = pipeline_.Pop(now, out);
      for (size_t i = 0; i < n; ++i) Keep(out[i]);
    }
  }
  // Calls Pop at the exact instants of all events until `end`.
  void RunUntil(Instant end) {
    while (pipeline_.NextEvent() <= end) Pop(std::max(now_, pipeline_.NextEvent()));
    now_ = end;
  }
  // Advances to `until`, calling Pop as `polling` requires.
  void Advance(Instant until, Polling polling) {
    if (polling == Polling::kExact) RunUntil(until);
    if (polling == Polling::kRandom) PopAtRandom(until);
  }
  // Calls Pop until no packet is left.
  Outcome Finish(Polling polling) {
    const Instant end = now_ + Duration::Seconds(100000);
    if (polling == Polling::kExact) RunUntil(end);
    Pop(end);
    return Take();
  }
  Outcome Run(const std::vector<Arrival>& arrivals, Polling polling = Polling::kExact) {
    for (const Arrival& arrival : arrivals) {
      Advance(arrival.at, polling);
      Push(arrival.bytes, arrival.at);
    }
    return Finish(polling);
  }
  Outcome Take() {
    outcome_.counters = pipeline_.counters();
    outcome_.fates = std::move(fates_.all);
    return std::move(outcome_);
  }

 private:
  static PipelineOptions Seeded(PipelineOptions options, uint64_t seed) {
    options.seed = seed;
    return options;
  }
  void PopAtRandom(Instant before) {
    const auto span = static_cast<uint64_t>((before - now_).nanoseconds());
    if (random_.Chance(0.5)) return;
    now_ += Duration::Nanoseconds(static_cast<int64_t>(random_.Below(span + 1)));
    Pop(now_);
  }
  void Keep(const Departure& departure) {
    outcome_.departures.push_back(departure);
    const auto bytes = frames_.Bytes(departure.frame);
    outcome_.frames.emplace_back(bytes.begin(), bytes.end());
    frames_.Free(departure.frame);
  }

  Frames frames_;
  Fates fates_;
  Pipeline pipeline_;
  Outcome outcome_;
  Instant now_;
  RandomStream random_{7, "polling"};
  uint64_t pushed_ = 0;
};

}  // namespace viaduct::path::test
