// The interfaces between which a path is emulated.
#pragma once

#include <string>

#include "path/live/path_record.h"
#include "sys/machine/machine_lock.h"

namespace viaduct::path {

// Takes an interface of the calling thread's namespace for a path that has been recorded: adds the
// interface to the record and to `path`, and then switches off the offloads that combine several
// frames into one. If the path already has the interface, only switches off these offloads. Throws
// UsageError if the interface does not exist or is down, or if another path has it;
// EnvironmentError if the driver keeps its offloads on.
void TakeInterface(const std::string& name, PathInfo* path, sys::OwnEntry* record,
                   const sys::MachineLock& lock);
// Takes a TAP device that the path reads (sys::OpenTap()) like TakeInterface(), but leaves its
// offloads on, because each frame's header describes the work that the offloads leave unfinished.
// `made`: the path has created the device.
void TakeTap(const std::string& name, bool made, PathInfo* path, sys::OwnEntry* record,
             const sys::MachineLock& lock);
// Switches off, like TakeInterface(), the other offloads that AF_XDP does not permit, on an
// interface that has been taken and on the far end of a veth pair (xdp::OffloadsInTheWay()).
// `kind`: the port's kind, for messages.
void TakeForXdp(const std::string& name, const std::string& kind, PathInfo* path,
                sys::OwnEntry* record, const sys::MachineLock& lock);

}  // namespace viaduct::path
