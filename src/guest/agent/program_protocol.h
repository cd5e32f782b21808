// The requests and events about programs in the agent's protocol (agent_protocol.h).
#pragma once

#include "guest/agent/agent_protocol.h"

namespace viaduct::guest::agent {

// Requests; the subject is the program's number, which the simulator chooses.
//
// Starts a program. Payload: Spawn and texts. Answer: kDone or kFailed.
inline constexpr Code kSpawn{kFirstProgramCode};
// Writes to the program's standard input. Payload: the bytes; an empty payload means the end of the
// input. No answer.
inline constexpr Code kInput{kFirstProgramCode + 1};
// Sends a signal to the program's process group. Payload: uint32_t. Answer: kDone.
inline constexpr Code kSignal{kFirstProgramCode + 2};
// Sets the size of the program's terminal. Payload: TerminalSize. No answer.
inline constexpr Code kResize{kFirstProgramCode + 3};
// Asks whether the program waits at its prompt. Answer: kDone with a uint32_t, which is 1 if the
// program waits at its prompt.
inline constexpr Code kAtPrompt{kFirstProgramCode + 4};

// Events; the subject is the program's number.
//
// The program has written output. Payload: uint32_t, the descriptor (1 or 2); the bytes.
inline constexpr Code kOutput{0x8000 + kFirstProgramCode};
// The program has ended. Payload: int32_t, the wait status (waitpid(2)).
inline constexpr Code kExited{0x8000 + kFirstProgramCode + 1};

// A flag of kSpawn. If it is set, kInput is the program's standard input; otherwise the standard
// input is empty.
inline constexpr uint32_t kSpawnInput = 1;
// A flag of kSpawn. If it is set, a terminal is the program's standard input, output and error.
inline constexpr uint32_t kSpawnTerminal = 2;

struct TerminalSize {
  uint16_t rows;  // 0 rows and 0 columns: unknown
  uint16_t columns;
};
static_assert(sizeof(TerminalSize) == 4);

// The front of the payload of kSpawn. Zero-terminated texts follow: the working directory, the
// words, the environment.
struct Spawn {
  uint32_t node;
  uint32_t flags;
  uint32_t words;
  uint32_t variables;  // the number of environment variables (NAME=VALUE)
  TerminalSize size;   // the size of the terminal, if the program has one
};
static_assert(sizeof(Spawn) == 20);

}  // namespace viaduct::guest::agent
