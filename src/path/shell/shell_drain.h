// The traffic that is under way when the program of `viaduct shell` ends.
#pragma once

#include "base/result/engine.h"
#include "base/time.h"
#include "path/live/path_emulation.h"
#include "path/shell/shell.h"
#include "sys/event_loop.h"

namespace viaduct::path {

// Ends the descendants of the program, which has ended, and keeps the path running until it holds
// no packet and no TCP connection of the program has still to send (sys/network/tcp_table.h), but
// not longer than `limit`, nor after a signal. Zero: does neither. Returns what is cut off when the
// path stops now.
result::DrainResult Drain(const PathEmulation& path, Shell& shell, sys::EventLoop& loop,
                          Duration limit);

}  // namespace viaduct::path
