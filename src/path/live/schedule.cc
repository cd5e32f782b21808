#include "path/live/schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/units.h"
#include "base/within.h"

namespace viaduct::path {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r";
// The minimum period of a loop. A change is made within about a tenth of this period. A faster
// repetition would lag behind its times; loss and delay that vary faster belong in a SPEC.
constexpr Duration kMinLoopDuration = Duration::Milliseconds(1);
constexpr const char* kForm = "TIME PAIR[/CLASS] up|down|both SPEC|down|up, or: loop PERIOD";

// Removes and returns the next word of `line`; empty at the end of the line.
std::string_view TakeWord(std::string_view* line) {
  line->remove_prefix(std::min(line->find_first_not_of(kWhiteSpace), line->size()));
  const std::string_view word = line->substr(0, line->find_first_of(kWhiteSpace));
  line->remove_prefix(word.size());
  return word;
}

std::string Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kWhiteSpace);
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(kWhiteSpace) - first + 1));
}

engine::Target ParseTarget(std::string_view pair, std::string_view direction) {
  engine::Target target;
  // The name of a pair contains no slash, because names of interfaces contain none.
  const size_t slash = pair.find('/');
  target.pair = pair.substr(0, slash);
  if (slash != std::string_view::npos) target.class_name = pair.substr(slash + 1);
  target.up = direction == "up" || direction == "both";
  target.down = direction == "down" || direction == "both";
  if (!target.up && !target.down) {
    throw UsageError(fmt::format("\"{}\": the direction must be up, down or both", direction));
  }
  return target;
}

ScheduledChange ParseChange(std::string_view time, std::string_view rest) {
  ScheduledChange change;
  change.at = ParseDuration(time);
  const std::string_view pair = TakeWord(&rest);
  const std::string_view direction = TakeWord(&rest);
  const std::string what = Trimmed(rest);
  if (what.empty()) throw UsageError(fmt::format("the line is incomplete; expected {}", kForm));
  change.target = ParseTarget(pair, direction);
  if (what == "down" || what == "up") {
    change.kind = what == "up" ? ScheduledChange::Kind::kLinkUp : ScheduledChange::Kind::kLinkDown;
  } else {
    change.spec = what;
  }
  return change;
}

class Parser {
 public:
  void Take(std::string_view line, int number) {
    line = line.substr(0, line.find('#'));
    const std::string_view first = TakeWord(&line);
    if (first.empty()) return;
    if (schedule_.loop) throw UsageError("no line may follow the loop line");
    if (first == "loop") {
      schedule_.loop = ParseDuration(Trimmed(line));
      CheckLoop();
      return;
    }
    ScheduledChange change = ParseChange(first, line);
    change.line = number;
    if (!schedule_.changes.empty() && change.at < schedule_.changes.back().at) {
      throw UsageError(
          fmt::format("{} follows {}, but the times must not decrease from line to line", first,
                      FormatDuration(schedule_.changes.back().at)));
    }
    schedule_.changes.push_back(std::move(change));
  }
  Schedule Finish() { return std::move(schedule_); }

 private:
  void CheckLoop() const {
    if (schedule_.changes.empty()) throw UsageError("loop: there are no changes to repeat");
    const Duration last = schedule_.changes.back().at;
    if (*schedule_.loop >= std::max(kMinLoopDuration, last)) return;
    throw UsageError(fmt::format(
        "a loop of {} is too short; the period must be at least {} and must not end before the "
        "last change, at {}",
        FormatDuration(*schedule_.loop), FormatDuration(kMinLoopDuration), FormatDuration(last)));
  }

  Schedule schedule_;
};

}  // namespace

Schedule ParseSchedule(std::string_view text, const std::string& file) {
  Parser parser;
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    Within(fmt::format("{}:{}", file, number), [&] { parser.Take(text.substr(0, end), number); });
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  Schedule schedule = parser.Finish();
  if (schedule.changes.empty()) {
    throw UsageError(fmt::format("{}: contains no changes; the form of a line is {}", file, kForm));
  }
  return schedule;
}

std::optional<Duration> SchedulePlayer::NextAt() const {
  if (next_ < schedule_.changes.size()) return round_ + schedule_.changes[next_].at;
  if (!schedule_.loop) return std::nullopt;
  return round_ + *schedule_.loop + schedule_.changes.front().at;
}

const ScheduledChange& SchedulePlayer::Take() {
  if (next_ == schedule_.changes.size()) {
    round_ += *schedule_.loop;
    next_ = 0;
  }
  return schedule_.changes[next_++];
}

void Perform(const ScheduledChange& change, engine::LivePath& live) {
  if (change.kind == ScheduledChange::Kind::kSpec) {
    live.Set(change.target, change.spec);
  } else {
    live.SetLink(change.target, change.kind == ScheduledChange::Kind::kLinkUp);
  }
}

}  // namespace viaduct::path
