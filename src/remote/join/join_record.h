// The records of joined nodes: a registry (sys/machine/registry.h), /run/viaduct/.joins, whose
// entries hold record.json and the hosts file of the node's program. The maker is the node's
// keeper.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sys/machine/machine_lock.h"
#include "sys/machine/namespace_id.h"
#include "sys/machine/registry.h"

namespace viaduct::remote {

// The place of a joined node's interface.
struct JoinInside {
  sys::NamespaceId network;
  bool own = true;  // the namespace was made for the node; false: it existed before
  std::string interface;
  std::string mac;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(JoinInside, network, own, interface, mac)

struct JoinInfo : sys::RegistryEntry {
  std::string node, hub;
  std::optional<JoinInside> inside;

  void Read(const sys::RecordLines& lines);
  std::string hosts_file() const { return folder / "hosts"; }
};

sys::Registry Joins();
std::vector<JoinInfo> ListJoins();

// Records a joined node whose keeper is this process. The members name, uid, node and hub of `join`
// must be set.
sys::OwnEntry RecordJoin(JoinInfo* join, const sys::MachineLock& lock);
// Writes the place of the interface to the record and to `join`, before the interface is created.
void RecordJoinInside(const JoinInside& inside, JoinInfo* join, sys::OwnEntry* record);

// Ends the processes in a namespace that was made for the node, removes the node's interface in any
// namespace, and then the record. `network`: the interface's namespace; -1: this function searches
// for the namespace. Returns the problems, one line each.
std::vector<std::string> RemoveJoin(const JoinInfo& join, const sys::MachineLock& lock,
                                    int network = -1);
// Removes all joined nodes whose keeper has ended. Returns the removed nodes, and appends problems
// to `problems`.
std::vector<JoinInfo> RemoveDeadJoins(std::vector<std::string>* problems);

}  // namespace viaduct::remote
