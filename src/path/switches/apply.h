// Configuring a switch on this machine: a Linux bridge, redirected ports, Open vSwitch.
#pragma once

#include "path/switches/deflection.h"

namespace viaduct::switches {

// Applies the complete configuration; if a command fails, undoes the previous commands. Throws
// EnvironmentError if a program is missing or the kernel's bridges do not support VLANs, UsageError
// if a port of Open vSwitch is already redirected, Error if another part fails. Needs root.
void Apply(Vendor vendor, const Deflection& deflection);
// Removes all parts of the configuration that can be removed; then throws the first Error.
void Undo(Vendor vendor, const Deflection& deflection);

}  // namespace viaduct::switches
