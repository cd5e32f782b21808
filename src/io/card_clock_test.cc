#include "io/card_clock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>

#include "base/clock.h"
#include "base/error.h"
#include "base/realtime.h"

namespace viaduct::io {
namespace {

// A card's clock that is ahead of CLOCK_REALTIME, on a descriptor of /dev/null.
struct Card {
  int fd = -1;
  unsigned long knows = 0;  // the only way in which it can be asked
  Duration ahead = Duration::Seconds(37);
};
Card card;

ptp_clock_time TimeOf(Instant instant) {
  constexpr int64_t kSecond = 1000000000;
  return {instant.nanoseconds() / kSecond, static_cast<uint32_t>(instant.nanoseconds() % kSecond),
          0};
}

int Answer(unsigned long request, void* argument) {
  if (request != card.knows) {
    errno = EOPNOTSUPP;
    return -1;
  }
  const auto read = [](ptp_clock_time* ours, ptp_clock_time* its) {
    if (ours != nullptr) *ours = TimeOf(RealtimeNow());
    if (its != nullptr) *its = TimeOf(RealtimeNow() + card.ahead);
  };
  if (request == PTP_SYS_OFFSET_PRECISE) {
    auto* const said = static_cast<ptp_sys_offset_precise*>(argument);
    const Instant now = RealtimeNow();
    said->sys_realtime = TimeOf(now);
    said->device = TimeOf(now + card.ahead);
  } else if (request == PTP_SYS_OFFSET_EXTENDED) {
    auto* const said = static_cast<ptp_sys_offset_extended*>(argument);
    for (uint32_t i = 0; i < said->n_samples; ++i) {
      read(&said->ts[i][0], &said->ts[i][1]);
      read(&said->ts[i][2], nullptr);
    }
  } else {
    auto* const said = static_cast<ptp_sys_offset*>(argument);
    for (size_t i = 0; i < said->n_samples; ++i) read(&said->ts[2 * i], &said->ts[2 * i + 1]);
    read(&said->ts[size_t{2} * said->n_samples], nullptr);
  }
  return 0;
}

}  // namespace
}  // namespace viaduct::io

// In place of libc's, for the whole of this program.
extern "C" int ioctl(int fd, unsigned long request, ...) noexcept {
  va_list rest;
  va_start(rest, request);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  if (viaduct::io::card.fd >= 0 && fd == viaduct::io::card.fd) {
    return viaduct::io::Answer(request, argument);
  }
  return static_cast<int>(syscall(SYS_ioctl, fd, request, argument));
}

namespace viaduct::io {
namespace {

constexpr ptp_clock_time At(int64_t sec, uint32_t nsec) { return {sec, nsec, 0}; }

TEST(CardClockTest, ReadingsOfEachWay) {
  ptp_sys_offset_precise precise{};
  precise.device = At(37, 5);
  precise.sys_realtime = At(1, 2);
  precise.sys_monoraw = At(9, 9);
  const auto exact = ReadingsOf(precise);
  ASSERT_EQ(exact.size(), 1u);
  EXPECT_EQ(exact[0].length(), Duration());
  EXPECT_EQ(exact[0].before, Instant::FromNanoseconds(1000000002));
  EXPECT_EQ(exact[0].other, Instant::FromNanoseconds(37000000005));

  ptp_sys_offset_extended extended{};
  extended.n_samples = 2;
  extended.ts[0][0] = At(1, 0), extended.ts[0][1] = At(50, 7), extended.ts[0][2] = At(1, 900);
  extended.ts[1][0] = At(2, 0), extended.ts[1][1] = At(51, 7), extended.ts[1][2] = At(2, 100);
  const auto both = ReadingsOf(extended);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[1].before, Instant::FromNanoseconds(2000000000));
  EXPECT_EQ(both[1].other, Instant::FromNanoseconds(51000000007));
  EXPECT_EQ(both[1].length(), Duration::Nanoseconds(100));

  // The system's time after one sample is that before the next.
  ptp_sys_offset plain{};
  plain.n_samples = 2;
  plain.ts[0] = At(1, 0), plain.ts[1] = At(50, 0), plain.ts[2] = At(1, 300);
  plain.ts[3] = At(50, 400), plain.ts[4] = At(1, 900);
  const auto shared = ReadingsOf(plain);
  ASSERT_EQ(shared.size(), 2u);
  EXPECT_EQ(shared[0].length(), Duration::Nanoseconds(300));
  EXPECT_EQ(shared[1].before, shared[0].after);
  EXPECT_EQ(shared[1].other, Instant::FromNanoseconds(50000000400));
  EXPECT_EQ(shared[1].length(), Duration::Nanoseconds(600));
}

TEST(CardClockTest, WhatIsNoClockIsRefused) {
  const auto null =
      std::make_shared<UniqueFd>(SystemCall("open", open("/dev/null", O_RDONLY | O_CLOEXEC)));
  EXPECT_THROW(CardClock{null}, EnvironmentError);
}

TEST(CardClockTest, ConvertsStampsHoweverItIsAsked) {
  for (const auto& [way, name] :
       {std::pair<unsigned long, std::string>{PTP_SYS_OFFSET_PRECISE, "PTP_SYS_OFFSET_PRECISE"},
        {PTP_SYS_OFFSET_EXTENDED, "PTP_SYS_OFFSET_EXTENDED"},
        {PTP_SYS_OFFSET, "PTP_SYS_OFFSET,"}}) {
    const auto device =
        std::make_shared<UniqueFd>(SystemCall("open", open("/dev/null", O_RDONLY | O_CLOEXEC)));
    card = {device->get(), way};
    CardClock clock(device);
    const Instant monotonic = MonotonicClock::Now();
    const Instant stamp = RealtimeNow() + card.ahead;  // no earlier than that
    const Instant later = MonotonicClock::Now();
    const std::string said = clock.Description();
    card.fd = -1;
    EXPECT_NE(said.find("by " + name), std::string::npos) << said;
    const double uncertain = std::stod(said.substr(said.find("within ") + 7)) * 1e3 + 100;
    const auto slack = Duration::Nanoseconds(static_cast<int64_t>(uncertain));
    EXPECT_GE(clock.ToMonotonic(stamp), monotonic - slack) << said;
    EXPECT_LE(clock.ToMonotonic(stamp), later + slack) << said;
    // Nothing is stamped later than it is read.
    EXPECT_LE(clock.ToRealtime(stamp + Duration::Seconds(5)), RealtimeNow());
  }
}

TEST(CardClockTest, AClockThatIsSetIsSaid) {
  const auto device =
      std::make_shared<UniqueFd>(SystemCall("open", open("/dev/null", O_RDONLY | O_CLOEXEC)));
  card = {device->get(), PTP_SYS_OFFSET_EXTENDED};
  CardClock clock(device);
  card.ahead = -Duration::Seconds(4);
  const Instant patience = MonotonicClock::Now() + Duration::Seconds(20);
  const auto noticed = [&] { return clock.Description().find("set 1 times") != std::string::npos; };
  while (!noticed() && MonotonicClock::Now() < patience) clock.Keep();
  EXPECT_TRUE(noticed());
  const Instant before = MonotonicClock::Now();
  const Instant stamp = RealtimeNow() + card.ahead;
  card.fd = -1;
  EXPECT_LE(clock.ToMonotonic(stamp), MonotonicClock::Now() + Duration::Milliseconds(1));
  EXPECT_GE(clock.ToMonotonic(stamp), before - Duration::Milliseconds(1));
}

}  // namespace
}  // namespace viaduct::io
