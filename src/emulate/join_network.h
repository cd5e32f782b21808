// The network of a joined node: a VXLAN interface to the hub, with the node's addresses, routes and
// names, in a namespace made for it or in one that is there already.
//
//   node's namespace                      current namespace
//   eth0 (the node's addresses) ......... UDP socket of the tunnel ---- hub
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/fd.h"
#include "claim/message.h"
#include "emulate/join_record.h"
#include "sys/invoking_user.h"
#include "wire/address.h"

namespace viaduct::emulate {

struct JoinRequest {
  claim::Offer offer;
  wire::IpAddress hub;
  std::string into;  // the name of a network namespace or a process's pid; "": a new namespace
};

// The text of hosts(5) with these names.
std::string HostsFile(const claim::Offer& offer);

nlohmann::json EncodeJoin(const JoinRequest& request);
// Throws UsageError where it is malformed.
JoinRequest DecodeJoin(const nlohmann::json& json);

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
  UniqueFd inside_;
};

}  // namespace viaduct::emulate
