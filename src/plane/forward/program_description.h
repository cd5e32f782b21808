// The description of a forwarding program for the processes around it: the process that opens the
// node's sockets has privileges and must not load a user's library; the forwarder, which has none,
// loads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "plane/forward/program.h"

namespace viaduct::forward {

struct ProgramDescription {
  // Counters distinguish no more outcomes, and libpcap takes long for longer filters.
  static constexpr size_t kMaxOutcomes = Counters::kRingFull, kMaxFilter = 512;
  static constexpr size_t kMaxTableWords = size_t{1} << 24;
  static constexpr size_t kMaxOverhead = 512;  // bytes

  std::string name;  // name of a built-in program, or the absolute path of a library
  std::vector<std::string> outcomes, losses;
  std::string filter;
  bool is_promiscuous = false;
  uint16_t control_type = 0;
  size_t table_words = 0, overhead = 0;

  // Returns the filter of a port with this address, without the protocol's own frames. `own`: the
  // filter of packets for the node itself ("{own}").
  std::string FilterOf(const wire::MacAddress& mac, const std::string& own) const;
  // Throws UsageError if something is too large or contradicts itself. The filter is checked when
  // it is compiled.
  void Check() const;
  friend bool operator==(const ProgramDescription&, const ProgramDescription&) = default;
};

// Returns the description of LoadProgram(name).
ProgramDescription DescribeProgram(const ProgramKind& kind, const std::string& name);
// Returns the description of a built-in program, which must exist.
ProgramDescription DescribeKnown(std::string_view name);

// Returns the programs that need no protocol in the simulator, which scenarios name: "bridge, hub".
std::string StandaloneNames();
// Returns whether the text names a library rather than a built-in program: it ends in ".so".
bool IsProgramLibrary(std::string_view name);
// Returns the program of that name, "bridge", or of the library at that path, which is loaded and
// runs its initialization; it stays until the process exits. Throws UsageError: there is no such
// name, no such file, no program in it, or a program that was compiled with other headers.
const ProgramKind& LoadProgram(const std::string& name);

}  // namespace viaduct::forward
