// What became of a program that ran in a node.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "result/record.h"

namespace viaduct::result {

struct ProgramResult {
  std::string name, node, command;
  bool background = false;
  std::string ended = {};
  double seconds = 0;
  bool ok = false;
  std::string output = {};

  static KeysOf<ProgramResult> Keys();
};

// How a program's run came to its end, and what was expected of it.
struct ProgramEnd {
  bool started = false;
  std::string trouble = {};             // why it could not be started
  std::optional<int> wait_status = {};  // as waitpid(2) gives it; absent while it runs
  bool timed_out = false;               // it was killed for that
  bool stopped = false;                 // because the run ended
  int expected_status = 0;
  std::optional<Duration> timeout = {};
};

// A program's result, all it has written, and what did not go as the scenario wants ("" if
// nothing).
struct ProgramOutcome {
  ProgramResult program;
  std::string text, failure;
  bool started = false;

  // Keeps the text, and its last part in the result.
  void SetText(std::string written);
  // Fills in how it ended and whether that is right. What a background program does is right, once
  // it has started.
  void Judge(const ProgramEnd& end);

  static KeysOf<ProgramOutcome> Keys();
};

}  // namespace viaduct::result
