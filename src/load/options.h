// The command line of viaduct-load.
#pragma once

#include <optional>
#include <string_view>

#include "load/receiver.h"
#include "load/sender.h"

namespace viaduct::load {

struct CommandLine {
  std::optional<SendOptions> send;  // one of the two
  std::optional<ReceiveOptions> receive;
  bool json = false;
};

// Throws UsageError; prints and leaves the program on --help.
CommandLine ParseCommandLine(int argc, const char* const* argv);

// "16Mbit" (of payload), "20000pps", "max" (no value). Throws UsageError.
std::optional<double> ParsePacketRate(std::string_view text, int payload_bytes);

}  // namespace viaduct::load
