// A snapshot for people, and for Prometheus.
#pragma once

#include <string>

#include "run/watch/snapshot.h"

namespace viaduct::watch {

// Returns tables of the whole snapshot, without control characters. `busiest_first`: sorts clients
// and links by their traffic, the most first, instead of by their order.
std::string SnapshotText(const Snapshot& snapshot, bool busiest_first);

// Returns the metrics for Prometheus (base/result/exposition.h); docs/top.md lists them.
std::string MetricsText(const Snapshot& snapshot);

}  // namespace viaduct::watch
