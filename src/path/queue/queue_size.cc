#include "path/queue/queue_size.h"

#include "path/grammar/parameters.h"

namespace viaduct::path {

QueueSize ParseQueueSize(std::string_view text) {
  constexpr std::string_view kAccepted = "packets (\"100p\"), bytes (\"64kB\") or time (\"20ms\")";
  if (text.empty()) throw UsageError(fmt::format("the value is missing; expected {}", kAccepted));
  QueueSize size;
  if (text.ends_with('p')) {
    size.amount = ParseInteger(text.substr(0, text.size() - 1), 1, 1000000000);
    return size;
  }
  const size_t unit_start = text.find_first_not_of("0123456789.");
  if (unit_start == std::string_view::npos) {
    throw UsageError(fmt::format("\"{}\": the unit is missing; expected {}", text, kAccepted));
  }
  const std::string_view unit = text.substr(unit_start);
  if (unit == "h" || unit == "min" || unit.ends_with('s')) {
    size = {QueueSize::Unit::kTime, ParseSpan(text).nanoseconds()};
  } else {
    size = {QueueSize::Unit::kBytes, ParseBytes(text)};
  }
  if (size.amount == 0) throw UsageError(fmt::format("\"{}\": must be greater than 0", text));
  return size;
}

QueueSize ParseQueueLength(std::string_view text) {
  const QueueSize size = ParseQueueSize(text);
  if (size.unit == QueueSize::Unit::kTime) {
    throw UsageError("must be in packets (\"30p\") or bytes (\"45kB\")");
  }
  return size;
}

std::string FormatQueueSize(const QueueSize& size) {
  switch (size.unit) {
    case QueueSize::Unit::kPackets:
      return std::to_string(size.amount) + "p";
    case QueueSize::Unit::kBytes:
      return FormatBytes(size.amount);
    case QueueSize::Unit::kTime:
      break;
  }
  return FormatDuration(Duration::Nanoseconds(size.amount));
}

}  // namespace viaduct::path
