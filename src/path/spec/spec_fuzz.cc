// Fuzz test of SPECs: a SPEC that is accepted must have the same meaning when it is written and
// read again.

#include "base/error.h"
#include "path/spec/spec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using viaduct::path::ChangeSpec;
  using viaduct::path::ParseSpec;
  try {
    const auto spec = ParseSpec({reinterpret_cast<const char*>(data), size});
    if (ParseSpec(FormatSpec(spec)) != spec) __builtin_trap();
    if (ChangeSpec({}, FormatSpec(spec)) != spec) __builtin_trap();
  } catch (const viaduct::UsageError&) {
  }
  return 0;
}
