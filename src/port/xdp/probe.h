// Tests the abilities of AF_XDP on this machine (`viaduct doctor`).
#pragma once

#include "sys/network/features.h"

namespace viaduct::xdp {

// Opens a port on a veth pair in a scratch namespace. Needs root.
sys::Feature ProbeAfXdp();

}  // namespace viaduct::xdp
