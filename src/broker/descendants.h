// The processes that came from this one, however their parents ended.
#pragma once

#include <string_view>
#include <vector>

namespace viaduct::broker {

// The parent in the text of /proc/PID/stat; 0 when malformed. (The name in it may hold anything.)
int ParseParent(std::string_view stat);

// All descendants of this process, from /proc. Complete if this process is a child subreaper
// (PR_SET_CHILD_SUBREAPER): then an orphan becomes its child.
std::vector<int> Descendants();

}  // namespace viaduct::broker
