// The hosts of a scenario, once its links are known: how each is connected.
#pragma once

#include <map>
#include <set>
#include <string>

#include "scenario/links.h"
#include "scenario/scenario.h"
#include "scenario/section.h"

namespace viaduct::scenario {

// Returns the place in the file of a node's gateway, or of the node.
const Value& PlaceOfNode(const Section& file, const std::string& name);

class HostChecks {
 public:
  // All must outlive this object. The links must have been read.
  HostChecks(const Scenario& scenario, const Section& file, const NameTable& nodes);

  bool IsLinked(const std::string& node) const { return neighbours_.contains(node); }
  // A host has a gateway, which is filled in if it need not be given; a remote one is on one link.
  // Beside nodes that forward frames hosts have none. Throws UsageError.
  void Check(NodeSettings& node) const;

 private:
  void CheckBridged(NodeSettings& node, const std::set<std::string>& neighbours) const;
  void CheckServed(const NodeSettings& host, const std::set<std::string>& neighbours) const;
  void CheckGateway(NodeSettings& node, const std::set<std::string>& neighbours) const;
  void CheckLinksOfRemote(const NodeSettings& node) const;

  const Scenario& scenario_;
  const Section& file_;
  const NameTable& nodes_;
  const FrameNodes* const bridged_;  // if there are any
  std::map<std::string, std::set<std::string>> neighbours_;
};

}  // namespace viaduct::scenario
