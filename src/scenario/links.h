// The links of a scenario: expands shapes to pairs and shared segments, and assigns names and
// subnets.
#pragma once

#include <string>
#include <vector>

#include "scenario/protocols.h"
#include "scenario/scenario.h"
#include "scenario/section.h"

namespace viaduct::scenario {

// The names of nodes or links that a file may refer to.
class NameTable {
 public:
  NameTable() = default;
  // `kind`, "node" or "link", is for error messages.
  NameTable(std::string kind, std::vector<std::string> names)
      : kind_(std::move(kind)), names_(std::move(names)) {}
  const std::vector<std::string>& names() const { return names_; }
  // Returns the name if it is in the table; otherwise throws UsageError with a suggestion.
  const std::string& Check(const std::string& name) const;

 private:
  std::string kind_;
  std::vector<std::string> names_;
};

// Reads `links` of the file. Addresses are taken from the file, or else assigned from `addressing`.
// `bridged`: not null if there are nodes that forward frames; then only hosts have addresses, all
// in one subnet. Throws UsageError.
std::vector<LinkSettings> ReadLinks(const Section& file, const std::vector<NodeSettings>& nodes,
                                    const FrameNodes* bridged);

}  // namespace viaduct::scenario
