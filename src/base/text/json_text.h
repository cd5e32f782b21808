// JSON as text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"

namespace viaduct {

// Returns JSON as text, on several lines if `indent` is not negative. Bytes that are not UTF-8 (a
// program may write any bytes) are replaced by U+FFFD: nlohmann::json::dump() alone would throw,
// and all results would be lost.
inline std::string JsonText(const nlohmann::json& document, int indent = -1) {
  return document.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Returns a request as JSON text. Throws UsageError if a text in it is not UTF-8: a replaced byte
// would change the request.
inline std::string StrictJsonText(const nlohmann::json& request) {
  try {
    return request.dump();
  } catch (const nlohmann::json::type_error&) {
    throw UsageError("only text in UTF-8 can be sent: " + JsonText(request));
  }
}

}  // namespace viaduct
