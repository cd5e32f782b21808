// Locks that let an interface have one emulator at most.
#pragma once

#include <string>

#include "base/fd.h"

namespace viaduct::emulate {

// Ensures that an interface of this namespace has no other emulator: held as long as the descriptor
// (or a copy of it in another process) is open. What is locked (flock(2)) is
// /run/viaduct/.locks/interface-NAMESPACE-INTERFACE.
class InterfaceLock {
 public:
  // Throws UsageError that names the emulator which has the lock. `holder`: the name of this one,
  // for that message.
  InterfaceLock(const std::string& interface, const std::string& holder);
  InterfaceLock(InterfaceLock&&) = default;
  // Removes the lock's file.
  ~InterfaceLock();
  void Remove();

 private:
  UniqueFd file_;
  std::string path_;
};

}  // namespace viaduct::emulate
