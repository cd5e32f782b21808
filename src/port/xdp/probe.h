// What AF_XDP can do on this machine (`viaduct doctor`).
#pragma once

#include "sys/network/features.h"

namespace viaduct::xdp {

// Tries it on a veth pair in a scratch namespace. Needs root.
sys::Feature ProbeAfXdp();

}  // namespace viaduct::xdp
