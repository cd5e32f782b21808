// The descendants of this process, including orphaned ones.
#pragma once

#include <string_view>
#include <vector>

namespace viaduct::broker {

// The parent's pid in the text of /proc/PID/stat; 0 when malformed. (The program's name in it may
// contain any characters.)
int ParseParent(std::string_view stat);

// All descendants of this process, from /proc. Complete if this process is a child subreaper
// (PR_SET_CHILD_SUBREAPER): then an orphan becomes its child.
std::vector<int> Descendants();

}  // namespace viaduct::broker
