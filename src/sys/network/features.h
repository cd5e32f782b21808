// The features of this machine, found by trying them (`viaduct doctor`).
#pragma once

#include <string>
#include <vector>

namespace viaduct::sys {

struct Feature {
  enum class State { kPresent, kAbsent, kUnknown };
  std::string name;  // the feature, such as "netem"
  State state = State::kUnknown;
  std::string purpose;  // Viaduct's use of the feature
  std::string remedy;   // the thing to install or enable; empty if the feature is present
  std::string detail;   // the kernel's reason, if the feature is absent or unknown
};

// Tries each feature in scratch namespaces, which are removed afterwards. Without root most
// features are kUnknown.
std::vector<Feature> ProbeFeatures();

}  // namespace viaduct::sys
