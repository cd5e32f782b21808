// The restrictions of what the processes of a guest may do to this machine.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "base/fd.h"

namespace viaduct::guest {

// A guest runs with the rights of the user who started it, and its programs can mount this
// machine's files (hostfs). A confined guest reads them, but creates, writes, shortens, renames and
// removes nothing outside its own folders, changes no file's mode, owner, times or attributes,
// opens no TCP connection of this machine (from Linux 6.7 on) and signals no other process
// (from 6.12 on). Uses Landlock (landlock(7)) and seccomp(2); restrictions that the kernel does not
// have are left out, which ConfinementUnavailable() reports.
class Confinement {
 public:
  // `writable`: folders in which it may write, and devices. Throws SystemError.
  explicit Confinement(std::span<const std::filesystem::path> writable);
  // Confines the calling thread, and for ever the programs that it executes and starts. Throws
  // SystemError.
  void Enter() const;

 private:
  UniqueFd rules_;  // empty: the kernel has no Landlock
};

// Returns why guests are not confined on this machine, or not wholly; empty if they are.
std::string ConfinementUnavailable();

// Returns what a kernel with this version of Landlock (landlock(7); 0: none) does not prevent;
// empty if it prevents everything that Confinement forbids.
std::string MissingOfLandlock(int version);

}  // namespace viaduct::guest
