#include "guest/time/time_travel.h"

#include <array>
#include <cstring>

namespace viaduct::guest {

std::string_view Name(TimeTravelOp op) {
  constexpr std::array<std::string_view, kLastTimeTravelOp + 1> kNames{
      "ACK",    "START", "REQUEST",    "WAIT",    "GET",
      "UPDATE", "RUN",   "FREE_UNTIL", "GET_TOD", "BROADCAST"};
  const auto number = static_cast<uint32_t>(op);
  return number < kNames.size() ? kNames[number] : "unknown";
}

std::optional<TimeTravelMessage> ParseTimeTravel(std::span<const std::byte> bytes) {
  TimeTravelMessage message;
  if (bytes.size() != sizeof message) return std::nullopt;
  std::memcpy(&message, bytes.data(), sizeof message);
  if (message.op > kLastTimeTravelOp) return std::nullopt;
  return message;
}

}  // namespace viaduct::guest
