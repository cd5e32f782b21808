// The traffic that is in flight when the program of `viaduct shell` ends.
#pragma once

#include "base/result/engine.h"
#include "base/time.h"
#include "path/live/path_emulation.h"
#include "path/shell/shell.h"
#include "sys/event_loop.h"

namespace viaduct::path {

// Ends the descendants of the program, which has ended, and keeps the path running until it holds
// no packet and no TCP connection of the program still has data to send (sys/network/tcp_table.h),
// but not longer than `limit`, nor after a signal. With a `limit` of zero, does neither. Returns
// the traffic that is lost if the path stops now.
result::DrainResult Drain(const PathEmulation& path, Shell& shell, sys::EventLoop& loop,
                          Duration limit);

}  // namespace viaduct::path
