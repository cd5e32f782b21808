// Links of a scenario: expands shapes to pairs and shared segments, assigns names and subnets.
#pragma once

#include <string>
#include <vector>

#include "scenario/protocols.h"
#include "scenario/scenario.h"
#include "scenario/section.h"

namespace viaduct::scenario {

// The names that may be used, and the error message for others.
class NameTable {
 public:
  NameTable() = default;
  // `kind`: "node" or "link".
  NameTable(std::string kind, std::vector<std::string> names)
      : kind_(std::move(kind)), names_(std::move(names)) {}
  const std::vector<std::string>& names() const { return names_; }
  // Throws UsageError with a suggestion.
  const std::string& Check(const std::string& name) const;

 private:
  std::string kind_;
  std::vector<std::string> names_;
};

// Reads `links` of the file. Addresses are those of the file, else assigned from `addressing`.
// `bridged`: if there are nodes that forward frames; then only hosts have addresses, all in one
// subnet. Throws UsageError.
std::vector<LinkSettings> ReadLinks(const Section& file, const std::vector<NodeSettings>& nodes,
                                    const FrameNodes* bridged);

}  // namespace viaduct::scenario
