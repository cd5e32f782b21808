#include "base/result/environment.h"

namespace viaduct::result {

using fields::Always;
using fields::WhenSet;

fields::KeysOf<Environment> Environment::Keys() {
  static constexpr fields::Key<Environment> kKeys[] = {
      Always<&Environment::viaduct>("viaduct", "text", "the version of Viaduct"),
      Always<&Environment::kernel>("kernel", "text",
                                   "name, release and machine, as uname has them"),
      Always<&Environment::cpu>("cpu", "text", "the processor's model"),
      Always<&Environment::cpus>("cpus", "processors", "how many were on line"),
      Always<&Environment::memory_bytes>("memory_bytes", "bytes", "physical memory"),
      WhenSet<&Environment::started>("started", "UTC, ISO 8601", "when the command began"),
      WhenSet<&Environment::command>("command", "text", "the command line"),
      WhenSet<&Environment::ns3>("ns3", "text", "the version of ns-3; of runs only"),
      WhenSet<&Environment::ns3_build>("ns3_build", "text",
                                       "whether ns-3 asserts and logs, which costs speed"),
  };
  return kKeys;
}

}  // namespace viaduct::result
