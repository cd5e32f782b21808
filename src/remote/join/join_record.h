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

// The place of a node's interface.
struct JoinInside {
  sys::NamespaceId network;
  bool own = true;  // made for the node; else it existed before
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

// Records a joined node as this process's: name, uid, node and hub of `join` are set.
sys::OwnEntry RecordJoin(JoinInfo* join, const sys::MachineLock& lock);
// Records, in the record and in `join`, what is made next.
void RecordJoinInside(const JoinInside& inside, JoinInfo* join, sys::OwnEntry* record);

// Ends the processes in a namespace that was made for the node, removes its interface in any
// namespace, and then the record. `network`: the interface's namespace, or -1: it is searched for.
// Returns the problems, one line each.
std::vector<std::string> RemoveJoin(const JoinInfo& join, const sys::MachineLock& lock,
                                    int network = -1);
// Removes all joined nodes whose keeper has ended; returns those removed. Problems are appended to
// `problems`.
std::vector<JoinInfo> RemoveDeadJoins(std::vector<std::string>* problems);

}  // namespace viaduct::remote
