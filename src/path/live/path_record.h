// The records of running paths: a registry (sys/machine/registry.h), /run/viaduct/.paths, whose
// entries hold record.json and the path's control socket. The maker is the path's keeper, which
// writes there what it changes before it does.
#pragma once

#include <string>
#include <vector>

#include "sys/machine/machine_lock.h"
#include "sys/machine/namespace_id.h"
#include "sys/machine/registry.h"

namespace viaduct::path {

// An interface that a path has taken; an interface that is created again is taken again, as a
// separate one.
struct TakenInterface {
  std::string interface;
  int ifindex = 0;
  std::vector<std::string> offloads;  // the offloads that were on, and that the path switches off
  sys::NamespaceId network = {};      // inode 0: the path's; else that of a veth pair's far end
  uint32_t program = 0;               // in a dispatcher of XDP programs (xdp::Program::Left())
  bool tap = false;                   // a TAP device that the path reads
  bool made = false;                  // created by the path, and removed at its end in any case
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
// All paths that have a record, sorted by name.
std::vector<PathInfo> ListPaths();
// Lists all paths and the paths of shells (path/live/shell_list.h), which have the shells' names.
std::vector<PathInfo> ListPathsAndShells();

// The variable that names its path to the program of a shell.
inline constexpr char kPathVariable[] = "VIADUCT_PATH";

// Returns the path, also of a shell, that has this name. If `name` is empty: that of the shell that
// this process is in (kPathVariable), if it has this pair or `pair` is empty too; else the only one
// in this network namespace that has this pair, or the only one here. Throws UsageError that lists
// the existing paths.
PathInfo FindPath(const std::string& name, const std::string& pair);

// Records the path as this process's, and sets the members that describe its maker. A dead path of
// that name is removed first. Throws UsageError if a live path has the name, or it is not a valid
// name.
sys::OwnEntry RecordPath(PathInfo* path, const sys::MachineLock& lock);

// Returns whether both are one interface, in the namespaces of their paths or others.
bool IsSame(const PathInfo& path, const TakenInterface& taken, const PathInfo& other,
            const TakenInterface& others);
// Returns all paths except `path`, live and dead, that have taken this interface of `path`.
std::vector<PathInfo> OtherTakers(const PathInfo& path, const TakenInterface& taken);

// Restores what the record lists as changed, unless a live path has it by now, and then removes the
// record. Returns what could not be restored, one line each.
std::vector<std::string> RemovePath(const PathInfo& path, const sys::MachineLock& lock);
// Does what RemovePath() does, for all paths whose keeper has ended; returns the removed paths.
// Problems are appended to `problems`.
std::vector<PathInfo> RemoveDeadPaths(std::vector<std::string>* problems);

}  // namespace viaduct::path
