#include "base/result/environment.h"

namespace viaduct::result {

using fields::Always;
using fields::WhenSet;

fields::KeysOf<Environment> Environment::Keys() {
  static constexpr fields::Key<Environment> kKeys[] = {
      Always<&Environment::viaduct>("viaduct", "text", "the version of Viaduct"),
      Always<&Environment::kernel>("kernel", "text",
                                   "the kernel's name, release and machine, as uname prints them"),
      Always<&Environment::cpu>("cpu", "text", "the processor's model"),
      Always<&Environment::cpus>("cpus", "processors", "the number of processors that were online"),
      Always<&Environment::memory_bytes>("memory_bytes", "bytes",
                                         "the size of the physical memory"),
      WhenSet<&Environment::started>("started", "UTC, ISO 8601",
                                     "the time at which the command began"),
      WhenSet<&Environment::command>("command", "text", "the command line"),
      WhenSet<&Environment::ns3>("ns3", "text", "the version of ns-3; only for runs"),
      WhenSet<&Environment::ns3_build>(
          "ns3_build", "text",
          "whether ns-3 was built with assertions and logging, which reduce its speed"),
  };
  return kKeys;
}

}  // namespace viaduct::result
