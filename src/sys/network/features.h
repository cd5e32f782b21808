// What this machine can do, found by trying (`viaduct doctor`).
#pragma once

#include <string>
#include <vector>

namespace viaduct::sys {

struct Feature {
  enum class State { kPresent, kAbsent, kUnknown };
  std::string name;  // "netem"
  State state = State::kUnknown;
  std::string purpose;  // what Viaduct uses it for
  std::string remedy;   // what to install or enable; empty when present
  std::string detail;   // why absent or unknown, in the kernel's words
};

// Tries each feature in scratch namespaces that vanish. Without root most are kUnknown.
std::vector<Feature> ProbeFeatures();

}  // namespace viaduct::sys
