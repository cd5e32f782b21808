// The network of a joined node: a VXLAN interface to the hub, with the node's addresses, routes and
// names, in a namespace made for it or in an existing one.
//
//   node's namespace                      current namespace
//   eth0 (the node's addresses) ......... UDP socket of the tunnel ---- hub
//
// If the hub encrypts, that socket is in an inner network (remote/join/inner_network.h).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/wire/address.h"
#include "remote/claim/key_pair.h"
#include "remote/claim/message.h"
#include "remote/join/inner_network.h"
#include "remote/join/join_record.h"
#include "sys/process/invoking_user.h"

namespace viaduct::remote {

struct JoinRequest {
  claim::Offer offer;
  wire::IpAddress hub;
  std::string into;  // the name of a network namespace or a process's pid; "": a new namespace
  claim::TunnelKey secret = {};  // the key of the local WireGuard, if the offer has the hub's key
};

// Returns the text of hosts(5) with the offer's names.
std::string HostsFile(const claim::Offer& offer);

nlohmann::json EncodeJoin(const JoinRequest& request);
// Throws UsageError if `json` is malformed.
JoinRequest DecodeJoin(const nlohmann::json& json);

// Throws UsageError if `json` is malformed.
claim::EncryptedTunnel DecodeTunnel(const nlohmann::json& json);

// Created in the current namespace by a single-threaded process as root, and recorded before.
class JoinNetwork {
 public:
  // Creates the network for this user, who must own a given namespace, unless the user is root.
  // Throws UsageError, EnvironmentError or SystemError, and then leaves nothing behind.
  JoinNetwork(const JoinRequest& request, const sys::Identity& user);
  // Ends the processes in a namespace that was made for the node, and removes everything; what it
  // cannot remove keeps its record.
  ~JoinNetwork();
  JoinNetwork(const JoinNetwork&) = delete;
  JoinNetwork& operator=(const JoinNetwork&) = delete;

  const JoinInfo& info() const { return info_; }
  int inside() const { return inside_.get(); }
  // Sets the tunnel of an encrypted hub that has lost this end, or has been restarted. Throws
  // UsageError if the tunnel has other addresses.
  void ChangeHub(const claim::EncryptedTunnel& tunnel);
  // Enters the node's names. Called in the process that will start the program: in a namespace made
  // for the node, the process then has the node's name as its host name, and knows the names of all
  // nodes.
  void EnterNames() const;

 private:
  void Build();
  void CreateInterface();
  void AddRoutes(int ifindex);

  const JoinRequest request_;
  JoinInfo info_;
  sys::OwnEntry record_;
  std::optional<InnerNetwork> inner_;
  std::optional<claim::TunnelKey> hub_key_;  // that inner_ knows
  UniqueFd inside_;
};

}  // namespace viaduct::remote
