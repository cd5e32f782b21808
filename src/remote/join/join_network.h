// The network of a joined node: a VXLAN interface to the hub, with the node's addresses, routes and
// names, in a namespace made for it or in one that is there already.
//
//   node's namespace                      current namespace
//   eth0 (the node's addresses) ......... UDP socket of the tunnel ---- hub
//
// Where the hub encrypts, that socket is in an inner network (remote/join/inner_network.h).
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

namespace viaduct::emulate {

struct JoinRequest {
  claim::Offer offer;
  wire::IpAddress hub;
  std::string into;  // the name of a network namespace or a process's pid; "": a new namespace
  claim::TunnelKey secret = {};  // of this end's WireGuard, where the offer has the hub's
};

// The text of hosts(5) with these names.
std::string HostsFile(const claim::Offer& offer);

nlohmann::json EncodeJoin(const JoinRequest& request);
// Throws UsageError where it is malformed.
JoinRequest DecodeJoin(const nlohmann::json& json);

// Throws UsageError where it is malformed.
claim::EncryptedTunnel DecodeTunnel(const nlohmann::json& json);

// Created in the current namespace by a single-threaded process as root, and recorded before.
class JoinNetwork {
 public:
  // For this user, who has to own the namespace that is given, unless it is root. Throws UsageError
  // or EnvironmentError or SystemError, and then leaves nothing behind.
  JoinNetwork(const JoinRequest& request, const sys::Identity& user);
  // Ends the processes in a namespace that was made for the node, and removes everything; what it
  // cannot remove keeps its record.
  ~JoinNetwork();
  JoinNetwork(const JoinNetwork&) = delete;
  JoinNetwork& operator=(const JoinNetwork&) = delete;

  const JoinInfo& info() const { return info_; }
  int inside() const { return inside_.get(); }
  // An encrypted hub that knows this end anew: after it has lost it, or has been started again.
  // Throws UsageError where it is no other end of this tunnel.
  void ChangeHub(const claim::EncryptedTunnel& tunnel);
  // Call it in the process that will start the program: in a namespace made for the node, that has
  // the node's name as its host name, and knows the others' names.
  void EnterNames() const;

 private:
  void Build();
  void CreateInterface();
  void AddRoutes(int ifindex);

  const JoinRequest request_;
  JoinInfo info_;
  sys::OwnEntry record_;
  std::optional<InnerNetwork> inner_;
  std::optional<claim::TunnelKey> hub_key_;  // that it knows
  UniqueFd inside_;
};

}  // namespace viaduct::emulate
