#include "path/model/slot_spec.h"

#include "path/grammar/parameters.h"
#include "path/model/distribution.h"
#include "path/packet/packet.h"

namespace viaduct::path {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 40;

std::string ParseNamedDistribution(std::string_view value) {
  CheckDistribution(value);
  return std::string(value);
}
int64_t ParseCount(std::string_view value) { return ParseInteger(value, 1, kMaxPackets); }
std::string FormatCount(int64_t count) { return std::to_string(count); }
int64_t ParseSlotBytes(std::string_view value) {
  const int64_t bytes = ParseBytes(value);
  if (bytes < 1 || bytes > kMaxBytes) throw UsageError("must be from 1 byte to 1TiB");
  return bytes;
}

// Returns the row for the optional member `member` in the table of parameters.
template <auto parse, auto format, auto member>
constexpr Parameter<SlotSpec> Optional(std::string_view name) {
  return {name, [](SlotSpec& slot, std::string_view value) { slot.*member = parse(value); },
          [](const SlotSpec& slot) {
            return slot.*member ? std::string(format(*(slot.*member))) : std::string();
          }};
}

constexpr Parameter<SlotSpec> kSlot[] = {
    Optional<ParseSpan, FormatDuration, &SlotSpec::max>("max"),
    Optional<ParsePositiveSpan, FormatDuration, &SlotSpec::jitter>("jitter"),
    Optional<ParseNamedDistribution, std::identity{}, &SlotSpec::distribution>("dist"),
    Optional<ParseCount, FormatCount, &SlotSpec::packets>("packets"),
    Optional<ParseSlotBytes, FormatBytes, &SlotSpec::bytes>("bytes")};

}  // namespace

void SlotSpec::Check() const {
  if (max && jitter) throw UsageError("max and jitter cannot be combined; remove one of them");
  if (max && *max < delay) {
    throw UsageError(fmt::format("max={} is less than the minimum time {}; increase max",
                                 FormatDuration(*max), FormatDuration(delay)));
  }
  if (distribution && !jitter)
    throw UsageError("dist has an effect only together with jitter; specify jitter, too");
  if (max.value_or(delay) == Duration() && !jitter) {
    throw UsageError("the time between slots is zero; specify a time greater than 0, as in 5ms");
  }
}

DelaySpec SlotSpec::Interval() const {
  DelaySpec interval;
  interval.base = max ? (delay + *max) / 2 : delay;
  if (max) interval.jitter = Jitter{(*max - delay) / 2};
  if (jitter) interval.jitter = Jitter{*jitter};
  interval.distribution = distribution;
  return interval;
}

SlotSpec ParseSlot(std::string_view value) {
  const auto [head, parameters] = SplitHead(value);
  SlotSpec slot;
  slot.delay = ParseSpan(head);
  ParseParameters(slot, parameters, kSlot);
  return slot;
}

std::string FormatSlot(const SlotSpec& slot) {
  return JoinHead(FormatDuration(slot.delay), FormatChanged(slot, kSlot));
}

}  // namespace viaduct::path
