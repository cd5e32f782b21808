// The network of a joined node: a VXLAN interface to the hub, with the node's addresses, routes and
// names, in a namespace that was made for the node or in an existing namespace.
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
  // The name of a network namespace, or the pid of a process in it; "": a new namespace.
  std::string into;
  claim::TunnelKey secret = {};  // the key of the local WireGuard, if the offer has the hub's key
};

// Returns the text of hosts(5) with the offer's names.
std::string HostsFile(const claim::Offer& offer);

nlohmann::json EncodeJoin(const JoinRequest& request);
// Decodes a request to join. Throws UsageError if `json` is malformed.
JoinRequest DecodeJoin(const nlohmann::json& json);

// Decodes the tunnel of an encrypted hub. Throws UsageError if `json` is malformed.
claim::EncryptedTunnel DecodeTunnel(const nlohmann::json& json);

// The network of a joined node. It is created in the current namespace by a single-threaded process
// that runs as root, and recorded before it is created.
class JoinNetwork {
 public:
  // Creates the network for the user, who must own a given namespace or be root. Throws UsageError,
  // EnvironmentError or SystemError, and then leaves nothing behind.
  JoinNetwork(const JoinRequest& request, const sys::Identity& user);
  // Ends the processes in a namespace that was made for the node, and removes the network. Objects
  // that cannot be removed keep their record.
  ~JoinNetwork();
  JoinNetwork(const JoinNetwork&) = delete;
  JoinNetwork& operator=(const JoinNetwork&) = delete;

  const JoinInfo& info() const { return info_; }
  int inside() const { return inside_.get(); }
  // Sets the tunnel of an encrypted hub that has lost this end, or has been restarted. Throws
  // UsageError if the tunnel has other addresses.
  void ChangeHub(const claim::EncryptedTunnel& tunnel);
  // Must be called in the process that will start the program. In a namespace made for the node,
  // gives the process the node's name as its host name, and the names of all nodes.
  void EnterNames() const;

 private:
  void Build();
  void CreateInterface();
  void AddRoutes(int ifindex);

  const JoinRequest request_;
  JoinInfo info_;
  sys::OwnEntry record_;
  std::optional<InnerNetwork> inner_;
  std::optional<claim::TunnelKey> hub_key_;  // the hub's key that is set in inner_
  UniqueFd inside_;
};

}  // namespace viaduct::remote
