// Loss by a file that gives for each packet whether it is lost (path/trace/trace.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "path/packet/packet.h"
#include "path/packet/pipeline_options.h"
#include "path/trace/trace.h"

namespace viaduct::path {

struct LossTrace {
  static constexpr std::string_view kName = "trace";
  std::string file;
  std::vector<bool> lost = {};  // state: content of the file
  size_t at = 0;                // state: position of the next packet
  friend bool operator==(const LossTrace&, const LossTrace&) = default;

  static LossTrace Parse(std::string_view text) { return {std::string(text)}; }
  std::string Format() const { return file; }
  void Check() const {
    if (file.empty()) throw UsageError("trace needs a file, as in trace:FILE");
  }

  // Throws UsageError if the file is invalid.
  void Open(const PipelineOptions& options) {
    lost = ParseLossTrace(options.read_file(file), file);
  }
  bool Lose(const Packet&, RandomStream&) {
    const bool now = lost[at];
    at = at + 1 == lost.size() ? 0 : at + 1;
    return now;
  }
};

}  // namespace viaduct::path
