// Fuzz test of the requests to a path's keeper: they are accepted or refused with an Error.
// Accepted names are names of interfaces, not file paths.
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "path/live/path_keeper.h"
#include "sys/ipc/message.h"

using namespace viaduct;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view payload(reinterpret_cast<const char*>(data), size);
  try {
    const path::PathInfo info = path::DecodePath(ipc::DecodeJson(payload));
    for (const std::string& name : info.interfaces) {
      if (name.empty() || name.size() > 15 || name.find('/') != std::string::npos) {
        __builtin_trap();
      }
    }
  } catch (const Error&) {
  }
  return 0;
}
