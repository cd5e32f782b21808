// DPDK's environment (EAL) of this process.
#pragma once

#include <mutex>
#include <string>

#include "base/fd.h"

namespace viaduct::dpdk {

// Initialised once, when the first device is opened, and left to the process's end: DPDK cannot be
// initialised twice. Without huge pages, shared configuration, telemetry and files; with no device
// but those that are asked for. What EAL changes of the process is changed back: the calling
// thread's processors, signal masks (its thread takes no signals), descriptors that are inherited.
class Eal {
 public:
  // Throws EnvironmentError, with what DPDK says: the first time, and then always.
  static Eal& Get();

  // One thread at a time opens and closes devices.
  std::mutex& mutex() { return mutex_; }
  // What DPDK has written since the last call, as one line; "" if nothing.
  std::string TakeLog();
  // EnvironmentError: what was attempted, DPDK's return code, and its log.
  [[noreturn]] void Refuse(const std::string& attempted, int result);

 private:
  Eal();

  std::mutex mutex_;
  UniqueFd log_;  // a file in memory
};

}  // namespace viaduct::dpdk
