#include "remote/join/join_record.h"

#include <fmt/format.h>

#include "base/attempts.h"
#include "base/error.h"
#include "sys/network/link.h"

namespace viaduct::remote {
namespace {

// Time between SIGTERM and SIGKILL, for the processes in a node's namespace.
constexpr Duration kNodeTimeout = Duration::Milliseconds(500);

// Removes the node's interface, unless another interface has its name by now. The interface is
// created with the record's name and renamed afterwards, so it may have either name.
void RemoveInterface(const JoinInside& inside, const std::string& record, int network) {
  sys::Netlink session(network);
  for (const std::string& name : {inside.interface, record}) {
    const auto link = session.FindLink(name);
    const bool is_it = link && link->kind == "vxlan" && link->mac.ToString() == inside.mac;
    if (is_it) session.DeleteLink(link->ifindex);
  }
}

void RemoveInside(const JoinInside& inside, const std::string& record, int network) {
  Attempts attempts;
  if (inside.own) {
    attempts.Try([&] { sys::EndProcessesIn({inside.network.inode}, kNodeTimeout); });
  }
  attempts.Try([&] { RemoveInterface(inside, record, network); });
  attempts.Finish();
}

}  // namespace

void JoinInfo::Read(const sys::RecordLines& lines) {
  lines.front().at("node").get_to(node);
  lines.front().at("hub").get_to(hub);
  for (const nlohmann::json& line : lines) {
    if (line.contains("inside")) inside = line["inside"].get<JoinInside>();
  }
}

sys::Registry Joins() { return {sys::RunPlace({".joins", 0755, false}), {"record.json", "hosts"}}; }

std::vector<JoinInfo> ListJoins() { return Joins().List<JoinInfo>(); }

sys::OwnEntry RecordJoin(JoinInfo* join, const sys::MachineLock& lock) {
  // Removes the record of an ended process that had the same pid as this process.
  for (const JoinInfo& former : ListJoins()) {
    if (former.name != join->name || former.alive) continue;
    const auto problems = RemoveJoin(former, lock);
    if (!problems.empty()) throw Error(problems.front());
  }
  sys::OwnEntry own =
      Joins().Take({join->name, join->uid, false, {{"node", join->node}, {"hub", join->hub}}});
  static_cast<sys::RegistryEntry&>(*join) = own;
  return own;
}

void RecordJoinInside(const JoinInside& inside, JoinInfo* join, sys::OwnEntry* record) {
  record->Write({{"inside", inside}});
  join->inside = inside;
}

std::vector<std::string> RemoveJoin(const JoinInfo& join, const sys::MachineLock&, int network) {
  try {
    UniqueFd found;
    if (join.inside && network < 0) found = sys::FindNamespace(join.inside->network);
    if (found) network = found.get();
    if (join.inside && network >= 0) RemoveInside(*join.inside, join.name, network);
  } catch (const std::exception& error) {
    return {fmt::format("node {} of {} ({}): {}", join.node, join.hub, join.name, error.what())};
  }
  return Joins().Remove(join);
}

std::vector<JoinInfo> RemoveDeadJoins(std::vector<std::string>* problems) {
  const sys::MachineLock lock;
  return Joins().RemoveDead<JoinInfo>(problems,
                                      [&](const JoinInfo& join) { return RemoveJoin(join, lock); });
}

}  // namespace viaduct::remote
