// JSON as text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"

namespace viaduct {

// The one way from JSON to its text, over several lines if `indent` is not negative. Texts that are
// not UTF-8 (a program may write anything) have their invalid bytes replaced by U+FFFD, where
// nlohmann::json::dump() alone would throw, and all results would be lost with them.
inline std::string JsonText(const nlohmann::json& document, int indent = -1) {
  return document.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The same for what is asked of somebody, where a replaced byte would ask for something else.
// Throws UsageError if a text is not UTF-8.
inline std::string StrictJsonText(const nlohmann::json& request) {
  try {
    return request.dump();
  } catch (const nlohmann::json::type_error&) {
    throw UsageError("a text that is not UTF-8 cannot be passed on: " + JsonText(request));
  }
}

}  // namespace viaduct
