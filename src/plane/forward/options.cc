#include "plane/forward/options.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace viaduct::forward {
namespace {

// IANA's IPv4 option types.
namespace ipv4_option {
constexpr uint8_t kEnd = 0, kNoOperation = 1, kRecordRoute = 7, kTimestamp = 68;
constexpr uint8_t kLooseRoute = 131, kCipso = 134, kStrictRoute = 137, kRouterAlert = 148;
}  // namespace ipv4_option

// IANA's types of options in hop-by-hop headers. In any type that is not listed, the two highest
// bits are the action; 0: skip the option.
namespace hop_option {
constexpr uint8_t kPad1 = 0, kPadN = 1, kRouterAlert = 5, kCalipso = 7, kIoam = 49, kJumbo = 194;
constexpr uint8_t kActions = 0xC0;
}  // namespace hop_option
constexpr size_t kMaxPadding = 7;
constexpr int kMaxHopOptions = 8;  // the default of net.ipv6.max_hbh_opts_number

// Returns the first option; empty if the option is truncated. `length`: the option's length, type
// and length bytes included.
wire::ConstBytes FirstOption(wire::ConstBytes options, size_t length) {
  return length < 2 || length > options.size() ? wire::ConstBytes() : options.first(length);
}

// Returns whether the kernel accepts a Record Route option (RFC 791). The pointer in the option
// counts from 1; in a full option it points behind the option.
bool AcceptsRecordRoute(wire::ConstBytes option) {
  if (option.size() < 3) return false;
  const size_t pointer = wire::Load8(&option[2]);
  return pointer >= 4 && (pointer > option.size() || pointer + 3 <= option.size());
}

bool AcceptsTimestamp(wire::ConstBytes option) {
  constexpr int kWithAddress = 1, kPrespecified = 3, kMaxOverflows = 15;
  if (option.size() < 4) return false;
  const size_t pointer = wire::Load8(&option[2]);
  const int flag = wire::Load8(&option[3]) & 0xF, overflows = wire::Load8(&option[3]) >> 4;
  if (pointer < 5) return false;
  if (pointer > option.size()) return flag == kPrespecified || overflows < kMaxOverflows;
  const size_t entry = flag == kWithAddress || flag == kPrespecified ? 7 : 3;
  return pointer + entry <= option.size();
}

bool AcceptsIpv4Option(wire::ConstBytes option) {
  switch (wire::Load8(&option[0])) {
    case ipv4_option::kLooseRoute:
    case ipv4_option::kStrictRoute:
    case ipv4_option::kCipso:
      return false;
    case ipv4_option::kRecordRoute:
      return AcceptsRecordRoute(option);
    case ipv4_option::kTimestamp:
      return AcceptsTimestamp(option);
    case ipv4_option::kRouterAlert:
      return option.size() >= 4;
    default:
      return true;
  }
}

// Returns whether the kernel accepts a hop-by-hop option. `alignment`: the option's offset from the
// start of the header of hop-by-hop options.
bool AcceptsHopOption(wire::ConstBytes option, size_t alignment) {
  switch (const uint8_t type = wire::Load8(&option[0]); type) {
    case hop_option::kRouterAlert:
      return option.size() == 4;
    case hop_option::kIoam:
      return alignment % 4 == 0;
    case hop_option::kCalipso:  // refused, as no CALIPSO domains are defined
    case hop_option::kJumbo:    // refused: no frame has the length that a jumbo option must have
      return false;
    default:
      return (type & hop_option::kActions) == 0;
  }
}

bool IsZero(wire::ConstBytes bytes) {
  return std::ranges::all_of(bytes, [](std::byte each) { return each == std::byte{0}; });
}

}  // namespace

bool AcceptsIpv4Options(wire::ConstBytes options) {
  bool has_route = false, has_time = false;
  while (!options.empty()) {
    const uint8_t type = wire::Load8(&options[0]);
    if (type == ipv4_option::kEnd) return true;
    if (type == ipv4_option::kNoOperation) {
      options = options.subspan(1);
      continue;
    }
    const auto option = FirstOption(options, options.size() < 2 ? 0 : wire::Load8(&options[1]));
    if (option.empty() || !AcceptsIpv4Option(option)) return false;
    if (type == ipv4_option::kRecordRoute && std::exchange(has_route, true)) return false;
    if (type == ipv4_option::kTimestamp && std::exchange(has_time, true)) return false;
    options = options.subspan(option.size());
  }
  return true;
}

bool AcceptsHopByHopOptions(wire::ConstBytes payload) {
  if (payload.size() < 8) return false;
  const size_t size = 8 * (size_t{wire::Load8(&payload[1])} + 1);
  if (size > payload.size()) return false;
  size_t padding = 0;
  int count = 0;
  for (size_t at = 2; at < size;) {
    const wire::ConstBytes rest = payload.subspan(at, size - at);
    const bool is_pad1 = wire::Load8(&rest[0]) == hop_option::kPad1;
    if (!is_pad1 && rest.size() < 2) return false;
    const auto option =
        is_pad1 ? rest.first(1) : FirstOption(rest, size_t{wire::Load8(&rest[1])} + 2);
    if (option.empty()) return false;
    if (is_pad1 || wire::Load8(&option[0]) == hop_option::kPadN) {
      padding += option.size();
      if (padding > kMaxPadding || !IsZero(option.subspan(is_pad1 ? 1 : 2))) return false;
    } else {
      padding = 0;
      if (++count > kMaxHopOptions || !AcceptsHopOption(option, at)) return false;
    }
    at += option.size();
  }
  return true;
}

}  // namespace viaduct::forward
