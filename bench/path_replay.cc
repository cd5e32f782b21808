// path-replay PLAN SEED: sends the packets of a plan (qdisc_plan.h) through Viaduct's path
// pipeline, in model time; prints a line "CASE NUMBER NANOSECONDS TOS" for each frame that leaves
// the pipeline.
#include <cstdio>

#include "base/file.h"
#include "path/pipeline.h"
#include "path/queue/test_queues.h"
#include "qdisc_plan.h"

namespace {

using namespace viaduct;

using path::test::Frames;

// Prints the line of a frame that has left the pipeline. The printed TOS shows whether the pipeline
// has marked the frame (ECN).
void Print(const std::string& name, Frames& frames, const path::Departure& departure) {
  const auto bytes = frames.Bytes(departure.frame);
  std::printf("%s %u %lld %d\n", name.c_str(), bench::PlannedCase::NumberOf(bytes),
              static_cast<long long>(departure.due.nanoseconds()), static_cast<int>(bytes[15]));
  frames.Free(departure.frame);
}

void Drain(const std::string& name, Frames& frames, path::Pipeline& pipeline, Instant until) {
  path::Departure departures[64];
  while (const size_t count = pipeline.Pop(until, departures)) {
    for (size_t i = 0; i < count; ++i) Print(name, frames, departures[i]);
  }
}

void Replay(const bench::PlannedCase& planned, uint64_t seed) {
  Frames frames;
  path::PipelineOptions options;
  options.seed = seed;
  options.name = planned.name;
  options.read_file = ReadNamedFile;
  path::Pipeline pipeline(path::ParseSpec(planned.spec), frames, options);
  for (uint64_t i = 0; i < planned.packets; ++i) {
    const Instant now = Instant::FromNanoseconds(planned.SentAt(i));
    Drain(planned.name, frames, pipeline, now);
    auto bytes = planned.Frame(i);
    const auto size = static_cast<uint32_t>(bytes.size());
    pipeline.Push(frames.Add(std::move(bytes)), size, now);
  }
  Drain(planned.name, frames, pipeline, Instant::FromNanoseconds(INT64_MAX / 2));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: path-replay PLAN SEED\n");
    return 2;
  }
  for (const auto& planned : bench::ReadPlan(argv[1])) Replay(planned, std::stoull(argv[2]));
  return 0;
}
