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

  // Returns "ok" or "FAILED"; "ended early" for a background program that was started but ended
  // unexpectedly.
  std::string Verdict() const;

  static fields::KeysOf<ProgramResult> Keys();
};

// The end of a program, and the end that the scenario expects.
struct ProgramEnd {
  bool started = false;
  std::string trouble = {};             // the reason, if the program could not be started
  std::optional<int> wait_status = {};  // from waitpid(2); absent while the program runs
  bool timed_out = false;               // killed because of its timeout
  bool stopped = false;                 // stopped because the run ended
  int expected_status = 0;
  std::optional<Duration> timeout = {};
};

// The result of a program, the program's output (if it is very long, its beginning and its end),
// and the reason for which the program failed ("" if it did not).
struct ProgramOutcome {
  ProgramResult program;
  std::string text, failure;
  bool started = false;

  // Stores the output in `text`, and its last part in `program`.
  void SetText(std::string written);
  // Records the end of the program, and whether it was expected. A background program that was
  // started never fails, even if its end was not expected.
  void Judge(const ProgramEnd& end);

  static fields::KeysOf<ProgramOutcome> Keys();
};

}  // namespace viaduct::result
