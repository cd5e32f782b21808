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
  kStart,      // guest: here I am; its answer lets it boot
  kRequest,    // guest: I want to run at `time`
  kWait,       // guest: I have nothing to do now
  kGet,        // guest: what is the time?
  kUpdate,     // guest: my time is `time`
  kRun,        // calendar: run, it is `time`
  kFreeUntil,  // calendar: until `time` you need not ask
  kGetTod,     // guest: what is the time of day?
  kBroadcast,  // guest: tell all others
};
inline constexpr uint32_t kLastTimeTravelOp = static_cast<uint32_t>(TimeTravelOp::kBroadcast);

struct TimeTravelMessage {
  uint32_t op;
  uint32_t sequence;
  uint64_t time;
};
static_assert(sizeof(TimeTravelMessage) == 16);

// The time that stands for "never"; a guest is never told to run at it (it would panic).
inline constexpr uint64_t kNeverWire = INT64_MAX;

std::string_view Name(TimeTravelOp op);
// The message in exactly sizeof(TimeTravelMessage) bytes; nothing when the length or the operation
// is none.
std::optional<TimeTravelMessage> ParseTimeTravel(std::span<const std::byte> bytes);

}  // namespace viaduct::guest
