// Checks the hosts of a scenario once its links are known: the neighbours and the gateway of each
// host.
#pragma once

#include <map>
#include <set>
#include <string>

#include "scenario/links.h"
#include "scenario/scenario.h"
#include "scenario/section.h"

namespace viaduct::scenario {

// Returns the place in the file of a node's gateway; the place of the node if the file gives no
// gateway.
const Value& PlaceOfNode(const Section& file, const std::string& name);

class HostChecks {
 public:
  // All arguments must outlive this object. The links must have been read.
  HostChecks(const Scenario& scenario, const Section& file, const NameTable& nodes);

  bool IsLinked(const std::string& node) const { return neighbours_.contains(node); }
  // Checks a host. The host must have a gateway; if the file need not give the gateway, this
  // function fills it in. A remote host must be on one link. In a scenario in which nodes forward
  // frames, hosts have no gateway. Throws UsageError.
  void Check(NodeSettings& node) const;

 private:
  void CheckBridged(NodeSettings& node, const std::set<std::string>& neighbours) const;
  void CheckServed(const NodeSettings& host, const std::set<std::string>& neighbours) const;
  void CheckGateway(NodeSettings& node, const std::set<std::string>& neighbours) const;
  void CheckLinksOfRemote(const NodeSettings& node) const;

  const Scenario& scenario_;
  const Section& file_;
  const NameTable& nodes_;
  const FrameNodes* const bridged_;  // null if no nodes forward frames
  std::map<std::string, std::set<std::string>> neighbours_;
};

}  // namespace viaduct::scenario
