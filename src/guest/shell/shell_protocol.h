// The protocol between `viaduct kernel shell` and a paused simulation: packets (SOCK_SEQPACKET) of
// a type byte and a payload.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace viaduct::guest {

inline constexpr int kShellProtocol = 1;
inline constexpr size_t kShellPiece = 32 * 1024;  // bytes of input or output in one packet

enum class ShellPacket : char {
  // To the simulation; the first of a connection is kOpen, kResume or kAsk.
  kOpen = 'O',    // JSON: protocol, node, words (none: a shell), environment, folder, terminal,
                  // rows, columns. kOpened, or kError
  kInput = 'I',   // bytes; none: end of input
  kSize = 'W',    // JSON: rows, columns
  kSignal = 'S',  // JSON: signal
  kResume = 'R',  // no payload. kOpened, or kError
  kAsk = 'Q',     // JSON, as the simulation defines. Answered by kOutputs and kOpened, or kError
  // From the simulation.
  kOpened = 'A',  // JSON: node, release, time (seconds)
  kError = 'E',   // JSON: message, status (ExitStatus); the last packet
  kOutput = '1',  // bytes
  kErrors = '2',  // bytes of standard error
  kExited = 'X',  // JSON: status, from waitpid(2); the last packet
};

struct ShellMessage {
  ShellPacket packet;
  std::string_view payload;  // borrowed
};

// Sends one packet; waits while the peer reads nothing, at most `milliseconds` (-1: without limit).
// Returns false if the peer has closed, or did not read in time.
bool SendShell(int fd, ShellPacket packet, std::string_view payload, int milliseconds);
// Returns the received message, or nullopt for an empty packet.
std::optional<ShellMessage> ParseShell(std::string_view packet);

}  // namespace viaduct::guest
