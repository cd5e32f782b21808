// The interfaces that a path is emulated between.
#pragma once

#include <string>

#include "path/live/path_record.h"
#include "sys/machine/machine_lock.h"

namespace viaduct::emulate {

// Takes an interface of the calling thread's namespace for a path that has been recorded: adds it
// to the record and to `path`, and then switches off the offloads that combine several frames into
// one. Does no more than that where the path has it already. Throws UsageError if there is none, it
// is down, or another path has it; EnvironmentError if the driver keeps its offloads.
void TakeInterface(const std::string& name, PathInfo* path, sys::OwnEntry* record,
                   const Turn& turn);
// Takes a TAP device likewise, which the path reads (sys::OpenTap()): its offloads stay on, because
// what they leave to do to a frame is beside it in its header. `made`: by the path.
void TakeTap(const std::string& name, bool made, PathInfo* path, sys::OwnEntry* record,
             const Turn& turn);
// Does what AF_XDP needs besides, likewise: with an interface that has been taken, and with the
// other end of a veth pair (xdp::OffloadsInTheWay()). `kind`: of the port, for messages.
void TakeForXdp(const std::string& name, const std::string& kind, PathInfo* path,
                sys::OwnEntry* record, const Turn& turn);

}  // namespace viaduct::emulate
