// The messages of User Mode Linux's external time travel, which travel on a stream socket
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
  kStart,      // guest: registers; the answer lets it boot
  kRequest,    // guest: requests to run at `time`
  kWait,       // guest: has nothing to do now
  kGet,        // guest: asks for the time
  kUpdate,     // guest: its time is `time`
  kRun,        // calendar: run at `time`
  kFreeUntil,  // calendar: may run until `time` without asking
  kGetTod,     // guest: asks for the time of day
  kBroadcast,  // guest: message to all other guests
};
inline constexpr uint32_t kLastTimeTravelOp = static_cast<uint32_t>(TimeTravelOp::kBroadcast);

struct TimeTravelMessage {
  uint32_t op;
  uint32_t sequence;
  uint64_t time;
};
static_assert(sizeof(TimeTravelMessage) == 16);

// The time that means "never"; a guest must never be run at it (it would panic).
inline constexpr uint64_t kNeverWire = INT64_MAX;

std::string_view Name(TimeTravelOp op);
// Decodes a message of exactly sizeof(TimeTravelMessage) bytes; returns nullopt when the length or
// the operation is invalid.
std::optional<TimeTravelMessage> ParseTimeTravel(std::span<const std::byte> bytes);

}  // namespace viaduct::guest
