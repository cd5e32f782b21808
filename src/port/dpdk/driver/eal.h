// DPDK's environment (EAL, the Environment Abstraction Layer) of this process.
#pragma once

#include <mutex>
#include <string>

#include "base/fd.h"

namespace viaduct::dpdk {

// The initialised EAL. It is initialised when the first device is opened, and kept until the
// process exits: DPDK cannot be initialised twice. It runs without huge pages, shared
// configuration, telemetry and files, and only with the requested devices. Restores the properties
// of the process that EAL changes: the CPU affinity of the calling thread, the signal masks (EAL's
// thread takes no signals), and close-on-exec of descriptors.
class Eal {
 public:
  // Returns the EAL, which the first call initialises. If the initialisation fails, the first and
  // every later call throw EnvironmentError with DPDK's message.
  static Eal& Get();

  // The lock that a thread must hold while it opens or closes a device.
  std::mutex& mutex() { return mutex_; }
  // Returns the text that DPDK has logged since the last call, as one line; "" if there is none.
  std::string TakeLog();
  // Throws EnvironmentError with the attempted action, the message of DPDK's return code, and
  // DPDK's log.
  [[noreturn]] void Refuse(const std::string& attempted, int result);

 private:
  Eal();

  std::mutex mutex_;
  UniqueFd log_;  // a file in memory
};

}  // namespace viaduct::dpdk
