// ns-3's routing protocols, as far as a scenario must know them.
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
  std::string_view type;  // ns-3's TypeId
  wire::Family family;
  // Finds a route when a packet needs one, and must therefore be given that packet.
  bool reactive;
  // Announces the networks of its routers, and so reaches the hosts behind these; else only nodes.
  bool announces_networks;
  // Carries the hosts' Ethernet frames, below IP: all hosts are on one network, and its own nodes
  // have no addresses. `family` is meaningless then.
  bool bridges = false;
  // Makes routes to its neighbours, too: of the nodes that share a radio channel not all are.
  bool senses_neighbours = false;
};

// `routing: none`: ns-3 makes no routes, but to the networks of a node's own links.
inline constexpr std::string_view kNoProtocol = "none";

// Finds a protocol by its name in any letter case, or by its type. Null: a type of the user's own,
// "static" or none.
const RoutingProtocol* FindRoutingProtocol(std::string_view text);
// Throws UsageError where the file has the key `routing`, or `routing.protocol`, and nothing behind
// it: that does not ask for the default.
void CheckRoutingIsGiven(const Value& file);
// The type of a known protocol, "static" or kNoProtocol for its name in any letter case; other
// texts are types of the user's own, and stay as they are.
std::string CanonicalProtocol(const std::string& text);
// "; did you mean 'OLSR'?" about a word that is neither; "" if it is like none of the names.
std::string SuggestProtocol(std::string_view text);
// Returns the reason why a protocol of ns-3 cannot be used in a scenario; empty: no reason is
// known.
std::string_view ProtocolUnavailable(std::string_view text);
// The nodes of a scenario that forward frames, not packets: all that are no hosts.
struct FrameNodes {
  std::string_view one;  // "an RBridge"
  int overhead;          // maximum by which they make frames longer between them, bytes
};
// Returns null if the nodes of the scenario are routers.
const FrameNodes* FrameNodesOf(const Scenario& scenario);
// Returns whether the nodes are RBridges (WMRP).
bool HasRBridges(const Scenario& scenario);
// Returns whether the nodes forward by programs (NodeSettings::program).
bool HasFramePrograms(const Scenario& scenario);
// Beside programs runs no protocol of IP: without another one, kNoProtocol. Throws UsageError.
void CheckFramePrograms(const Section& file, Scenario* scenario);
// Returns whether ns-3 makes the node's routes: its protocol, or `static`. Programs make the routes
// of remaining routers, a host has the one to its gateway, and a node that forwards frames by a
// program none.
bool RunsProtocol(const Scenario& scenario, const NodeSettings& node);
// Returns the reason why an RBridge cannot have its data plane; empty: it can, or has none yet.
std::string RBridgeUnavailable(const NodeSettings& node, Mode mode);

}  // namespace viaduct::scenario
