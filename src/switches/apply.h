// Configuring this machine's own switch: a Linux bridge, redirected ports, Open vSwitch.
#pragma once

#include "switches/deflection.h"

namespace viaduct::switches {

// Does all of it, or nothing. EnvironmentError: a program is missing, or the kernel's bridges know
// no VLANs. UsageError: a port of Open vSwitch is deflected already. Error otherwise. Needs root.
void Apply(Vendor vendor, const Deflection& deflection);
// Takes it away again, as far as it goes; then throws the first Error.
void Undo(Vendor vendor, const Deflection& deflection);

}  // namespace viaduct::switches
