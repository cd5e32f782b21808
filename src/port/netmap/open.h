// Ports by netmap (github.com/luigirizzo/netmap), a module outside of Linux.
#pragma once

#include <memory>
#include <string>

#include "port/port.h"
#include "sys/network/features.h"

namespace viaduct::netmap {

// Why this build has none; empty: it has.
std::string WhyNotBuilt();

// Throws EnvironmentError, which says why, where no port can be opened by anybody or by this
// process.
void CheckUsable();

// Takes an interface of the calling thread's namespace from its kernel (netmap mode), until the
// port is closed or the process has died. As root. `keeper` is destroyed after that; as long as it
// lives, promiscuous mode is on, and offloads that keep a part of a frame beside its bytes are off.
// Throws UsageError or EnvironmentError, which say what is in the way.
std::unique_ptr<io::AnyPort> OpenPort(const std::string& interface, std::shared_ptr<void> keeper);

// Whether /dev/netmap is there (`viaduct doctor`).
sys::Feature Probe();

}  // namespace viaduct::netmap
