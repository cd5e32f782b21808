// The configuration that deflects links, in the words of each vendor.
#pragma once

#include <string>

#include "switches/deflection.h"

namespace viaduct::switches {

// What to type into the device (ios, junos, eos), comments in its own syntax, or into a shell of
// the host (linux, ovs). `undo`: what takes it away again.
std::string Configuration(Vendor vendor, const Deflection& deflection, bool undo);

}  // namespace viaduct::switches
