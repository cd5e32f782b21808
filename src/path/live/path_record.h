// The records of running paths: a registry (sys/machine/registry.h), /run/viaduct/.paths, whose
// entries hold record.json and the path's control socket. The maker of an entry is the path's
// keeper, which records each change before it makes the change.
#pragma once

#include <string>
#include <vector>

#include "sys/machine/machine_lock.h"
#include "sys/machine/namespace_id.h"
#include "sys/machine/registry.h"

namespace viaduct::path {

// An interface that a path has taken. An interface that is created again is taken again and has a
// second entry.
struct TakenInterface {
  std::string interface;
  int ifindex = 0;
  std::vector<std::string> offloads;  // offloads that were on and that the path switches off
  // The namespace of a veth pair's far end; with inode 0, the interface is in the path's namespace.
  sys::NamespaceId network = {};
  uint32_t program = 0;  // XDP program to detach (xdp::Program::Left()); 0: none
  bool tap = false;      // a TAP device that the path reads
  bool made = false;     // created by the path, and removed at the path's end in any case
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(TakenInterface, interface, ifindex, offloads,
                                                network, program, tap, made)

struct PathInfo : sys::RegistryEntry {
  sys::NamespaceId network;
  std::vector<std::string> interfaces;
  std::vector<std::string> pairs;
  std::vector<TakenInterface> taken;

  void Read(const sys::RecordLines& lines);
  std::string control_socket() const { return folder / "control"; }
};

sys::Registry Paths();
// Lists all paths that have a record, sorted by name.
std::vector<PathInfo> ListPaths();
// Lists all paths and the paths of shells (path/live/shell_list.h), which have the shells' names.
std::vector<PathInfo> ListPathsAndShells();

// The environment variable of a shell's program that holds the name of the shell's path.
inline constexpr char kPathVariable[] = "VIADUCT_PATH";

// Returns the path with the name `name`, which may be a shell's path. If `name` is empty and this
// process runs in a shell (kPathVariable), returns the shell's path, provided that `pair` is empty
// or is the pair of that path. Otherwise returns the only path in this network namespace that has
// the pair or, if `pair` is empty, the only path in this namespace. If there is no such path, or
// there are several, throws a UsageError that lists the existing paths.
PathInfo FindPath(const std::string& name, const std::string& pair);

// Records the path as a path of this process, and sets the members that describe its maker. A dead
// path with the same name is removed first. Throws UsageError if a live path has the name, or if
// the name is not valid.
sys::OwnEntry RecordPath(PathInfo* path, const sys::MachineLock& lock);

// Returns whether both entries are the same interface: they have the same index in the same
// namespace, which is that of the path or of a veth pair's far end.
bool IsSame(const PathInfo& path, const TakenInterface& taken, const PathInfo& other,
            const TakenInterface& others);
// Returns all paths except `path`, live and dead, that have taken the interface `taken` of `path`.
std::vector<PathInfo> OtherTakers(const PathInfo& path, const TakenInterface& taken);

// Restores everything that the record lists as changed, except interfaces that a live path has
// taken in the meantime, and then removes the record. Returns the changes that could not be
// restored, one line each.
std::vector<std::string> RemovePath(const PathInfo& path, const sys::MachineLock& lock);
// Does the work of RemovePath() for all paths whose keeper has ended; returns the removed paths.
// Problems are appended to `problems`.
std::vector<PathInfo> RemoveDeadPaths(std::vector<std::string>* problems);

}  // namespace viaduct::path
