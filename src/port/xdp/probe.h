// Tests what AF_XDP can do on this machine (`viaduct doctor`).
#pragma once

#include "sys/network/features.h"

namespace viaduct::xdp {

// Tests whether AF_XDP ports on veth pairs in scratch namespaces work. Needs root.
sys::Feature ProbeAfXdp();

}  // namespace viaduct::xdp
