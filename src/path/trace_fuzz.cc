// Fuzz test of delay tables and traces: each is either accepted and usable, or refused with a
// message.
#include <cmath>
#include <string_view>

#include "base/error.h"
#include "path/model/delay_model.h"
#include "path/model/distribution.h"
#include "path/model/loss.h"

namespace {

namespace path = viaduct::path;

path::FileReader Reader(std::string_view text) {
  return [text](const std::string&) { return std::string(text); };
}

void UseTable(std::string_view text) {
  const auto table = path::Distribution::FromTable(text, "f");
  for (const double u : {0.0, 0.5, 1 - 0x1.0p-53}) {
    if (!(std::abs(table.Quantile(u)) <= 4)) __builtin_trap();
  }
}

void UseLosses(std::string_view text) {
  path::PipelineOptions options;
  options.read_file = Reader(text);
  path::LossModel model({path::LossTrace{"f"}}, options);
  viaduct::RandomStream random(1, "f");
  for (path::Packet packet; packet.number < 100; ++packet.number) model.Lose(packet, random);
}

void UseDelays(std::string_view text) {
  path::DelaySpec spec;
  spec.trace = "f";
  path::DelayModel model(spec, Reader(text));
  viaduct::RandomStream random(1, "f");
  for (int64_t i = 0; i < 100; ++i) {
    const auto now = viaduct::Instant::FromNanoseconds(i * i * i * 1000000);
    if (model.Sample(now, random) < viaduct::Duration()) __builtin_trap();
  }
}

template <class Use>
void Try(Use use, std::string_view text) {
  try {
    use(text);
  } catch (const viaduct::UsageError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Try(UseTable, text);
  Try(UseLosses, text);
  Try(UseDelays, text);
  return 0;
}
