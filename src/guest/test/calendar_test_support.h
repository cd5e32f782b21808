// Helpers shared by the tests of the calendar.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "guest/test/fake_guest.h"
#include "guest/time/calendar.h"
#include "guest/time/event_queue.h"

namespace viaduct::guest {

inline constexpr uint64_t kMs = 1'000'000;
inline const wire::MacAddress kMac{{2, 0, 0, 0, 0, 1}};

inline Instant AtMs(int64_t ms) { return Instant() + Duration::Milliseconds(ms); }

inline std::vector<std::byte> Frame(size_t size, int fill) {
  return std::vector<std::byte>(size, static_cast<std::byte>(fill));
}

// Returns the message of the Error that the action throws; "no error" if it throws none.
inline std::string ErrorOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// Returns the name of a test's schedule, for the names of parametrized tests.
inline std::string NameOf(const testing::TestParamInfo<FakeSchedule>& info) {
  static const std::vector<std::string> names{"messages", "shared", "queues", "doorbells",
                                              "sockets"};
  return names[static_cast<size_t>(info.param)];
}

// Boots a guest with one device until the guest is ready to send and receive frames.
inline void Ready(FakeGuest& guest) {
  guest.Start();
  guest.ConnectDevices(1);
}

// Sends words of 32 bits to the calendar in place of a time-travel message.
inline void Raw(FakeGuest& guest, std::initializer_list<uint32_t> words) {
  const std::vector<uint32_t> copy(words);
  guest.SendRaw(std::as_bytes(std::span(copy)));
}

}  // namespace viaduct::guest
