#include "path/queue/frame_overhead.h"

#include "path/grammar/parameters.h"

namespace viaduct::path {
namespace {

constexpr int64_t kMost = 65535, kLeast = -64;  // bytes; the minimum is CAKE's
constexpr int64_t kHeaderBeforeIp = 14;

// A keyword of tc-cake(8), whose number of bytes is counted from the IP header.
struct Preset {
  std::string_view name;
  int64_t bytes_on_ip;
  Framing framing = Framing::kNone;
  int64_t minimum = 1;
};
constexpr Preset kPresets[] = {
    {"ethernet", 38, Framing::kNone, 84}, {"docsis", 18, Framing::kNone, 64},
    {"pppoe-ptm", 30, Framing::kPtm},     {"bridged-ptm", 22, Framing::kPtm},
    {"pppoa-vcmux", 10, Framing::kAtm},   {"pppoa-llc", 14, Framing::kAtm},
    {"pppoe-vcmux", 32, Framing::kAtm},   {"pppoe-llcsnap", 40, Framing::kAtm},
    {"bridged-vcmux", 24, Framing::kAtm}, {"bridged-llcsnap", 32, Framing::kAtm},
    {"ipoa-vcmux", 8, Framing::kAtm},     {"ipoa-llcsnap", 16, Framing::kAtm},
    {"conservative", 48, Framing::kAtm}};

int64_t ParseMinimum(std::string_view value) {
  const int64_t bytes = ParseBytes(value);
  if (bytes >= 1 && bytes <= kMost) return bytes;
  throw UsageError(fmt::format("\"{}\": must be from 1B to {}B", value, kMost));
}

template <Framing framing>
constexpr Parameter<FrameOverhead> FramingParameter(std::string_view name) {
  return {name,
          [](FrameOverhead& overhead, std::string_view) {
            if (overhead.framing != Framing::kNone)
              throw UsageError("atm and ptm cannot be combined; remove one of them");
            overhead.framing = framing;
          },
          [](const FrameOverhead& overhead) {
            return std::string(overhead.framing == framing ? "yes" : "");
          },
          Parameter<FrameOverhead>::Kind::kFlag};
}

constexpr Parameter<FrameOverhead> kOverhead[] = {
    ValueParameter<ParseMinimum, FormatBytes, &FrameOverhead::minimum>("mpu"),
    FramingParameter<Framing::kAtm>("atm"), FramingParameter<Framing::kPtm>("ptm")};

int64_t ParseSignedBytes(std::string_view text) {
  const bool negative = text.starts_with('-');
  const int64_t bytes = ParseBytes(negative ? text.substr(1) : text);
  if (bytes <= (negative ? -kLeast : kMost)) return negative ? -bytes : bytes;
  throw UsageError(fmt::format("\"{}\": must be from {}B to {}B", text, kLeast, kMost));
}

FrameOverhead ParseHead(std::string_view head) {
  for (const Preset& preset : kPresets) {
    if (preset.name != head) continue;
    return {preset.bytes_on_ip - kHeaderBeforeIp, preset.minimum, preset.framing};
  }
  const bool number = !head.empty() && (head[0] == '-' || (head[0] >= '0' && head[0] <= '9'));
  if (number) return {.bytes = ParseSignedBytes(head)};
  std::vector<std::string_view> known;
  for (const Preset& preset : kPresets) known.push_back(preset.name);
  throw UsageError(fmt::format("\"{}\": unknown; expected bytes, as in 24B, or one of {}", head,
                               fmt::join(known, ", ")));
}

}  // namespace

FrameOverhead ParseOverhead(std::string_view value) {
  const auto [head, parameters] = SplitHead(value);
  FrameOverhead overhead = ParseHead(head);
  ParseParameters(overhead, parameters, kOverhead);
  return overhead;
}

std::string FormatOverhead(const FrameOverhead& overhead) {
  const bool negative = overhead.bytes < 0;
  return JoinHead((negative ? "-" : "") + FormatBytes(negative ? -overhead.bytes : overhead.bytes),
                  FormatChanged(overhead, kOverhead));
}

}  // namespace viaduct::path
