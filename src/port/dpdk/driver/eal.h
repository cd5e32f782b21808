// DPDK's environment (EAL) of this process.
#pragma once

#include <mutex>
#include <string>

#include "base/fd.h"

namespace viaduct::dpdk {

// Initialised once, when the first device is opened, and kept until the process exits: DPDK cannot
// be initialised twice. Without huge pages, shared configuration, telemetry and files; only with
// the requested devices. Restores what EAL changes in the process: the calling thread's processors,
// signal masks (EAL's thread takes no signals), descriptors that are inherited.
class Eal {
 public:
  // Throws EnvironmentError, with DPDK's message: the first time, and then always.
  static Eal& Get();

  // Held while a thread opens or closes a device.
  std::mutex& mutex() { return mutex_; }
  // Returns the text that DPDK has written since the last call, as one line; "" if none.
  std::string TakeLog();
  // Throws EnvironmentError with what was attempted, DPDK's return code, and its log.
  [[noreturn]] void Refuse(const std::string& attempted, int result);

 private:
  Eal();

  std::mutex mutex_;
  UniqueFd log_;  // a file in memory
};

}  // namespace viaduct::dpdk
