// What the processes of a guest may do to this machine.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "base/fd.h"

namespace viaduct::guest {

// A guest runs with the rights of whoever started it, and its programs can mount this machine's
// files (hostfs). Confined it reads them, but creates, writes, shortens, renames and removes
// nothing outside its own folders, changes no file's mode, owner, times or attributes, opens no TCP
// connection of this machine and, as far as this kernel can keep it from that (6.12 on), signals no
// other process. By Landlock (landlock(7)) and seccomp(2); what the kernel has not is left out,
// WhyNotConfined() says so.
class Confinement {
 public:
  // `writable`: folders in which it may write, and devices. Throws SystemError.
  explicit Confinement(std::span<const std::filesystem::path> writable);
  // Confines the calling thread, and for ever what it executes and starts. Throws SystemError.
  void Enter() const;

 private:
  UniqueFd rules_;  // empty: there is no Landlock
};

// Why guests are not confined on this machine, or not wholly; empty where they are.
std::string WhyNotConfined();

}  // namespace viaduct::guest
