// The records of running paths: a registry (sys/registry.h), /run/viaduct/.paths, whose entries
// hold record.json and the path's control socket.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sys/registry.h"

namespace viaduct::emulate {

struct PathInfo : sys::RegistryEntry {
  uint64_t namespace_inode = 0;
  std::vector<std::string> interfaces;
  std::vector<std::string> pairs;

  void Read(const sys::RecordLines& lines);
  std::string control_socket() const { return folder / "control"; }
};

// All paths that have a record, sorted by name.
std::vector<PathInfo> ListPaths();
// The path of that name or, if it is empty, the only one in this network namespace that has this
// pair (empty: any pair). Throws UsageError that lists the existing paths.
PathInfo FindPath(const std::string& name, const std::string& pair);

// Records the path as this process's, and sets what the record says of its maker. The name of a
// dead path is reused. Throws UsageError if a live path has the name, or it is not a valid name.
void RecordPath(PathInfo* path);
void RemovePathRecord(const PathInfo& path);
// Removes the records of paths whose process has ended, and returns them. Problems are appended to
// `problems`.
std::vector<PathInfo> RemoveDeadPaths(std::vector<std::string>* problems);

}  // namespace viaduct::emulate
