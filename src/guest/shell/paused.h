// Finding paused simulations (viaduct kernel shell). Each paused simulation is an entry of a
// registry (sys/machine/registry.h). The entry is a folder that is named after the process and
// contains record.json and `control`, the socket on which the simulation listens. The registry is
// /run/viaduct/.paused for root, otherwise viaduct/paused in XDG_RUNTIME_DIR, otherwise
// /tmp/viaduct-UID/paused.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/time.h"
#include "sys/machine/registry.h"

namespace viaduct::guest {

// A link or network between nodes of a paused simulation.
struct PausedLink {
  std::string name;                            // empty: the link has no name
  std::vector<std::string> nodes, interfaces;  // the nodes, and the interface of each
};

struct PausedSimulation : sys::RegistryEntry {
  std::string simulation;            // the simulation's name, which users give
  double time = 0;                   // seconds: the virtual instant of the pause
  std::vector<std::string> nodes;    // all nodes; of a C++ program only those with a kernel
  std::vector<std::string> kernels;  // the nodes with a kernel, on which shells can be opened
  std::vector<PausedLink> links;

  void Read(const sys::RecordLines& lines);
  std::string label() const { return simulation + " (" + name + ")"; }
  // Connects to the simulation's socket (SOCK_SEQPACKET). Throws SystemError.
  UniqueFd Connect() const;
};

// Returns the paused simulations that this user can read, sorted by name.
std::vector<PausedSimulation> ListPaused();
// Returns the paused simulation with the name or pid `name`; if `name` is empty, the only paused
// simulation. Throws UsageError, with a list of the paused simulations, if there is no such
// simulation or more than one.
PausedSimulation FindPaused(const std::string& name);
// Returns the paused simulation with the name or pid `name`. Returns nullopt instead of throwing if
// there is none, because `name` may be the name of something else.
std::optional<PausedSimulation> LookForPaused(const std::string& name);
// Removes the records of simulations that have ended without removing their records, and returns
// these simulations. Problems are appended to `problems`.
std::vector<PausedSimulation> RemoveDeadPaused(std::vector<std::string>* problems);
// Removes the record, if any, of the process `simulator`, which must have ended and have been
// waited for. Does not change other records. Parts of the record that cannot be removed are left
// for `viaduct clean`. Throws the same errors as Registry::List().
void RemoveDeadPaused(pid_t simulator);

// The record of this process's paused simulation, and its listening socket (SOCK_SEQPACKET); the
// destructor removes both.
class PauseRecord {
 public:
  // Creates the record and the socket. Throws SystemError, or EnvironmentError if another user owns
  // the place of the record.
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
