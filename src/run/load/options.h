// The command line of viaduct-load.
#pragma once

#include <optional>
#include <string_view>

#include "run/load/pinger.h"
#include "run/load/receiver.h"
#include "run/load/sender.h"

namespace viaduct::load {

struct CommandLine {
  std::optional<SendOptions> send;  // exactly one of send, receive and ping is set
  std::optional<ReceiveOptions> receive;
  std::optional<PingOptions> ping;
  bool json = false;
};

// Parses the command line. Throws UsageError; for --help prints the help and exits.
CommandLine ParseCommandLine(int argc, const char* const* argv);

// Parses "16Mbit" (of payload), "20000pps", or "max" (returns no value). Throws UsageError.
std::optional<double> ParsePacketRate(std::string_view text, int payload_bytes);

}  // namespace viaduct::load
