// What the processes around a forwarding program know of it: the one that opens the node's sockets
// has privileges and must not load a user's library, and the forwarder, which has none, loads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "plane/forward/program.h"

namespace viaduct::forward {

struct ProgramDescription {
  // Counters tell no more outcomes apart, and libpcap takes long for longer filters.
  static constexpr size_t kMaxOutcomes = Counters::kRingFull, kMaxFilter = 512;
  static constexpr size_t kMaxTableWords = size_t{1} << 24;
  static constexpr size_t kMaxOverhead = 512;  // bytes

  std::string name;  // of a program that comes along, or the absolute path of a library
  std::vector<std::string> outcomes, losses;
  std::string filter;
  bool is_promiscuous = false;
  uint16_t control_type = 0;
  size_t table_words = 0, overhead = 0;

  // The filter of a port with this address, without the protocol's own frames. `own`: the filter of
  // what is for the node itself ("{own}").
  std::string FilterOf(const wire::MacAddress& mac, const std::string& own) const;
  // Throws UsageError if something is too large or contradicts itself. The filter is checked when
  // it is compiled.
  void Check() const;
  friend bool operator==(const ProgramDescription&, const ProgramDescription&) = default;
};

// Of LoadProgram(name).
ProgramDescription DescribeProgram(const ProgramKind& kind, const std::string& name);
// Of a program that comes along, which must exist.
ProgramDescription DescribeKnown(std::string_view name);

// The programs that need no protocol in the simulator, which scenarios name: "bridge, hub".
std::string StandaloneNames();
// Whether the text names a library rather than a program that comes along: it ends in ".so".
bool IsProgramLibrary(std::string_view name);
// The program of that name, "bridge", or of the library at that path, which is loaded and runs its
// initialization; it stays until the process ends. Throws UsageError: there is no such name, no
// such file, no program in it, or one that was compiled with other headers.
const ProgramKind& LoadProgram(const std::string& name);

}  // namespace viaduct::forward
