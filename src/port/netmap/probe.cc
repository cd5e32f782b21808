#include <unistd.h>

#include "port/netmap/open.h"

namespace viaduct::netmap {

sys::Feature Probe() {
  sys::Feature feature;
  feature.name = "netmap";
  feature.purpose = "path --port netmap (not tested on a kernel with netmap)";
  feature.detail = Unavailable();
  if (feature.detail.empty() && access("/dev/netmap", R_OK | W_OK) != 0) {
    feature.detail = "/dev/netmap does not exist";
  }
  const bool is_here = feature.detail.empty();
  feature.state = is_here ? sys::Feature::State::kPresent : sys::Feature::State::kAbsent;
  if (!is_here)
    feature.remedy = "install the netmap module and headers, and build Viaduct with them";
  return feature;
}

}  // namespace viaduct::netmap
