// The values of the SPEC's keys queue and aqm.
#pragma once

#include <string>
#include <string_view>

#include "path/spec/spec.h"

namespace viaduct::path {

Queue ParseQueue(std::string_view text);
std::string FormatQueue(const Queue& queue);

// "codel", or with parameters "codel:target=5ms,interval=100ms,ecn".
Aqm ParseAqm(std::string_view value);
std::string FormatAqm(const Aqm& aqm);

}  // namespace viaduct::path
