// Files that are others for one program than for the rest of the machine.
#pragma once

#include <string>

namespace viaduct::emulate {

// From now on this process, and those that it starts, have mounts of their own: what is mounted
// here is not mounted for others, but what they mount comes here too. Throws SystemError.
void EnterOwnMounts();
// Mounts `file` over `target`, or over what that links to. Throws SystemError.
void MountOver(const std::string& file, const std::string& target);

}  // namespace viaduct::emulate
