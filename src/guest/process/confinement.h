// The restrictions on what the processes of a guest may do on this machine.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "base/fd.h"

namespace viaduct::guest {

// The restrictions of a guest. A guest runs with the rights of the user who started it, and its
// programs can mount this machine's files (hostfs). A confined guest can read the files, but it
// creates, writes, shortens, renames and removes nothing outside its writable folders, changes no
// file's mode, owner, times or attributes, opens no TCP connection of this machine (Linux 6.7 and
// newer) and signals no other process (Linux 6.12 and newer). The restrictions use Landlock
// (landlock(7)) and seccomp(2); restrictions that the machine's kernel does not have are omitted,
// which ConfinementUnavailable() reports.
class Confinement {
 public:
  // Prepares the restrictions. `writable`: the folders and devices to which the guest may write.
  // Throws SystemError.
  explicit Confinement(std::span<const std::filesystem::path> writable);
  // Confines the calling thread and all programs that it executes and starts, irrevocably. Throws
  // SystemError.
  void Enter() const;

 private:
  UniqueFd rules_;  // Landlock's ruleset; empty: the kernel has no Landlock
};

// Returns the reason why guests are not confined, or only partly confined, on this machine; empty
// if they are fully confined.
std::string ConfinementUnavailable();

// Returns which actions a kernel with this version of Landlock (landlock(7); 0: none) does not
// prevent; empty if it prevents everything that Confinement forbids.
std::string MissingOfLandlock(int version);

}  // namespace viaduct::guest
