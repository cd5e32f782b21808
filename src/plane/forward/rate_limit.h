// A rate limit for each address, with token buckets, as the kernel limits its ICMP errors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>

#include "base/time.h"
#include "base/wire/address.h"

namespace viaduct::forward {

// A rate limit as in inet_peer_xrlim_allow() of net/ipv4/icmp.c: one message per interval and
// address, and after a pause up to `burst` messages at once.
class RateLimit {
 public:
  explicit RateLimit(int burst) : burst_(burst) {}

  bool Allows(const wire::IpAddress& address, Duration interval, Instant now) {
    if (interval <= Duration()) return true;
    // A flood of forged sources must not take all memory, so the number of buckets is limited;
    // removing all buckets allows only a few more errors.
    if (buckets_.size() > kMost) buckets_.clear();
    const Duration most = interval * burst_;
    const auto [found, is_new] = buckets_.try_emplace(address, Bucket{most, now});
    Bucket& bucket = found->second;
    bucket.tokens = std::min(most, bucket.tokens + (now - bucket.last));
    bucket.last = now;
    if (bucket.tokens < interval) return false;
    bucket.tokens = bucket.tokens - interval;
    return true;
  }

 private:
  static constexpr size_t kMost = 4096;
  struct Bucket {
    Duration tokens;
    Instant last;
  };

  int burst_;
  std::map<wire::IpAddress, Bucket> buckets_;
};

}  // namespace viaduct::forward
