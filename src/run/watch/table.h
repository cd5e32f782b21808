// A snapshot as text for people, and as metrics for Prometheus.
#pragma once

#include <string>

#include "run/watch/snapshot.h"

namespace viaduct::watch {

// Returns the tables of the snapshot, without control characters. `busiest_first`: sorts clients
// and links by their traffic, the busiest first, instead of by their order in the snapshot.
std::string SnapshotText(const Snapshot& snapshot, bool busiest_first);

// Returns the metrics for Prometheus (base/result/exposition.h); docs/top.md lists the metrics.
std::string MetricsText(const Snapshot& snapshot);

}  // namespace viaduct::watch
