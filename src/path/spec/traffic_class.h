// A class of a link's packets, which has separate SPECs.
#pragma once

#include <string>

#include "path/spec/spec.h"

namespace viaduct::path {

// A class of packets. A packet belongs to the first class whose filter matches the packet, and
// passes the pipeline of this class instead of the link's pipeline.
struct TrafficClass {
  std::string name;
  std::string filter;  // pcap-filter(7), applied to the untagged frame
  Spec up, down;
  friend bool operator==(const TrafficClass&, const TrafficClass&) = default;
};

}  // namespace viaduct::path
