// A class of a link's packets, which has SPECs of its own.
#pragma once

#include <string>

#include "path/spec/spec.h"

namespace viaduct::path {

// Of several classes the first whose filter matches takes a packet; it passes this class's
// pipeline, and none of the link's own.
struct TrafficClass {
  std::string name;
  std::string filter;  // pcap-filter(7), seen on the untagged frame
  Spec up, down;
  friend bool operator==(const TrafficClass&, const TrafficClass&) = default;
};

}  // namespace viaduct::path
