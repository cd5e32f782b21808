// Finding paused simulations (viaduct kernel shell). Each is an entry of a registry
// (sys/machine/registry.h), whose entries are named after the process and hold record.json and
// `control`, the socket on which the simulation listens. The registry is /run/viaduct/.paused for
// root, else viaduct/paused in XDG_RUNTIME_DIR, else /tmp/viaduct-UID/paused.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/time.h"
#include "sys/machine/registry.h"

namespace viaduct::guest {

// A network between nodes.
struct PausedLink {
  std::string name;                            // empty: no name
  std::vector<std::string> nodes, interfaces;  // for each node, its interface
};

struct PausedSimulation : sys::RegistryEntry {
  std::string simulation;            // the name that users give it
  double time = 0;                   // s: the virtual instant at which it was paused
  std::vector<std::string> nodes;    // all; of a C++ program only those with a kernel
  std::vector<std::string> kernels;  // the nodes with a kernel, on which shells can be opened
  std::vector<PausedLink> links;

  void Read(const sys::RecordLines& lines);
  std::string label() const { return simulation + " (" + name + ")"; }
  // Connects to its socket (SOCK_SEQPACKET). Throws SystemError.
  UniqueFd Connect() const;
};

// Returns the paused simulations that this user can read, by name.
std::vector<PausedSimulation> ListPaused();
// Returns the simulation with that name or pid; if `name` is empty, the only one. Throws UsageError
// that lists the existing ones.
PausedSimulation FindPaused(const std::string& name);
// Returns the simulation with that name or pid, or nullopt, because something else may have the
// name.
std::optional<PausedSimulation> LookForPaused(const std::string& name);
// Removes the records of simulations that have ended without removing them, and returns them.
// Problems are appended to `problems`.
std::vector<PausedSimulation> RemoveDeadPaused(std::vector<std::string>* problems);
// Removes the record, if there is one, of the process `simulator` alone, which has ended and was
// waited for. What cannot be removed stays for `viaduct clean`. Throws as Registry::List().
void RemoveDeadPaused(pid_t simulator);

// The record of this process's paused simulation, and its listening socket (SOCK_SEQPACKET); both
// are removed with the object.
class PauseRecord {
 public:
  // Throws SystemError; EnvironmentError if another user owns the place of the record.
  PauseRecord(const std::string& name, Instant time, const std::vector<std::string>& nodes,
              const std::vector<std::string>& kernels, const std::vector<PausedLink>& links);
  PauseRecord(const PauseRecord&) = delete;
  PauseRecord& operator=(const PauseRecord&) = delete;
  ~PauseRecord();

  UniqueFd TakeListener() { return std::move(listener_); }

 private:
  sys::Registry registry_;
  sys::RegistryEntry entry_;
  UniqueFd listener_;
};

}  // namespace viaduct::guest
