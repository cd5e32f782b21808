#include "path/queue/make_rate_server.h"

#include "path/queue/mahimahi_rate.h"
#include "path/queue/rate_series.h"
#include "path/queue/token_bucket.h"

namespace viaduct::path {

std::unique_ptr<RateServer> MakeRateServer(const LinkSpec& spec, const FileReader& read_file) {
  const FrameOverhead overhead = spec.overhead.value_or(FrameOverhead());
  if (spec.trace) {
    const std::string& file = spec.trace->file;
    const std::string text = read_file(file);
    if (spec.trace->format == RateTrace::Format::kMahimahi) {
      return std::make_unique<MahimahiRate>(ParseMahimahi(text, file), overhead);
    }
    return std::make_unique<RateSeries>(ParseRateSeries(text, file), overhead);
  }
  if (spec.burst) return std::make_unique<TokenBucket>(*spec.rate, *spec.burst, overhead);
  return std::make_unique<ConstantRate>(spec.rate.value(), overhead);
}

}  // namespace viaduct::path
