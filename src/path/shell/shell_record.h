// Changes by a shell: they are recorded before they are made, and undone when the shell's keeper
// has ended.
#pragma once

#include <string>
#include <vector>

#include "base/wire/address.h"
#include "path/live/shell_list.h"
#include "sys/machine/machine_lock.h"
#include "sys/machine/registry.h"

namespace viaduct::path {

// Records a shell whose keeper is this process.
sys::OwnEntry RecordShell(ShellInfo* shell, const sys::MachineLock& lock);
// The following functions add a change to the record and to `shell`; the caller makes the change
// next.
void RecordInside(const ShellInside& inside, ShellInfo* shell, sys::OwnEntry* record);
void RecordRules(wire::Family family, ShellInfo* shell, sys::OwnEntry* record);
void RecordForwarding(const ForwardingInterface& interface, ShellInfo* shell,
                      sys::OwnEntry* record);

// Ends the processes in the program's namespace, undoes the recorded changes except those that a
// live shell needs too, and then removes the record. Returns the changes that could not be undone,
// one line each.
std::vector<std::string> RemoveShell(const ShellInfo& shell, const sys::MachineLock& lock);
// Does the work of RemoveShell() for all shells whose keeper has ended; returns the removed shells.
// Problems are appended to `problems`.
std::vector<ShellInfo> RemoveDeadShells(std::vector<std::string>* problems);

}  // namespace viaduct::path
