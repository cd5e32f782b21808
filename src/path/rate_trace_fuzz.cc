// Fuzz test of rate traces: a trace that is accepted must give a link on which packets leave in
// order.
#include <string_view>

#include "base/error.h"
#include "path/queue/mahimahi_rate.h"
#include "path/queue/rate_series.h"

namespace {

using viaduct::Duration;
using viaduct::Instant;

void Drive(viaduct::path::RateServer& link) {
  Instant now = Instant::FromNanoseconds(5);
  link.Begin(now);
  for (int i = 0; i < 20; ++i) {
    const Instant start = i % 3 == 0 ? link.StartIdle(now) : link.StartNext(now);
    if (start < now) __builtin_trap();
    if (link.RateAt(start) < 0) __builtin_trap();
    const Instant finish = link.Send(start, static_cast<uint32_t>(60 + 97 * i));
    if (finish < start) __builtin_trap();
    // The link has stopped permanently, or for centuries.
    if (finish.nanoseconds() > INT64_MAX / 4) return;
    now = finish + Duration::Nanoseconds(i % 3 == 2 ? 12345678 : 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace path = viaduct::path;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    path::MahimahiRate link(path::ParseMahimahi(text, "f"));
    Drive(link);
  } catch (const viaduct::UsageError&) {
  }
  try {
    path::RateSeries link(path::ParseRateSeries(text, "f"));
    Drive(link);
  } catch (const viaduct::UsageError&) {
  }
  return 0;
}
