// The description of a forwarding program for the other processes: the process that opens the
// node's sockets has privileges and must not load a user's library; the forwarder, which has no
// privileges, loads the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "plane/forward/program.h"

namespace viaduct::forward {

struct ProgramDescription {
  // The limits of a program: counters distinguish no more outcomes, and libpcap needs much time to
  // compile longer filters.
  static constexpr size_t kMaxOutcomes = Counters::kRingFull, kMaxFilter = 512;
  static constexpr size_t kMaxTableWords = size_t{1} << 24;
  static constexpr size_t kMaxOverhead = 512;  // bytes

  std::string name;  // name of a built-in program, or the absolute path of a library
  std::vector<std::string> outcomes, losses;
  std::string filter;
  bool is_promiscuous = false;
  uint16_t control_type = 0;
  size_t table_words = 0, overhead = 0;

  // Returns the filter of a port with this MAC address, which excludes the frames of the program's
  // control protocol. `own`: the text that replaces "{own}", a filter of packets for the node
  // itself.
  std::string FilterOf(const wire::MacAddress& mac, const std::string& own) const;
  // Checks the description. Throws UsageError if a value is too large or contradicts another. The
  // filter is checked only when it is compiled.
  void Check() const;
  friend bool operator==(const ProgramDescription&, const ProgramDescription&) = default;
};

// Returns the description of the program `kind`, which LoadProgram(name) returned.
ProgramDescription DescribeProgram(const ProgramKind& kind, const std::string& name);
// Returns the description of a built-in program; the name must exist.
ProgramDescription DescribeKnown(std::string_view name);

// Returns the names of the programs that need no protocol in the simulator, and which scenarios may
// therefore name: "bridge, hub".
std::string StandaloneNames();
// Returns whether the text names a library, not a built-in program: the text ends in ".so".
bool IsProgramLibrary(std::string_view name);
// Returns the built-in program of that name ("bridge"), or the program of the library at that path.
// The library is loaded, which runs its initialization, and remains loaded until the process exits.
// Throws UsageError if there is no such name, no such file, no program in the file, or a program
// that was compiled with other headers.
const ProgramKind& LoadProgram(const std::string& name);

}  // namespace viaduct::forward
