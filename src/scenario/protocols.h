// ns-3's routing protocols, with the properties that scenarios depend on.
#pragma once

#include <string>
#include <string_view>

#include "base/wire/address.h"
#include "scenario/scenario.h"
#include "scenario/section.h"
#include "scenario/text/value.h"

namespace viaduct::scenario {

struct RoutingProtocol {
  std::string_view name;  // the name in scenario files, in any letter case
  std::string_view type;  // the TypeId in ns-3
  wire::Family family;
  // Whether the protocol finds a route only when a packet needs it, and must therefore receive that
  // packet.
  bool reactive;
  // Whether the protocol announces the networks of its routers, so that hosts behind routers are
  // reached; otherwise only nodes are reached.
  bool announces_networks;
  // Whether the protocol carries the Ethernet frames of hosts, below IP: all hosts are then on one
  // network, the protocol's nodes have no addresses, and `family` is meaningless.
  bool bridges = false;
  // Whether the protocol also makes routes to neighbours: not all nodes that share a radio channel
  // are neighbours.
  bool senses_neighbours = false;
};

// The value of `routing: none`: ns-3 makes no routes, except to the networks of a node's own links.
inline constexpr std::string_view kNoProtocol = "none";

// Finds a protocol by its name in any letter case, or by its TypeId. Returns null for a TypeId of
// the user, "static" or none.
const RoutingProtocol* FindRoutingProtocol(std::string_view text);
// Throws UsageError if the file has the key `routing`, or `routing.protocol`, without a value: the
// user does not mean the default.
void CheckRoutingIsGiven(const Value& file);
// Returns the TypeId of a known protocol, "static" or kNoProtocol for its name in any letter case;
// other texts are TypeIds of the user, and are returned unchanged.
std::string CanonicalProtocol(const std::string& text);
// Returns a hint, "; did you mean 'OLSR'?", about a word that is neither a name nor a TypeId; "" if
// no name is similar.
std::string SuggestProtocol(std::string_view text);
// Returns the reason for which a protocol of ns-3 cannot be used in a scenario; empty if no reason
// is known.
std::string_view ProtocolUnavailable(std::string_view text);
// The properties of nodes that forward frames instead of packets. In a scenario with such nodes,
// all nodes except the hosts forward frames.
struct FrameNodes {
  std::string_view one;  // one such node, in messages: "an RBridge"
  // The maximum number of bytes by which such nodes lengthen the frames that they send to each
  // other.
  int overhead;
};
// Returns the properties of nodes that forward frames; null if the nodes of the scenario are
// routers.
const FrameNodes* FrameNodesOf(const Scenario& scenario);
// Returns whether the nodes of the scenario are RBridges (WMRP).
bool HasRBridges(const Scenario& scenario);
// Returns whether the nodes of the scenario forward frames by programs (NodeSettings::program).
bool HasFramePrograms(const Scenario& scenario);
// Checks that no IP routing protocol runs if nodes forward frames by programs; sets the protocol to
// kNoProtocol if the file gives none. Throws UsageError.
void CheckFramePrograms(const Section& file, Scenario* scenario);
// Returns whether ns-3 makes the node's routes, by its protocol or as `static`. Returns false for
// routers whose routes are made by programs, for hosts, which have only the route to their gateway,
// and for nodes that forward frames by a program, which have no routes.
bool RunsProtocol(const Scenario& scenario, const NodeSettings& node);
// Returns the reason for which an RBridge cannot have its data plane; empty if it can, or if it has
// no data plane yet.
std::string RBridgeUnavailable(const NodeSettings& node, Mode mode);

}  // namespace viaduct::scenario
