// The two types of time in the product: signed 64-bit nanoseconds.
//
// An Instant is a point in the time of some clock (the caller knows which: the monotonic clock,
// ns-3's virtual time, a test's manual clock). A Duration is a difference of two Instants. Seconds
// are never kept in a double: a double loses nanoseconds after 104 days and compares unreliably.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace viaduct {

// A signed span of time in nanoseconds. The caller must avoid overflow (292 years).
class Duration {
 public:
  constexpr Duration() = default;
  static constexpr Duration Nanoseconds(int64_t n) { return Duration(n); }
  static constexpr Duration Microseconds(int64_t n) { return Duration(n * 1000); }
  static constexpr Duration Milliseconds(int64_t n) { return Duration(n * 1000000); }
  static constexpr Duration Seconds(int64_t n) { return Duration(n * 1000000000); }
  static constexpr Duration Max() { return Duration(std::numeric_limits<int64_t>::max()); }

  constexpr int64_t nanoseconds() const { return ns_; }
  // Returns seconds for printing and plotting only; callers must not compare or accumulate the
  // result.
  constexpr double ToSeconds() const { return static_cast<double>(ns_) / 1e9; }

  friend constexpr auto operator<=>(Duration, Duration) = default;
  friend constexpr Duration operator+(Duration a, Duration b) { return Duration(a.ns_ + b.ns_); }
  friend constexpr Duration operator-(Duration a, Duration b) { return Duration(a.ns_ - b.ns_); }
  friend constexpr Duration operator-(Duration a) { return Duration(-a.ns_); }
  friend constexpr Duration operator*(Duration a, int64_t k) { return Duration(a.ns_ * k); }
  friend constexpr Duration operator/(Duration a, int64_t k) { return Duration(a.ns_ / k); }
  friend constexpr int64_t operator/(Duration a, Duration b) { return a.ns_ / b.ns_; }
  constexpr Duration& operator+=(Duration other) { return *this = *this + other; }
  constexpr Duration& operator-=(Duration other) { return *this = *this - other; }

 private:
  explicit constexpr Duration(int64_t ns) : ns_(ns) {}
  int64_t ns_ = 0;
};

// A point in time, in nanoseconds since the epoch of the clock from which it was read.
class Instant {
 public:
  constexpr Instant() = default;
  static constexpr Instant FromNanoseconds(int64_t n) { return Instant(n); }
  // Returns an instant later than every other: "no event is scheduled".
  static constexpr Instant Never() { return Instant(std::numeric_limits<int64_t>::max()); }

  constexpr int64_t nanoseconds() const { return ns_; }

  friend constexpr auto operator<=>(Instant, Instant) = default;
  friend constexpr Instant operator+(Instant t, Duration d) {
    return Instant(t.ns_ + d.nanoseconds());
  }
  friend constexpr Instant operator-(Instant t, Duration d) {
    return Instant(t.ns_ - d.nanoseconds());
  }
  friend constexpr Duration operator-(Instant a, Instant b) {
    return Duration::Nanoseconds(a.ns_ - b.ns_);
  }
  constexpr Instant& operator+=(Duration d) { return *this = *this + d; }

 private:
  explicit constexpr Instant(int64_t ns) : ns_(ns) {}
  int64_t ns_ = 0;
};

}  // namespace viaduct
