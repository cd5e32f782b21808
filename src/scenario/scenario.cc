#include "scenario/scenario.h"

#include <cctype>

namespace viaduct::scenario {

std::string OutputFileOf(std::string program) {
  for (char& c : program) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.') c = '_';
  }
  return program + ".txt";
}

const char* ModeName(Mode mode) {
  constexpr const char* kNames[] = {"simulate", "traditional", "emulate", "offload"};
  return kNames[static_cast<size_t>(mode)];
}

const char* GuestPlaceName(GuestPlace place) {
  return place == GuestPlace::kEmbedded ? "embedded" : "process";
}

const char* KindName(Flow::Kind kind) {
  constexpr const char* kNames[] = {"udp", "tcp", "ping"};
  return kNames[static_cast<size_t>(kind)];
}

uint64_t PingsOf(const Flow& flow) {
  const int64_t whole = flow.duration / flow.interval;
  return static_cast<uint64_t>(whole + (flow.interval * whole < flow.duration ? 1 : 0));
}

}  // namespace viaduct::scenario
