#include "sys/descriptor_limit.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <optional>

#include "base/error.h"

namespace viaduct::sys {
namespace {

// The limit that is enough for a lab of ten thousand nodes, and below the kernel's default maximum
// (fs.nr_open, 1,048,576).
constexpr rlim_t kAllowed = 1 << 18;

std::optional<rlimit> former_limit;

rlimit Limit() {
  rlimit limit{};
  SystemCall("getrlimit", getrlimit(RLIMIT_NOFILE, &limit));
  return limit;
}

void SetSoft(rlimit limit, rlim_t soft) {
  if (!former_limit) former_limit = limit;
  limit.rlim_cur = soft;
  SystemCall("setrlimit", setrlimit(RLIMIT_NOFILE, &limit));
}

}  // namespace

void AllowMoreDescriptors() {
  rlimit limit = Limit();
  limit.rlim_max = std::max(limit.rlim_max, kAllowed);
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

void RaiseDescriptorLimit() {
  const rlimit limit = Limit();
  SetSoft(limit, limit.rlim_max);
}

void RestoreDescriptorLimit() {
  if (former_limit) (void)setrlimit(RLIMIT_NOFILE, &*former_limit);
}

void RequireDescriptors(size_t needed, const std::string& what) {
  const rlimit limit = Limit();
  if (limit.rlim_cur >= needed) return;
  if (limit.rlim_max < needed) {
    throw EnvironmentError(fmt::format(
        "{} {} open files, but the limit is {}: raise the limit (ulimit -Hn {} as root, or "
        "sudo viaduct), or use fewer nodes",
        what, needed, limit.rlim_max, needed));
  }
  SetSoft(limit, needed);
}

}  // namespace viaduct::sys
