#include "emulate/path_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "engine/describe.h"
#include "run/table.h"

namespace viaduct::emulate {
namespace {

using engine::FateKey, engine::kFates;
using nlohmann::json;

std::string NameOf(const json& pipeline) {
  const std::string group = pipeline.value("class", "");
  return pipeline.value("pair", "") + (group.empty() ? "" : "/" + group);
}

std::string Count(const json& object, const char* key) {
  return std::to_string(object.value(key, uint64_t{0}));
}

std::string PipelineTable(const json& pipelines) {
  std::vector<std::vector<std::string>> rows = {{"pair", "", "arrived", "delivered", "waiting"}};
  // A column for each cause that had an effect anywhere.
  std::vector<std::string> causes, effects;
  const auto is_seen = [&](const auto& value) {
    return std::any_of(pipelines.begin(), pipelines.end(), value);
  };
  for (const path::Fate fate : kFates) {
    const std::string key = FateKey(fate);
    if (fate == path::Fate::kDelivered) continue;
    if (!is_seen([&](const json& p) { return p["fates"].value(key, 0u) > 0; })) continue;
    causes.push_back(key);
    rows[0].emplace_back(path::FateName(fate));
  }
  for (const char* key : {"duplicated", "corrupted", "marked", "reordered"}) {
    if (!is_seen([&](const json& p) { return p.value(key, 0u) > 0; })) continue;
    effects.emplace_back(key);
    rows[0].emplace_back(key);
  }
  for (const json& pipeline : pipelines) {
    const json& fates = pipeline["fates"];
    std::vector<std::string> row = {NameOf(pipeline), pipeline.value("direction", ""),
                                    Count(pipeline, "arrived"), Count(fates, "delivered"),
                                    Count(pipeline, "waiting")};
    for (const std::string& cause : causes) row.push_back(Count(fates, cause.c_str()));
    for (const std::string& effect : effects) row.push_back(Count(pipeline, effect.c_str()));
    rows.push_back(std::move(row));
  }
  return run::FormatTable(rows);
}

std::string PortRemarks(const json& ports) {
  std::string text;
  const auto remark = [&](const json& port, const char* key, const char* meaning) {
    const auto count = port.value(key, uint64_t{0});
    if (count > 0)
      text += fmt::format("{}: {} frames {}\n", port.value("name", ""), count, meaning);
  };
  for (const json& port : ports) {
    if (!port.value("up", true)) text += port.value("name", "") + ": down or gone\n";
    remark(port, "rx_dropped_ring_full", "lost before the path: they came faster than taken");
    remark(port, "rx_dropped_truncated", "lost before the path: longer than a frame can be");
    remark(port, "tx_dropped_error", "refused by the interface on their way out");
    remark(port, "unmatched", "of no pair (another VLAN or label), dropped");
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

// Collects one metric family after another.
class Exposition {
 public:
  explicit Exposition(const json& statistics)
      : statistics_(statistics), path_(Escaped(statistics.value("name", ""))) {}

  void Family(const std::string& name, const char* type, const char* help) {
    name_ = "viaduct_path_" + name;
    text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name_, help, name_, type);
  }
  template <class Value>
  void Sample(const std::string& labels, const Value& value, const char* suffix = "") {
    text_ += fmt::format("{}{}{{path=\"{}\"{}{}}} {}\n", name_, suffix, path_,
                         labels.empty() ? "" : ",", labels, value);
  }
  // A family with one sample a pipeline.
  void OfPipelines(const char* name, const char* type, const char* help, const char* key) {
    Family(name, type, help);
    for (const json& pipeline : statistics_["pipelines"]) {
      Sample(Labels(pipeline), pipeline.value(key, uint64_t{0}));
    }
  }
  void OfPorts(const char* name, const char* help, const char* key) {
    Family(name, "counter", help);
    for (const json& port : statistics_["ports"]) {
      Sample(fmt::format("interface=\"{}\"", Escaped(port.value("name", ""))),
             port.value(key, uint64_t{0}));
    }
  }
  static std::string Labels(const json& pipeline) {
    return fmt::format("pair=\"{}\",class=\"{}\",direction=\"{}\"",
                       Escaped(pipeline.value("pair", "")), Escaped(pipeline.value("class", "")),
                       pipeline.value("direction", ""));
  }
  std::string Text() { return std::move(text_); }

 private:
  const json& statistics_;
  std::string path_, name_, text_;
};

void AddFates(Exposition& out, const json& pipelines) {
  out.Family("packets_total", "counter", "Packets by what became of them.");
  for (const json& pipeline : pipelines) {
    for (const auto& [fate, count] : pipeline["fates"].items()) {
      out.Sample(fmt::format("{},fate=\"{}\"", Exposition::Labels(pipeline), fate),
                 count.get<uint64_t>());
    }
  }
}

void AddLateness(Exposition& out, const json& timing) {
  const auto seconds = [&](const char* key) { return timing.value(key, 0.0) / 1e9; };
  out.Family("lateness_seconds", "summary", "From the instant a packet was due to its sending.");
  for (const auto& [quantile, key] :
       {std::pair("0.5", "p50_ns"), std::pair("0.9", "p90_ns"), std::pair("0.99", "p99_ns"),
        std::pair("0.999", "p999_ns"), std::pair("1", "max_ns")}) {
    out.Sample(fmt::format("quantile=\"{}\"", quantile), seconds(key));
  }
  const auto events = timing.value("events", uint64_t{0});
  out.Sample("", seconds("mean_ns") * static_cast<double>(events), "_sum");
  out.Sample("", events, "_count");
}

}  // namespace

std::string StatisticsTable(const json& statistics) {
  std::string text =
      PipelineTable(statistics.at("pipelines")) + PortRemarks(statistics.at("ports"));
  const json& memory = statistics.at("memory");
  if (memory.value("spilled_peak", int64_t{0}) > 0) {
    text += fmt::format("memory: at most {:.1f} MB of frames, and {:.1f} MB on disk\n",
                        memory.value("peak", 0.0) / 1e6, memory.value("spilled_peak", 0.0) / 1e6);
  }
  if (memory.contains("spill_trouble")) {
    text += fmt::format("disk: {}\n", memory.value("spill_trouble", ""));
  }
  return text + run::TimingLine(statistics);
}

std::string PrometheusText(const json& statistics) {
  Exposition out(statistics);
  out.OfPipelines("arrived_packets_total", "counter", "Packets that entered.", "arrived");
  out.OfPipelines("arrived_bytes_total", "counter", "Bytes that entered.", "arrived_bytes");
  out.OfPipelines("delivered_bytes_total", "counter", "Bytes that left.", "delivered_bytes");
  AddFates(out, statistics.at("pipelines"));
  out.OfPipelines("duplicated_packets_total", "counter", "Extra packets made.", "duplicated");
  out.OfPipelines("corrupted_packets_total", "counter", "Packets with flipped bits.", "corrupted");
  out.OfPipelines("marked_packets_total", "counter", "Packets marked ECN CE.", "marked");
  out.OfPipelines("reordered_packets_total", "counter", "Packets let go early.", "reordered");
  out.OfPipelines("waiting_packets", "gauge", "Packets inside.", "waiting");
  out.OfPipelines("waiting_bytes", "gauge", "Bytes inside.", "waiting_bytes");
  out.OfPorts("received_frames_total", "Frames taken from the interface.", "rx_frames");
  out.OfPorts("sent_frames_total", "Frames given to the interface.", "tx_frames");
  out.OfPorts("receive_overruns_total", "Frames lost before the path.", "rx_dropped_ring_full");
  out.OfPorts("send_errors_total", "Frames the interface refused.", "tx_dropped_error");
  out.OfPorts("unmatched_frames_total", "Frames of no pair.", "unmatched");
  const json& memory = statistics.at("memory");
  out.Family("memory_bytes", "gauge", "Frame memory in use.");
  out.Sample("", memory.value("used", int64_t{0}));
  out.Family("spilled_bytes", "gauge", "Frames on disk.");
  out.Sample("", memory.value("spilled", int64_t{0}));
  AddLateness(out, statistics.at("timing"));
  return out.Text();
}

}  // namespace viaduct::emulate
