// Ports by netmap (github.com/luigirizzo/netmap), a kernel module that is not part of Linux.
#pragma once

#include <memory>
#include <string>

#include "port/port.h"
#include "sys/network/features.h"

namespace viaduct::netmap {

// Returns the reason that this build has no netmap; empty if it has netmap.
std::string Unavailable();

// Throws EnvironmentError with the reason if no netmap port can be opened on this machine or by
// this process.
void CheckUsable();

// Takes an interface of the calling thread's network namespace from the kernel (netmap mode), until
// the port is closed or the process has exited. Needs root. `keeper` is destroyed after the port is
// closed; while it exists, promiscuous mode is on, and offloads that keep a part of a frame outside
// its bytes are off. Throws UsageError or EnvironmentError with the reason.
std::unique_ptr<io::AnyPort> OpenPort(const std::string& interface, std::shared_ptr<void> keeper);

// Whether /dev/netmap exists (`viaduct doctor`).
sys::Feature Probe();

}  // namespace viaduct::netmap
