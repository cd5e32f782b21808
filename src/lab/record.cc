#include "lab/record.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "lab/physical_return.h"
#include "sys/machine/namespace_id.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"

namespace viaduct::lab {
namespace {

using nlohmann::json;

void ReadObject(const json& line, RunInfo* run) {
  const auto kind = line.at("object").get<std::string>();
  if (kind == "namespace") {
    run->namespaces.push_back(
        {line.at("name").get<std::string>(), std::nullopt, line.value("foreign", false)});
  } else if (kind == "namespace_made") {
    const auto name = line.at("name").get<std::string>();
    for (RecordedNamespace& entry : run->namespaces) {
      if (entry.name == name) entry.inode = line.at("inode").get<uint64_t>();
    }
  } else if (kind == "namespace_not_made") {
    const auto name = line.at("name").get<std::string>();
    std::erase_if(run->namespaces,
                  [&](const RecordedNamespace& entry) { return entry.name == name; });
  } else if (kind == "guest") {
    run->guests.push_back({line.at("namespace").get<std::string>(),
                           line.at("name").get<std::string>(), line.at("mac").get<std::string>()});
  } else if (kind == "physical") {
    run->physicals.push_back(RecordedPhysical::Read(line));
  }
  if (kind == "simulator") run->simulator = line.get<SimulatorHistory>();
  if (kind == "forwarder") run->forwarder = line.get<ForwarderHistory>();
  if (kind == "engine") {
    run->engine_pid = line.at("pid").get<int>();
    run->engine_start_time = line.at("start_time").get<uint64_t>();
    run->engine_alive = sys::LifeOf({run->engine_pid, run->engine_start_time,
                                     run->pid_namespace}) != sys::Life::kDead;
  }
  // Other kinds of objects need no entry: the lab's own links and devices are in its namespaces and
  // disappear with them.
}

}  // namespace

fields::KeysOf<SimulatorHistory> SimulatorHistory::Keys() {
  using H = SimulatorHistory;
  using fields::Always, fields::WhenSet;
  static constexpr fields::Key<H> kKeys[] = {
      Always<&H::restarts>("restarts", "a number",
                           "the number of simulators that exited unexpectedly and were restarted"),
      Always<&H::absent>("absent", "true or false",
                         "true if no simulator is running, so no routes are computed"),
      Always<&H::given_up>("given_up", "true or false",
                           "true if simulators exited too often: the simulator is not restarted "
                           "any more, and no routes are computed"),
      WhenSet<&H::last_death>("last_death", "UTC, ISO 8601",
                              "the time at which the simulator exited most recently"),
      WhenSet<&H::without_seconds>("without_seconds", "s",
                                   "how long no routes were computed after `last_death`: until the "
                                   "new simulator had converged or, while no simulator is running, "
                                   "until the last attempt to start a simulator"),
      WhenSet<&H::cause>("cause", "text", "why the simulator exited most recently"),
  };
  return kKeys;
}

UniqueFd OpenRecorded(const RecordedNamespace& entry) {
  if (!sys::NamespaceExists(entry.name)) return {};
  try {
    UniqueFd fd = sys::OpenNamespace(entry.name);
    if (!entry.inode || sys::NamespaceInode(fd.get()) == *entry.inode) return fd;
  } catch (const SystemError&) {
    // The namespace was removed after the check that it exists.
  }
  return {};
}

fields::KeysOf<ForwarderHistory> ForwarderHistory::Keys() {
  using H = ForwarderHistory;
  using fields::Always, fields::WhenSet;
  static constexpr fields::Key<H> kKeys[] = {
      Always<&H::restarts>("restarts", "a number",
                           "the number of forwarders that exited unexpectedly and were restarted; "
                           "at most 100 are counted"),
      Always<&H::absent>("absent", "true or false",
                         "true if no forwarder is running, so the nodes with data plane userspace "
                         "or program do not forward packets"),
      WhenSet<&H::cause>("cause", "text", "why the forwarder exited most recently"),
  };
  return kKeys;
}

namespace {

// Writes the hosts file, readable for all users whatever the umask is.
void WriteHosts(int folder, const std::string& text) {
  constexpr mode_t kMode = 0644;
  const UniqueFd file(SystemCall(
      "create the lab's hosts file",
      openat(folder, kHostsFile, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode)));
  SystemCall("chmod the lab's hosts file", fchmod(file.get(), kMode));
  WriteAll(file.get(), text, "the lab's hosts file");
}

[[noreturn]] void ThrowTaken(const sys::RegistryEntry& holder, uint32_t asker_uid) {
  const std::string lab = "lab " + holder.name + ": ";
  const std::string owner = "(process " + std::to_string(holder.pid) + " of user " +
                            std::to_string(holder.uid) + ", since " + holder.created + ")";
  if (holder.pid == 0) {
    throw UsageError(
        lab + holder.folder.string() +
        " exists but contains no record; remove this directory, or choose another name");
  }
  if (holder.alive) {
    const bool may_end = asker_uid == 0 || asker_uid == holder.uid;
    const std::string remedy =
        may_end ? ", or remove that lab with `viaduct down " + holder.name + "`" : "";
    throw UsageError(lab + "the name is taken by a running lab " + owner + "; choose another name" +
                     remedy);
  }
  throw UsageError(lab + "a run that exited without cleaning up left this lab behind " + owner +
                   "; run `viaduct clean`");
}

// Whether the name of a namespace is a regular file, because the namespace's mount has ended with
// its mount namespace.
bool IsMereFile(const std::string& name) {
  struct statfs status;
  return statfs(sys::NamespacePath(name).c_str(), &status) == 0 && status.f_type != NSFS_MAGIC;
}

void EndProcesses(const RunInfo& run) {
  std::set<uint64_t> inodes;
  std::vector<UniqueFd> keep;  // keeps the namespaces open, so that no inode number is reused
  for (const RecordedNamespace& entry : run.namespaces) {
    UniqueFd fd = OpenRecorded(entry);
    // No process was started in a namespace whose inode was not recorded, and its file may be a
    // regular file.
    if (!fd || !entry.inode || entry.foreign) continue;
    inodes.insert(*entry.inode);
    keep.push_back(std::move(fd));
  }
  sys::EndProcessesIn(inodes, Duration::Milliseconds(500));
}

// Throws Error if a namespace of the run is mounted in another mount namespace than the caller's.
void CheckGone(const RunInfo& run) {
  for (const RecordedNamespace& entry : run.namespaces) {
    if (!entry.inode || OpenRecorded(entry)) continue;
    for (const auto& [pid, path] : sys::MountsOfNamespace(*entry.inode)) {
      if (path != sys::NamespacePath(entry.name)) continue;
      throw Error("namespace " + entry.name + " is in the mount namespace of process " +
                  std::to_string(pid) + ": run `nsenter --mount --target " + std::to_string(pid) +
                  " viaduct clean`");
    }
  }
}

// Removes the lab's interface from a foreign namespace, unless another interface has taken the
// name. The interface's addresses and routes disappear with the interface.
void RemoveGuest(const RunInfo& run, const RecordedGuest& guest) {
  const auto entry =
      std::ranges::find(run.namespaces, guest.namespace_name, &RecordedNamespace::name);
  if (entry == run.namespaces.end()) return;
  const UniqueFd inside = OpenRecorded(*entry);
  if (!inside) return;
  sys::Netlink session(inside.get());
  const auto link = session.FindLink(guest.name);
  const bool is_it = link && link->kind == "veth" && link->mac.ToString() == guest.mac;
  if (is_it) session.DeleteLink(link->ifindex);
}

}  // namespace

json RecordedPhysical::Line() const {
  json line = {{"object", "physical"}, {"host_name", host_name}, {"namespace", namespace_name},
               {"name", name},         {"was_up", was_up},       {"mtu", mtu},
               {"mac", mac},           {"offloads", offloads}};
  if (card) line["card"] = {{"number", card->number}, {"interface_id", card->interface_id}};
  return line;
}

RecordedPhysical RecordedPhysical::Read(const json& line) {
  RecordedPhysical physical{line.at("host_name").get<std::string>(),
                            line.at("namespace").get<std::string>(),
                            line.at("name").get<std::string>(),
                            line.at("was_up").get<bool>(),
                            line.at("mtu").get<int>(),
                            line.at("mac").get<std::string>(),
                            line.at("offloads").get<std::vector<std::string>>(),
                            std::nullopt};
  if (const auto card = line.find("card"); card != line.end()) {
    physical.card = {card->at("number").get<uint32_t>(), card->at("interface_id").get<uint64_t>()};
  }
  return physical;
}

void RunInfo::Read(const sys::RecordLines& lines) {
  for (size_t i = 1; i < lines.size(); ++i) ReadObject(lines[i], this);
}

sys::Registry Runs(const std::string& root) {
  const std::filesystem::path path = root;
  return {{path.parent_path(), {{path.filename()}}},
          {"record.jsonl", "control", "engine", kLastWordsFile, kHostsFile, kTopologyFile}};
}

std::vector<RunInfo> ListRuns(const std::string& root) { return Runs(root).List<RunInfo>(); }

sys::OwnEntry TakeLab(const std::string& root, const std::string& lab, uint32_t owner_uid,
                      const std::string& hosts) {
  try {
    sys::NewEntry wanted{lab, owner_uid};
    wanted.complete = [&](int folder) { WriteHosts(folder, hosts); };
    return Runs(root).Take(wanted);
  } catch (const sys::NameTaken& taken) {
    ThrowTaken(taken.holder, owner_uid);
  }
}

std::vector<std::string> RemoveRun(const RunInfo& run, sys::WirelessCards& cards) {
  std::vector<std::string> problems;
  const auto attempt = [&](const auto& work) {
    try {
      work();
    } catch (const std::exception& error) {
      problems.push_back("lab " + run.name + ": " + error.what());
    }
  };
  attempt([&] { CheckGone(run); });
  attempt([&] { EndProcesses(run); });
  for (const auto& work : PhysicalReturns(run, cards)) attempt(work);
  for (const RecordedGuest& guest : run.guests) attempt([&] { RemoveGuest(run, guest); });
  // Namespaces are kept while a physical interface is stuck in one: the kernel would move the
  // interface into the initial namespace under whatever name is free.
  if (!problems.empty()) return problems;
  for (auto it = run.namespaces.rbegin(); it != run.namespaces.rend(); ++it) {
    attempt([&] {
      if (OpenRecorded(*it) || IsMereFile(it->name)) sys::DeleteNamespace(it->name);
    });
  }
  return problems.empty() ? Runs(run.folder.parent_path()).Remove(run) : problems;
}

std::vector<RunInfo> RemoveDeadRuns(std::vector<std::string>* problems, const std::string& root,
                                    sys::WirelessCards& cards) {
  return Runs(root).RemoveDead<RunInfo>(problems,
                                        [&](const RunInfo& run) { return RemoveRun(run, cards); });
}

}  // namespace viaduct::lab
