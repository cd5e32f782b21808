// Fuzzes the parser: any text is either a valid scenario, whose printed form is parsed as the same
// scenario, or causes a UsageError.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "scenario/scenario.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace viaduct::scenario;
  const std::string text(reinterpret_cast<const char*>(data), size);
  Scenario scenario;
  try {
    scenario = Parse(text, "fuzz.yaml");
  } catch (const viaduct::UsageError&) {
    return 0;
  }
  const std::string printed = Print(scenario);
  if (Print(Parse(printed, "fuzz.yaml")) != printed) std::abort();
  return 0;
}
