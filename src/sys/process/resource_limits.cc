#include "sys/process/resource_limits.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"

namespace viaduct::sys {
namespace {

constexpr rlim_t kMegabyte = 1 << 20;

// A resource limit: the minimum that root's half sets for itself, the minimum that it needs to
// work, and its name.
struct Wanted {
  __rlimit_resource resource;
  rlim_t least, needed;
  const char* what;
};

constexpr std::array kWanted = {
    Wanted{RLIMIT_FSIZE, RLIM_INFINITY, kMegabyte, "the size of files (ulimit -f)"},
    Wanted{RLIMIT_CPU, RLIM_INFINITY, 60, "processor time (ulimit -t)"},
    Wanted{RLIMIT_AS, RLIM_INFINITY, 256 * kMegabyte, "virtual memory (ulimit -v)"},
    Wanted{RLIMIT_DATA, RLIM_INFINITY, 64 * kMegabyte, "data (ulimit -d)"},
    Wanted{RLIMIT_STACK, 8 * kMegabyte, kMegabyte, "the stack (ulimit -s)"},
    Wanted{RLIMIT_NOFILE, 1024, 64, "open files (ulimit -n)"},
    Wanted{RLIMIT_NPROC, RLIM_INFINITY, 0, "processes"},
    Wanted{RLIMIT_RTTIME, RLIM_INFINITY, 0, "real-time processor time"},
    Wanted{RLIMIT_MEMLOCK, 8 * kMegabyte, 0, "locked memory"},
    Wanted{RLIMIT_SIGPENDING, 4096, 0, "pending signals"},
    // Forbids core files: a core file contains data that only root may see, and would be in a
    // folder of root.
    Wanted{RLIMIT_CORE, 0, 0, "core files"},
};

std::optional<std::array<rlimit, kWanted.size()>> callers;

rlimit LimitOf(__rlimit_resource resource) {
  rlimit limit{};
  SystemCall("getrlimit", getrlimit(resource, &limit));
  return limit;
}

void Take(const Wanted& wanted, const rlimit& had) {
  const bool is_core = wanted.resource == RLIMIT_CORE;
  const rlim_t soft = is_core ? 0 : std::max(had.rlim_cur, wanted.least);
  const rlimit limit{soft, std::max(had.rlim_max, soft)};
  if (setrlimit(wanted.resource, &limit) == 0) return;
  if (had.rlim_max < wanted.needed) {
    throw EnvironmentError(
        fmt::format("the privileged process of the command cannot raise the limit of {}, which is "
                    "{}: raise the limit before you run viaduct",
                    wanted.what, had.rlim_max));
  }
  const rlimit highest{had.rlim_max, had.rlim_max};
  (void)setrlimit(wanted.resource, &highest);
}

}  // namespace

void TakeRootsLimits() {
  if (!callers) {
    callers.emplace();
    for (size_t i = 0; i < kWanted.size(); ++i) (*callers)[i] = LimitOf(kWanted[i].resource);
  }
  for (size_t i = 0; i < kWanted.size(); ++i) Take(kWanted[i], (*callers)[i]);
}

void RestoreCallersLimits() {
  if (!callers) return;
  for (size_t i = 0; i < kWanted.size(); ++i) {
    SystemCall("setrlimit", setrlimit(kWanted[i].resource, &(*callers)[i]));
  }
}

}  // namespace viaduct::sys
