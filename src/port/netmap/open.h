// Ports by netmap (github.com/luigirizzo/netmap), a module outside of Linux.
#pragma once

#include <memory>
#include <string>

#include "port/port.h"
#include "sys/network/features.h"

namespace viaduct::netmap {

// Returns the reason that this build has no netmap; empty: it has.
std::string Unavailable();

// Throws EnvironmentError, with the reason, if no port can be opened on this machine or by this
// process.
void CheckUsable();

// Takes an interface of the calling thread's namespace from its kernel (netmap mode), until the
// port is closed or the process has exited. Needs root. `keeper` is destroyed after that; while it
// exists, promiscuous mode is on, and offloads that keep a part of a frame outside its bytes are
// off. Throws UsageError or EnvironmentError with the reason.
std::unique_ptr<io::AnyPort> OpenPort(const std::string& interface, std::shared_ptr<void> keeper);

// Whether /dev/netmap exists (`viaduct doctor`).
sys::Feature Probe();

}  // namespace viaduct::netmap
