// The result of a program that ran in a node.
#pragma once

#include <optional>
#include <string>

#include "base/fields.h"
#include "base/time.h"

namespace viaduct::result {

struct ProgramResult {
  std::string name, node, command;
  bool background = false;
  std::string ended = {};
  double seconds = 0;
  bool ok = false;
  std::string output = {};

  // Returns "ok" or "FAILED"; "ended early" for a background program, whose status is ignored.
  std::string Verdict() const;

  static fields::KeysOf<ProgramResult> Keys();
};

// The end of a program's run, and the expected end.
struct ProgramEnd {
  bool started = false;
  std::string trouble = {};             // the reason, if it could not be started
  std::optional<int> wait_status = {};  // from waitpid(2); absent while it runs
  bool timed_out = false;               // killed because of its timeout
  bool stopped = false;                 // stopped because the run ended
  int expected_status = 0;
  std::optional<Duration> timeout = {};
};

// A program's result, its output (if it is very long, the beginning and the end), and how it failed
// the expectations of the scenario ("" if it did not).
struct ProgramOutcome {
  ProgramResult program;
  std::string text, failure;
  bool started = false;

  // Stores the output, and its last part in the result.
  void SetText(std::string written);
  // Records how the program ended and whether that was expected. For a background program any end
  // is accepted once it has started.
  void Judge(const ProgramEnd& end);

  static fields::KeysOf<ProgramOutcome> Keys();
};

}  // namespace viaduct::result
