// The part of the agent's protocol (agent_protocol.h) about programs.
#pragma once

#include "guest/agent/agent_protocol.h"

namespace viaduct::guest::agent {

// Requests; subject = the program, a number the simulator chooses.
inline constexpr Code kSpawn{kFirstProgramCode};         // Spawn and texts. kDone, or kFailed
inline constexpr Code kInput{kFirstProgramCode + 1};     // bytes; none: end of input. No answer
inline constexpr Code kSignal{kFirstProgramCode + 2};    // uint32_t: to its group. kDone
inline constexpr Code kResize{kFirstProgramCode + 3};    // TerminalSize. No answer
inline constexpr Code kAtPrompt{kFirstProgramCode + 4};  // kDone carries uint32_t: 1 if it is

// Events.
inline constexpr Code kOutput{0x8000 + kFirstProgramCode};      // uint32_t: descriptor; bytes
inline constexpr Code kExited{0x8000 + kFirstProgramCode + 1};  // int32_t: wait status (waitpid(2))

inline constexpr uint32_t kSpawnInput = 1;     // kInput is the standard input, else it is empty
inline constexpr uint32_t kSpawnTerminal = 2;  // a terminal is its standard input, output and error

struct TerminalSize {
  uint16_t rows;  // 0, 0: unknown
  uint16_t columns;
};
static_assert(sizeof(TerminalSize) == 4);

// Followed by zero-terminated texts: the working directory, the words, the environment.
struct Spawn {
  uint32_t node;
  uint32_t flags;
  uint32_t words;
  uint32_t variables;  // NAME=VALUE
  TerminalSize size;   // the terminal's, if it has one
};
static_assert(sizeof(Spawn) == 20);

}  // namespace viaduct::guest::agent
