// The records of running paths, and the locks that let an interface have one emulator at most.
//
// /run/viaduct/.paths/NAME/ holds record.json and the control socket of a running path.
// /run/viaduct/.interfaces/NAMESPACE-INTERFACE is locked (flock(2)) by the emulator that uses the
// interface.
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

// All paths that have a record, sorted by name.
std::vector<PathInfo> ListPaths();
// The path of that name or, if it is empty, the only one in this network namespace that has this
// pair (empty: any pair). Throws UsageError that lists the existing paths.
PathInfo FindPath(const std::string& name, const std::string& pair);

// Creates the directory with the record in it. The name of a dead path is reused. Throws UsageError
// if a live path has the name, or it is not a valid name.
void CreatePathRecord(const PathInfo& info);
// Removes the directory; it is no error if there is none.
void RemovePathRecord(const std::string& name);
// Removes the records of paths whose process has ended; returns their names.
std::vector<std::string> RemoveDeadPaths();

// Ensures that an interface of this namespace has no other emulator: held as long as the descriptor
// (or a copy of it in another process) is open.
class InterfaceLock {
 public:
  // Throws UsageError that names the emulator which has the lock. `holder`: the name of this one,
  // for that message.
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
