// A snapshot for people, and for Prometheus.
#pragma once

#include <string>

#include "run/watch/snapshot.h"

namespace viaduct::watch {

// Tables of all that there is, without control characters. `busiest_first`: the clients and links
// with most traffic come first, instead of in their order.
std::string SnapshotText(const Snapshot& snapshot, bool busiest_first);

// For Prometheus (base/result/exposition.h); docs/top.md lists the metrics.
std::string MetricsText(const Snapshot& snapshot);

}  // namespace viaduct::watch
