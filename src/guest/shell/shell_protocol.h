// The protocol between `viaduct kernel shell` and a paused simulation: packets (SOCK_SEQPACKET)
// that consist of a type byte and a payload.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace viaduct::guest {

inline constexpr int kShellProtocol = 1;
// The maximum number of bytes of input or output in one packet.
inline constexpr size_t kShellPiece = 32 * 1024;

enum class ShellPacket : char {
  // Packets to the simulation; the first packet of a connection is kOpen, kResume or kAsk.
  //
  // Opens a program. Payload: JSON: protocol, node, words (none: a shell), environment, folder,
  // terminal, rows, columns. Answer: kOpened or kError.
  kOpen = 'O',
  kInput = 'I',   // bytes of input; an empty payload: end of input
  kSize = 'W',    // window size. Payload: JSON: rows, columns
  kSignal = 'S',  // payload: JSON: signal
  kResume = 'R',  // resumes the simulation. No payload. Answer: kOpened or kError
  // A question. Payload: JSON, which the simulation defines. Answer: kOutput packets and then
  // kOpened, or kError.
  kAsk = 'Q',
  // Packets from the simulation.
  kOpened = 'A',  // payload: JSON: node, release, time (seconds)
  kError = 'E',   // payload: JSON: message, status (ExitStatus); the last packet
  kOutput = '1',  // bytes of standard output
  kErrors = '2',  // bytes of standard error
  kExited = 'X',  // payload: JSON: status, from waitpid(2); the last packet
};

struct ShellMessage {
  ShellPacket packet;
  std::string_view payload;  // borrowed from the packet
};

// Sends one packet; waits for at most `milliseconds` (-1: without limit) while the peer reads
// nothing. Returns false if the peer has closed the connection, or did not read in time.
bool SendShell(int fd, ShellPacket packet, std::string_view payload, int milliseconds);
// Parses a received packet; returns nullopt for an empty packet.
std::optional<ShellMessage> ParseShell(std::string_view packet);

}  // namespace viaduct::guest
