// Finding paused simulations (viaduct kernel shell).
//
// A paused simulation listens on FOLDER/control, and FOLDER/record.json describes it. FOLDER is
// ROOT/PID; ROOT is /run/viaduct/.paused for root, else viaduct/paused in XDG_RUNTIME_DIR, else
// /tmp/viaduct-UID/paused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/fd.h"

namespace viaduct::guest {

struct PausedSimulation {
  std::string name;
  int pid = 0;
  uint64_t start_time = 0;  // sys::ProcessStartTime
  std::vector<std::string> nodes;
  bool alive = false;
  std::filesystem::path folder;

  std::filesystem::path socket() const { return folder / "control"; }
};

// All simulations with a record that this user can read, sorted by name.
std::vector<PausedSimulation> ListPaused();
// The simulation with that name or pid; if `name` is empty, the only one. Throws UsageError that
// lists those that exist.
PausedSimulation FindPaused(const std::string& name);
// Removes the records of simulations that have ended without doing so; returns their names.
std::vector<std::string> RemoveDeadPaused();

// The record of this process's paused simulation, and its listening socket (SOCK_SEQPACKET); both
// are removed with the object.
class PauseRecord {
 public:
  // Throws SystemError.
  PauseRecord(const std::string& name, const std::vector<std::string>& nodes);
  PauseRecord(const PauseRecord&) = delete;
  PauseRecord& operator=(const PauseRecord&) = delete;
  ~PauseRecord();

  UniqueFd TakeListener() { return std::move(listener_); }

 private:
  std::filesystem::path folder_;
  UniqueFd listener_;
};

}  // namespace viaduct::guest
