#include "emulate/path_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/describe.h"
#include "result/table.h"

namespace viaduct::emulate {
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

// A column for each fate and each effect that occurred in any pipeline.
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
    if (!port.up) text += port.name + ": down or gone\n";
    remark(frames.rx_dropped_ring_full,
           "lost before the path: they arrived faster than they could be read");
    remark(frames.rx_dropped_truncated, "lost before the path: longer than the maximum frame");
    remark(frames.tx_dropped_error, "refused by the interface when sent");
    remark(port.unmatched, "dropped because they belong to no pair (another VLAN or label)");
    remark(port.too_long, "dropped because they are longer than the MTU of every port");
  }
  return text;
}

std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\' || c == '"') escaped += '\\';
    if (c == '\n') {
      escaped += "\\n";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// Writes one metric family after another.
class Exposition {
 public:
  explicit Exposition(const EngineResult& statistics)
      : statistics_(statistics), path_(Escaped(statistics.name)) {}

  void Family(const std::string& name, const char* type, const char* help) {
    name_ = "viaduct_path_" + name;
    text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name_, help, name_, type);
  }
  template <class Value>
  void Sample(const std::string& labels, const Value& value, const char* suffix = "") {
    text_ += fmt::format("{}{}{{path=\"{}\"{}{}}} {}\n", name_, suffix, path_,
                         labels.empty() ? "" : ",", labels, value);
  }
  // A family with one sample for the whole path.
  template <class Value>
  void OfPath(const char* name, const char* type, const char* help, const Value& value) {
    Family(name, type, help);
    Sample("", value);
  }
  // A family with one sample per pipeline.
  void OfPipelines(const char* name, const char* type, const char* help,
                   uint64_t PipelineResult::*value) {
    Family(name, type, help);
    for (const PipelineResult& pipeline : statistics_.pipelines) {
      Sample(Labels(pipeline), pipeline.*value);
    }
  }
  // A family with one sample per interface.
  template <class Value>
  void OfPorts(const char* name, const char* help, const Value& value) {
    Family(name, "counter", help);
    for (const PortResult& port : statistics_.ports) {
      Sample(fmt::format("interface=\"{}\"", Escaped(port.name)), value(port));
    }
  }
  void OfPorts(const char* name, const char* help, uint64_t FrameCounters::*value) {
    OfPorts(name, help, [&](const PortResult& port) { return port.frames.*value; });
  }
  static std::string Labels(const PipelineResult& pipeline) {
    return fmt::format("pair=\"{}\",class=\"{}\",direction=\"{}\"", Escaped(pipeline.pair),
                       Escaped(pipeline.class_name), pipeline.direction);
  }
  std::string Text() { return std::move(text_); }

 private:
  const EngineResult& statistics_;
  std::string path_, name_, text_;
};

void AddFates(Exposition& out, const std::vector<PipelineResult>& pipelines) {
  out.Family("packets_total", "counter", "Packets by their fate.");
  for (const PipelineResult& pipeline : pipelines) {
    for (const auto& [fate, count] : pipeline.fates) {
      out.Sample(fmt::format("{},fate=\"{}\"", Exposition::Labels(pipeline), fate), count);
    }
  }
}

void AddLateness(Exposition& out, const result::Timing& timing) {
  const auto seconds = [](auto nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; };
  out.Family("lateness_seconds", "summary",
             "Time from the instant a packet was due until it was sent.");
  for (const auto& [quantile, value] :
       {std::pair("0.5", timing.p50_ns), std::pair("0.9", timing.p90_ns.value_or(0)),
        std::pair("0.99", timing.p99_ns), std::pair("0.999", timing.p999_ns.value_or(0)),
        std::pair("1", timing.max_ns)}) {
    out.Sample(fmt::format("quantile=\"{}\"", quantile), seconds(value));
  }
  out.Sample("", seconds(timing.mean_ns.value_or(0)) * static_cast<double>(timing.events), "_sum");
  out.Sample("", timing.events, "_count");
}

}  // namespace

std::string StatisticsTable(const EngineResult& statistics) {
  std::string text = PipelineTable(statistics.pipelines) + PortRemarks(statistics.ports);
  const result::MemoryResult& memory = statistics.memory;
  if (memory.spilled_peak > 0) {
    text += fmt::format("memory: at most {:.1f} MB of frames, and {:.1f} MB on disk\n",
                        static_cast<double>(memory.peak) / 1e6,
                        static_cast<double>(memory.spilled_peak) / 1e6);
  }
  if (!memory.spill_trouble.empty()) text += fmt::format("disk: {}\n", memory.spill_trouble);
  return text + result::TimingLine(statistics.timing);
}

std::string PrometheusText(const EngineResult& statistics) {
  using P = PipelineResult;
  using F = FrameCounters;
  Exposition out(statistics);
  out.OfPipelines("arrived_packets_total", "counter", "Packets that entered.", &P::arrived);
  out.OfPipelines("arrived_bytes_total", "counter", "Bytes that entered.", &P::arrived_bytes);
  out.OfPipelines("delivered_bytes_total", "counter", "Bytes that left.", &P::delivered_bytes);
  AddFates(out, statistics.pipelines);
  out.OfPipelines("duplicated_packets_total", "counter", "Extra packets made.", &P::duplicated);
  out.OfPipelines("corrupted_packets_total", "counter", "Packets with flipped bits.",
                  &P::corrupted);
  out.OfPipelines("marked_packets_total", "counter", "Packets marked ECN CE.", &P::marked);
  out.OfPipelines("reordered_packets_total", "counter",
                  "Packets that were not delayed (reordered).", &P::reordered);
  out.OfPipelines("waiting_packets", "gauge", "Packets inside.", &P::waiting);
  out.OfPipelines("waiting_bytes", "gauge", "Bytes inside.", &P::waiting_bytes);
  out.OfPorts("received_frames_total", "Frames received from the interface.", &F::rx_frames);
  out.OfPorts("sent_frames_total", "Frames sent to the interface.", &F::tx_frames);
  out.OfPorts("receive_overruns_total", "Frames lost before the path.", &F::rx_dropped_ring_full);
  out.OfPorts("send_errors_total", "Frames the interface refused.", &F::tx_dropped_error);
  out.OfPorts("unmatched_frames_total", "Frames that belong to no pair.",
              [](const PortResult& port) { return port.unmatched; });
  out.OfPorts("too_long_frames_total", "Frames longer than the MTU of every port.",
              [](const PortResult& port) { return port.too_long; });
  out.OfPath("memory_bytes", "gauge", "Frame memory in use.", statistics.memory.used);
  out.OfPath("spilled_bytes", "gauge", "Frames on disk.", statistics.memory.spilled);
  AddLateness(out, statistics.timing);
  return out.Text();
}

}  // namespace viaduct::emulate
