#include "engine/describe.h"

#include <algorithm>
#include <tuple>

namespace viaduct::engine {
namespace {

using nlohmann::json;

json DescribePipeline(const PipelineStatistics& pipeline) {
  const path::Counters& counters = pipeline.counters;
  json object = {{"pair", pipeline.pair},
                 {"class", pipeline.class_name},
                 {"direction", pipeline.direction == Direction::kUp ? "up" : "down"},
                 {"spec", path::FormatSpec(pipeline.spec)},
                 {"arrived", counters.arrived},
                 {"arrived_bytes", counters.arrived_bytes},
                 {"delivered_bytes", counters.delivered_bytes},
                 {"duplicated", counters.duplicated},
                 {"corrupted", counters.corrupted},
                 {"flipped_bits", counters.flipped_bits},
                 {"marked", counters.marked},
                 {"reordered", counters.reordered},
                 {"waiting", pipeline.waiting},
                 {"waiting_bytes", pipeline.waiting_bytes}};
  for (const path::Fate fate : kFates) object["fates"][FateKey(fate)] = counters.of(fate);
  return object;
}

json DescribePort(const PortStatistics& port) {
  const io::PortCounters& counters = port.counters;
  return {{"name", port.name},
          {"up", port.up},
          {"rx_frames", counters.rx_frames},
          {"rx_bytes", counters.rx_bytes},
          {"tx_frames", counters.tx_frames},
          {"tx_bytes", counters.tx_bytes},
          {"rx_dropped_ring_full", counters.rx_dropped_ring_full},
          {"rx_dropped_truncated", counters.rx_dropped_truncated},
          {"tx_dropped_error", counters.tx_dropped_error},
          {"unmatched", port.unmatched}};
}

}  // namespace

std::string FateKey(path::Fate fate) {
  std::string name(path::FateName(fate));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  return name;
}

json DescribeStatistics(const Statistics& statistics, std::optional<Duration> lateness_limit) {
  json object = {{"pipelines", json::array()}, {"ports", json::array()}};
  auto pipelines = statistics.pipelines;  // in one order, however they are dealt to threads
  std::sort(pipelines.begin(), pipelines.end(), [](const auto& a, const auto& b) {
    return std::tie(a.pair, a.class_name, a.direction) <
           std::tie(b.pair, b.class_name, b.direction);
  });
  for (const auto& pipeline : pipelines) object["pipelines"].push_back(DescribePipeline(pipeline));
  for (const auto& port : statistics.ports) object["ports"].push_back(DescribePort(port));
  object["memory"] = {{"used", statistics.memory_used},
                      {"peak", statistics.memory_peak},
                      {"spilled", statistics.spilled_bytes},
                      {"spilled_peak", statistics.spilled_peak}};
  if (!statistics.spill_trouble.empty()) {
    object["memory"]["spill_trouble"] = statistics.spill_trouble;
  }
  const Histogram& lateness = statistics.lateness;
  json& timing = object["timing"];
  for (const auto& [key, quantile] : {std::pair("p50_ns", 0.5), std::pair("p90_ns", 0.9),
                                      std::pair("p99_ns", 0.99), std::pair("p999_ns", 0.999)}) {
    timing[key] = lateness.Quantile(quantile);
  }
  timing["max_ns"] = lateness.Max();
  timing["mean_ns"] = lateness.Mean();
  timing["events"] = lateness.Count();
  if (lateness_limit) timing["limit_ns"] = lateness_limit->nanoseconds();
  const bool is_late = lateness_limit && lateness.Quantile(0.99) > lateness_limit->nanoseconds();
  object["verdict"] = is_late ? "VOID" : "VALID";
  return object;
}

}  // namespace viaduct::engine
