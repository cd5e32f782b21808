#include "path/engine/describe.h"

#include <algorithm>
#include <tuple>

#include "base/result/losses.h"

namespace viaduct::engine {
namespace {

result::PipelineResult DescribePipeline(const PipelineStatistics& pipeline) {
  const path::Counters& counters = pipeline.counters;
  result::PipelineResult described;
  described.pair = pipeline.pair;
  described.class_name = pipeline.class_name;
  described.direction = pipeline.direction == Direction::kUp ? "up" : "down";
  described.spec = path::FormatSpec(pipeline.spec);
  described.arrived = counters.arrived;
  described.arrived_bytes = counters.arrived_bytes;
  described.delivered_bytes = counters.delivered_bytes;
  described.duplicated = counters.duplicated;
  described.corrupted = counters.corrupted;
  described.flipped_bits = counters.flipped_bits;
  described.marked = counters.marked;
  described.reordered = counters.reordered;
  described.waiting = pipeline.waiting;
  described.waiting_bytes = pipeline.waiting_bytes;
  for (const path::Fate fate : kFates) described.fates[FateKey(fate)] = counters.of(fate);
  return described;
}

}  // namespace

std::string FateKey(path::Fate fate) {
  std::string name(path::FateName(fate));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  return name;
}

result::FrameCounters DescribeCounters(const io::PortCounters& counters) {
  return {counters.rx_frames,
          counters.rx_bytes,
          counters.tx_frames,
          counters.tx_bytes,
          counters.rx_dropped_ring_full,
          counters.rx_dropped_truncated,
          counters.tx_dropped_error};
}

result::EngineResult DescribeStatistics(const Statistics& statistics,
                                        std::optional<Duration> lateness_limit) {
  result::EngineResult described;
  auto pipelines = statistics.pipelines;
  std::sort(pipelines.begin(), pipelines.end(), [](const auto& a, const auto& b) {
    return std::tie(a.pair, a.class_name, a.direction) <
           std::tie(b.pair, b.class_name, b.direction);
  });
  for (const auto& pipeline : pipelines) {
    described.pipelines.push_back(DescribePipeline(pipeline));
  }
  for (const auto& port : statistics.ports) {
    described.ports.push_back({port.name, port.up, DescribeCounters(port.counters), port.unmatched,
                               port.too_long, port.access});
  }
  described.memory = {statistics.memory_used, statistics.memory_peak, statistics.spilled_bytes,
                      statistics.spilled_peak, statistics.spill_trouble};
  described.failures = statistics.trace_troubles;
  described.timing = result::SummarizeFinely(statistics.lateness);
  const uint64_t lost = result::OwnLosses(result::EngineLosses(described));
  if (lost > 0) described.timing.lost = lost;
  described.verdict = result::Judge(described.timing, lateness_limit);
  return described;
}

}  // namespace viaduct::engine
