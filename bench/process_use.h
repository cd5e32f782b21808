// The resources that a process and its descendants have used so far, from /proc.
#pragma once

#include <cstddef>

namespace viaduct::bench {

struct ProcessUse {
  size_t processes = 0;
  double user_seconds = 0;  // time of all threads and of children that have been waited for
  double system_seconds = 0;
  double pss_mib = 0;  // proportional set size: a page shared by n processes counts 1/n in each
};

// Returns the processor time and memory that this process and all its descendants use, except those
// that exit during the call.
ProcessUse MeasureFamily();

}  // namespace viaduct::bench
