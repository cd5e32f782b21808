#include "path/live/path_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/text/text_table.h"
#include "path/engine/describe.h"

namespace viaduct::path {
namespace {

using engine::FateKey, engine::kFates;
using result::EngineResult, result::FrameCounters, result::PipelineResult, result::PortResult;

std::string NameOf(const PipelineResult& pipeline) {
  return pipeline.pair + (pipeline.class_name.empty() ? "" : "/" + pipeline.class_name);
}

constexpr std::pair<const char*, uint64_t PipelineResult::*> kEffects[] = {
    {"duplicated", &PipelineResult::duplicated},
    {"corrupted", &PipelineResult::corrupted},
    {"marked", &PipelineResult::marked},
    {"reordered", &PipelineResult::reordered}};

// Returns a table with a column for each fate and each effect that occurred in any pipeline.
std::string PipelineTable(const std::vector<PipelineResult>& pipelines) {
  std::vector<std::vector<std::string>> rows = {{"pair", "", "arrived", "delivered", "waiting"}};
  for (const PipelineResult& pipeline : pipelines) {
    rows.push_back({NameOf(pipeline), pipeline.direction, std::to_string(pipeline.arrived),
                    std::to_string(pipeline.fates.at("delivered")),
                    std::to_string(pipeline.waiting)});
  }
  const auto add_column = [&](std::string_view head, const auto& value) {
    if (std::none_of(pipelines.begin(), pipelines.end(), value)) return;
    rows[0].emplace_back(head);
    for (size_t i = 0; i < pipelines.size(); ++i) {
      rows[i + 1].push_back(std::to_string(value(pipelines[i])));
    }
  };
  for (const path::Fate fate : kFates) {
    if (fate == path::Fate::kDelivered) continue;
    add_column(path::FateName(fate), [&](const auto& p) { return p.fates.at(FateKey(fate)); });
  }
  for (const auto& effect : kEffects) {
    add_column(effect.first, [&](const auto& p) { return p.*effect.second; });
  }
  return result::FormatTable(rows);
}

std::string PortRemarks(const std::vector<PortResult>& ports) {
  std::string text;
  for (const PortResult& port : ports) {
    const auto remark = [&](uint64_t count, const char* meaning) {
      if (count > 0) text += fmt::format("{}: {} frames {}\n", port.name, count, meaning);
    };
    const FrameCounters& frames = port.frames;
    const bool is_usual = port.access.empty() || port.access.starts_with("AF_PACKET");
    if (!is_usual) text += port.name + ": " + port.access + "\n";
    if (!port.up) text += port.name + ": the interface is down or missing\n";
    remark(frames.rx_dropped_ring_full,
           "lost before they entered the path, because the frames arrived faster than the path "
           "could receive frames");
    remark(frames.rx_dropped_truncated,
           "lost before they entered the path, because the frames were longer than the maximum "
           "frame length");
    remark(frames.tx_dropped_error, "refused by the interface when sent");
    remark(port.unmatched, "dropped because they belong to no pair (another VLAN or MPLS label)");
    remark(port.too_long, "dropped because they are longer than the MTU of every port");
  }
  return text;
}

// Writes metric families with samples of several engines, each of which has a label with the
// engine's name.
class Families {
 public:
  Families(const std::vector<EngineResult>& all, std::string prefix, const char* label,
           result::Exposition& out)
      : all_(all), prefix_(std::move(prefix)), label_(label), out_(out) {}

  void Begin(const std::string& name, const char* type, const char* help) {
    out_.Family(prefix_ + name, type, help);
  }
  // Writes a metric family with one sample per engine.
  template <class Value>
  void OfEngines(const char* name, const char* help, const Value& value) {
    Begin(name, "gauge", help);
    for (const EngineResult& each : all_) out_.Sample({Name(each)}, value(each));
  }
  // Writes a metric family with one sample per pipeline.
  void OfPipelines(const char* name, const char* type, const char* help,
                   uint64_t PipelineResult::*value) {
    Begin(name, type, help);
    for (const EngineResult& each : all_) {
      for (const PipelineResult& pipeline : each.pipelines) {
        out_.Sample(Labels(each, pipeline), pipeline.*value);
      }
    }
  }
  // Writes a metric family with one sample per interface.
  template <class Value>
  void OfPorts(const char* name, const char* help, const Value& value) {
    Begin(name, "counter", help);
    for (const EngineResult& each : all_) {
      for (const PortResult& port : each.ports) {
        out_.Sample({Name(each), {"interface", port.name}}, value(port));
      }
    }
  }
  void OfPorts(const char* name, const char* help, uint64_t FrameCounters::*value) {
    OfPorts(name, help, [&](const PortResult& port) { return port.frames.*value; });
  }
  void Fates() {
    Begin("packets_total", "counter", "Packets by outcome, which the label fate names.");
    for (const EngineResult& each : all_) {
      for (const PipelineResult& pipeline : each.pipelines) {
        for (const auto& [fate, count] : pipeline.fates) {
          result::MetricLabels labels = Labels(each, pipeline);
          labels.emplace_back("fate", fate);
          out_.Sample(labels, count);
        }
      }
    }
  }
  void Lateness() {
    Begin("lateness_seconds", "summary",
          "Time from the instant a packet was due until it was sent.");
    for (const EngineResult& each : all_) out_.Lateness({Name(each)}, each.timing);
  }

 private:
  result::MetricLabels::value_type Name(const EngineResult& engine) const {
    return {label_, engine.name};
  }
  result::MetricLabels Labels(const EngineResult& engine, const PipelineResult& pipeline) const {
    return {Name(engine),
            {"pair", pipeline.pair},
            {"class", pipeline.class_name},
            {"direction", pipeline.direction}};
  }

  const std::vector<EngineResult>& all_;
  const std::string prefix_;
  const char* const label_;
  result::Exposition& out_;
};

}  // namespace

std::string StatisticsTable(const EngineResult& statistics) {
  std::string text = PipelineTable(statistics.pipelines) + PortRemarks(statistics.ports);
  const result::MemoryResult& memory = statistics.memory;
  if (memory.spilled_peak > 0) {
    text += fmt::format("memory: peak of {:.1f} MB for frames, and {:.1f} MB on disk\n",
                        static_cast<double>(memory.peak) / 1e6,
                        static_cast<double>(memory.spilled_peak) / 1e6);
  }
  if (!memory.spill_trouble.empty()) text += fmt::format("disk: {}\n", memory.spill_trouble);
  return text + result::TimingLine(statistics.timing, "", statistics.failures);
}

void ExposeEngines(const std::vector<EngineResult>& all, const std::string& prefix,
                   const char* label, result::Exposition& exposition) {
  using P = PipelineResult;
  using F = FrameCounters;
  Families out(all, prefix, label, exposition);
  out.OfPipelines("arrived_packets_total", "counter", "Packets that entered the emulated path.",
                  &P::arrived);
  out.OfPipelines("arrived_bytes_total", "counter", "Bytes that entered the emulated path.",
                  &P::arrived_bytes);
  out.OfPipelines("delivered_bytes_total", "counter", "Bytes that left the emulated path.",
                  &P::delivered_bytes);
  out.Fates();
  out.OfPipelines("duplicated_packets_total", "counter",
                  "Additional packets created by duplication.", &P::duplicated);
  out.OfPipelines("corrupted_packets_total", "counter", "Packets with flipped bits.",
                  &P::corrupted);
  out.OfPipelines("marked_packets_total", "counter", "Packets marked ECN CE.", &P::marked);
  out.OfPipelines("reordered_packets_total", "counter",
                  "Packets that were not delayed, so they overtook other packets.", &P::reordered);
  out.OfPipelines("waiting_packets", "gauge", "Packets that are inside the emulated path.",
                  &P::waiting);
  out.OfPipelines("waiting_bytes", "gauge", "Bytes that are inside the emulated path.",
                  &P::waiting_bytes);
  out.OfPorts("received_frames_total", "Frames received from the interface.", &F::rx_frames);
  out.OfPorts("sent_frames_total", "Frames sent to the interface.", &F::tx_frames);
  out.OfPorts("receive_overruns_total", "Frames lost before they entered the emulated path.",
              &F::rx_dropped_ring_full);
  out.OfPorts("send_errors_total", "Frames that the interface refused to send.",
              &F::tx_dropped_error);
  out.OfPorts("unmatched_frames_total", "Frames that belong to no pair.",
              [](const PortResult& port) { return port.unmatched; });
  out.OfPorts("too_long_frames_total", "Frames longer than the MTU of every port.",
              [](const PortResult& port) { return port.too_long; });
  out.OfEngines("memory_bytes", "Bytes of memory in use for frames.",
                [](const EngineResult& each) { return each.memory.used; });
  out.OfEngines("spilled_bytes", "Bytes of frames on disk.",
                [](const EngineResult& each) { return each.memory.spilled; });
  out.Lateness();
}

std::string PrometheusText(const EngineResult& statistics) {
  result::Exposition out;
  ExposeEngines({statistics}, "viaduct_path_", "path", out);
  return out.text();
}

}  // namespace viaduct::path
