// Changes by a shell: recorded before they are made, undone when the shell's keeper has ended.
#pragma once

#include <string>
#include <vector>

#include "base/wire/address.h"
#include "path/live/shell_list.h"
#include "sys/machine/machine_lock.h"
#include "sys/machine/registry.h"

namespace viaduct::emulate {

// Records a shell as this process's.
sys::OwnEntry RecordShell(ShellInfo* shell, const Turn& turn);
// What is done next, in the record and in `shell`.
void RecordInside(const ShellInside& inside, ShellInfo* shell, sys::OwnEntry* record);
void RecordRules(wire::Family family, ShellInfo* shell, sys::OwnEntry* record);
void RecordForwarding(const ForwardingInterface& interface, ShellInfo* shell,
                      sys::OwnEntry* record);

// Ends the processes in the program's namespace, undoes what the record says, but what a live shell
// needs too, and removes the record then. Returns what could not be done, one line each.
std::vector<std::string> RemoveShell(const ShellInfo& shell, const Turn& turn);
// The same for all shells whose keeper has ended; returns those removed. Problems are appended to
// `problems`.
std::vector<ShellInfo> RemoveDeadShells(std::vector<std::string>* problems);

}  // namespace viaduct::emulate
