// The configuration with which a switch or router redirects its links through the emulator, in the
// syntax of each vendor.
#pragma once

#include <string>

#include "path/switches/deflection.h"

namespace viaduct::switches {

// Returns the commands to enter on the device (ios, junos, eos), with comments in the device's
// syntax, or in a shell of the host (linux, ovs). `undo`: returns the commands that remove the
// configuration.
std::string Configuration(Vendor vendor, const Deflection& deflection, bool undo);

}  // namespace viaduct::switches
