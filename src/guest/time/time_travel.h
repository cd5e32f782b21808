// The messages of User Mode Linux's external time travel, which are sent on a stream socket
// (include/uapi/linux/um_timetravel.h of Linux 6.12).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace viaduct::guest {

enum class TimeTravelOp : uint32_t {
  kAck = 0,
  kStart,      // from a guest: registers; the answer lets the guest boot
  kRequest,    // from a guest: requests to run at `time`
  kWait,       // from a guest: the guest waits
  kGet,        // from a guest: asks for the time
  kUpdate,     // from a guest: reports that its time is `time`
  kRun,        // from the calendar: the guest runs at `time`
  kFreeUntil,  // from the calendar: the guest may run until `time` without asking
  kGetTod,     // from a guest: asks for the time of day
  kBroadcast,  // from a guest: a message to all other guests
};
inline constexpr uint32_t kLastTimeTravelOp = static_cast<uint32_t>(TimeTravelOp::kBroadcast);

struct TimeTravelMessage {
  uint32_t op;
  uint32_t sequence;
  uint64_t time;
};
static_assert(sizeof(TimeTravelMessage) == 16);

// The time that means "never"; a guest must never be run at this time, because it would panic.
inline constexpr uint64_t kNeverWire = INT64_MAX;

std::string_view Name(TimeTravelOp op);
// Decodes a message, which must have exactly sizeof(TimeTravelMessage) bytes; returns nullopt if
// the length or the operation is invalid.
std::optional<TimeTravelMessage> ParseTimeTravel(std::span<const std::byte> bytes);

}  // namespace viaduct::guest
