// The interfaces that a path is emulated between.
#pragma once

#include <string>

#include "path/live/path_record.h"
#include "sys/machine/machine_lock.h"

namespace viaduct::path {

// Takes an interface of the calling thread's namespace for a path that has been recorded: adds it
// to the record and to `path`, and then switches off the offloads that combine several frames into
// one. Does no more than that where the path has it already. Throws UsageError if there is none, it
// is down, or another path has it; EnvironmentError if the driver keeps its offloads.
void TakeInterface(const std::string& name, PathInfo* path, sys::OwnEntry* record,
                   const sys::MachineLock& lock);
// Takes, in the same way, a TAP device that the path reads (sys::OpenTap()): its offloads stay on,
// because their unfinished work is described in each frame's header. `made`: the path has created
// it.
void TakeTap(const std::string& name, bool made, PathInfo* path, sys::OwnEntry* record,
             const sys::MachineLock& lock);
// Switches off, in the same way, the further offloads that AF_XDP does not permit: those of an
// interface that has been taken, and of the far end of a veth pair (xdp::OffloadsInTheWay()).
// `kind`: the port's kind, for messages.
void TakeForXdp(const std::string& name, const std::string& kind, PathInfo* path,
                sys::OwnEntry* record, const sys::MachineLock& lock);

}  // namespace viaduct::path
