#include "path/model/cycle_loss.h"

#include <algorithm>

namespace viaduct::path {

CyclePhase ParseCyclePhase(std::string_view text) {
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(),
                                                   [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) return {0, ParseSpan(text)};
  return {static_cast<uint64_t>(ParseInteger(text, 0, kMaxPackets)), Duration()};
}

std::string FormatCyclePhase(const CyclePhase& phase) {
  if (phase.IsEmpty()) return "0";
  return phase.packets > 0 ? std::to_string(phase.packets) : FormatDuration(phase.time);
}

std::string CycleLoss::Format() const {
  const auto table = Table();
  return FormatParameters(*this, ParameterTable<CycleLoss>(table), [&](size_t row) {
    return row < 2 || (row == 2 && times > 0) || (row == 3 && first != pass);
  });
}

void CycleLoss::Check() const {
  if (!pass.IsEmpty() && !lose.IsEmpty()) return;
  throw UsageError(
      fmt::format("cycle needs the parameters pass and lose, each a number of packets or a time "
                  "greater than 0, as in {}:{}",
                  kName, kExample));
}

// Skips all complete cycles of timed phases at once, because a path may have been idle for many
// cycles.
void CycleLoss::SkipCycles(Instant now) {
  if (pass.packets > 0 || lose.packets > 0 || ended == 0 || IsLosing()) return;
  const Duration cycle = pass.time + lose.time;
  const int64_t cycles = (now - since) / cycle;
  if (cycles <= 0) return;
  ended += 2 * static_cast<uint64_t>(cycles);
  since += cycle * cycles;
}

void CycleLoss::Advance(Instant now) {
  while (!IsOver()) {
    SkipCycles(now);
    const CyclePhase& present = ended == 0 ? first : IsLosing() ? lose : pass;
    const bool has_ended =
        present.packets > 0 ? had >= present.packets : now - since >= present.time;
    if (IsOver() || !has_ended) return;
    since = present.packets > 0 ? last : since + present.time;
    had = 0;
    ++ended;
  }
}

}  // namespace viaduct::path
