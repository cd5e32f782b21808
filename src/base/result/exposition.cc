#include "base/result/exposition.h"

#include <optional>

namespace viaduct::result {
namespace {

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

}  // namespace

void Exposition::Family(const std::string& name, const char* type, const char* help) {
  name_ = name;
  head_ = fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void Exposition::AddSample(const MetricLabels& labels, const std::string& value,
                           const char* suffix) {
  std::string list;
  for (const auto& [key, label] : labels) {
    list += fmt::format("{}{}=\"{}\"", list.empty() ? "" : ",", key, Escaped(label));
  }
  if (!list.empty()) list = "{" + list + "}";
  text_ += std::exchange(head_, "") + fmt::format("{}{}{} {}\n", name_, suffix, list, value);
}

void Exposition::Lateness(const MetricLabels& labels, const Timing& timing) {
  const auto seconds = [](auto nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; };
  using Quantile = std::pair<const char*, std::optional<int64_t>>;
  for (const auto& [quantile, value] :
       {Quantile("0.5", timing.p50_ns), Quantile("0.9", timing.p90_ns),
        Quantile("0.99", timing.p99_ns), Quantile("0.999", timing.p999_ns),
        Quantile("1", timing.max_ns)}) {
    if (!value || timing.events == 0) continue;
    MetricLabels all = labels;
    all.emplace_back("quantile", quantile);
    Sample(all, seconds(*value));
  }
  if (timing.mean_ns) {
    Sample(labels, seconds(*timing.mean_ns) * static_cast<double>(timing.events), "_sum");
  }
  Sample(labels, timing.events, "_count");
}

}  // namespace viaduct::result
