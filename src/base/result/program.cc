#include "base/result/program.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "base/wait_status.h"

namespace viaduct::result {

using fields::Always;
namespace {

constexpr size_t kOutputInResults = 4096;

bool Succeeded(const ProgramEnd& end) {
  return !end.timed_out && !end.stopped && end.wait_status &&
         EndedWith(*end.wait_status, end.expected_status);
}

// Whether a background program ran until the end of the run, or exited with its expected status.
bool HeldOut(const ProgramEnd& end) {
  return end.started &&
         (end.stopped || !end.wait_status || EndedWith(*end.wait_status, end.expected_status));
}

std::string Ending(const ProgramEnd& end) {
  if (!end.trouble.empty()) return end.trouble;
  if (!end.started) return "was not started";
  if (end.stopped) return "stopped at the end of the run";
  return end.wait_status ? DescribeEnding(*end.wait_status) : "is still running";
}

// Returns the failure of a foreground program as a text that follows the program's name.
std::string Fault(const ProgramEnd& end) {
  if (end.timed_out && end.timeout) {
    return " ran longer than its timeout of " + FormatDuration(*end.timeout);
  }
  return end.stopped ? " was still running at the end of the run" : " " + Ending(end);
}

}  // namespace

std::string ProgramResult::Verdict() const {
  if (ok) return "ok";
  return background && seconds > 0 ? "ended early" : "FAILED";  // 0: the program was not started
}

fields::KeysOf<ProgramResult> ProgramResult::Keys() {
  static constexpr fields::Key<ProgramResult> kKeys[] = {
      Always<&ProgramResult::name>("name", "text", "the name of the program in the scenario"),
      Always<&ProgramResult::node>("node", "a node", "the node on which the program ran"),
      Always<&ProgramResult::command>("command", "text", "the program and its arguments"),
      Always<&ProgramResult::background>(
          "background", "true or false",
          "whether the program ran in the background, so the run did not wait for the program"),
      Always<&ProgramResult::ended>("ended", "text", "how the program ended"),
      Always<&ProgramResult::seconds>("seconds", "s", "how long the program ran"),
      Always<&ProgramResult::ok>(
          "ok", "true or false",
          "whether the program ended as expected; for a background program: it ran until the end "
          "of the run, or ended earlier with the expected exit status"),
      Always<&ProgramResult::output>("output", "text",
                                     "the last 4096 bytes of the program's output"),
  };
  return kKeys;
}

fields::KeysOf<ProgramOutcome> ProgramOutcome::Keys() {
  static constexpr fields::Key<ProgramOutcome> kKeys[] = {
      Always<&ProgramOutcome::program>("program", "a map", "the result of the program"),
      Always<&ProgramOutcome::text>(
          "text", "text",
          "the output of the program; only the beginning and the end of very long output"),
      Always<&ProgramOutcome::failure>("failure", "text", "what went wrong"),
      Always<&ProgramOutcome::started>("started", "true or false",
                                       "whether the program could be started"),
  };
  return kKeys;
}

void ProgramOutcome::SetText(std::string written) {
  text = std::move(written);
  size_t begin = text.size() - std::min(text.size(), kOutputInResults);
  // The output must not begin in the middle of a UTF-8 character.
  while (begin > 0 && begin < text.size() && (text[begin] & 0xC0) == 0x80) ++begin;
  program.output = text.substr(begin);
}

void ProgramOutcome::Judge(const ProgramEnd& end) {
  started = end.started;
  program.ended = Ending(end);
  program.ok = program.background ? HeldOut(end) : Succeeded(end);
  if (!end.trouble.empty()) {
    failure = fmt::format("program '{}': {}", program.name, end.trouble);
  } else if (!program.ok && end.started && !program.background) {
    failure = fmt::format("program '{}'{}", program.name, Fault(end));
  }
}

}  // namespace viaduct::result
