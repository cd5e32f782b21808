// A class of a link's packets, which has separate SPECs.
#pragma once

#include <string>

#include "path/spec/spec.h"

namespace viaduct::path {

// A class of packets. The first class whose filter matches takes a packet, which then passes the
// pipeline of this class and none of the link's own.
struct TrafficClass {
  std::string name;
  std::string filter;  // pcap-filter(7), seen on the untagged frame
  Spec up, down;
  friend bool operator==(const TrafficClass&, const TrafficClass&) = default;
};

}  // namespace viaduct::path
