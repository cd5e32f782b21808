// The frames on the socket between viaduct-mpi and the program that it starts: "NUMBER LENGTH\n"
// and LENGTH bytes. mpi_main.cc lists the meanings of the numbers. viaduct-mpi uses no other
// library of this project than base.
#pragma once

#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>

#include "base/error.h"

namespace viaduct::machines {

inline constexpr int kClockFrame = -1, kIdentityFrame = -2, kSilentFrame = -3;

// The time without a message, in seconds, after which a rank counts as gone. Each rank sends a
// message every second.
inline constexpr int kMaxSilence = 10;

struct MpiFrame {
  int number = 0;
  std::string bytes;
};

inline std::string WriteFrame(int number, const std::string& bytes) {
  return std::to_string(number) + " " + std::to_string(bytes.size()) + "\n" + bytes;
}

// Removes the first received frame from `received` and returns it, if it is complete. Throws Error
// if the frame is malformed.
inline std::optional<MpiFrame> TakeFrame(std::string& received) {
  const size_t line = received.find('\n');
  if (line == std::string::npos) return std::nullopt;
  MpiFrame frame;
  size_t length = 0;
  if (std::sscanf(received.c_str(), "%d %zu", &frame.number, &length) != 2) {
    throw Error("malformed frame between viaduct and viaduct-mpi");
  }
  if (received.size() - line - 1 < length) return std::nullopt;
  frame.bytes = received.substr(line + 1, length);
  received.erase(0, line + 1 + length);
  return frame;
}

}  // namespace viaduct::machines
