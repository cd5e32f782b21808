// Where running paths are found, and that an interface has one emulator at most.
//
// /run/viaduct/.paths/NAME/ holds record.json and the control socket of a running path.
// /run/viaduct/.interfaces/NAMESPACE-INTERFACE is locked (flock(2)) by who emulates on it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"

namespace viaduct::emulate {

struct PathInfo {
  std::string name;
  int pid = 0;
  uint64_t start_time = 0;  // sys::ProcessStartTime
  uint32_t uid = 0;         // the invoking user
  std::string created;      // UTC, ISO 8601
  uint64_t namespace_inode = 0;
  std::vector<std::string> interfaces;
  std::vector<std::string> pairs;
  bool alive = false;

  std::string directory() const;
  std::string control_socket() const;
};

// All with a record, by name.
std::vector<PathInfo> ListPaths();
// The path of that name; or, where it is empty, the only one in this network namespace that has
// this pair (empty: any). UsageError says what there is.
PathInfo FindPath(const std::string& name, const std::string& pair);

// Makes the directory with the record in it. The name of a dead path is taken over. UsageError
// where it is taken by a live one, or is no name.
void CreatePathRecord(const PathInfo& info);
// Removes the directory; what is not there is no error.
void RemovePathRecord(const std::string& name);
// Removes those whose process has ended; their names.
std::vector<std::string> RemoveDeadPaths();

// That an interface of this namespace has no other emulator: held as long as the descriptor (or a
// copy of it in another process) is open.
class InterfaceLock {
 public:
  // UsageError: another emulator has it; says which. `holder`: who we are, for that message.
  InterfaceLock(const std::string& interface, const std::string& holder);
  InterfaceLock(InterfaceLock&&) = default;
  // Removes the lock's file, unless another process does.
  ~InterfaceLock();
  void LeaveRemovalToOthers() { path_.clear(); }
  void Remove();

 private:
  UniqueFd file_;
  std::string path_;
};

}  // namespace viaduct::emulate
