#include "path/live/path_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "path/live/shell_list.h"
#include "port/xdp/program.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/network/offload.h"
#include "sys/network/tun.h"

namespace viaduct::path {
namespace {

// The maximum length of a path's name: a UNIX socket's address, which contains the name, holds 107
// bytes.
constexpr size_t kMaxName = 72;

void CheckName(const std::string& name) {
  constexpr const char* kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:=,@";
  if (!name.empty() && name.size() <= kMaxName && name[0] != '.' && name[0] != '-' &&
      name.find_first_not_of(kAllowed) == std::string::npos) {
    return;
  }
  throw UsageError(fmt::format(
      "\"{}\" is not a valid path name; use 1 to {} letters, digits and -_.:=,@", name, kMaxName));
}

const sys::NamespaceId& NetworkOf(const PathInfo& path, const TakenInterface& taken) {
  return taken.network.inode == 0 ? path.network : taken.network;
}

void GiveBack(const PathInfo& path, const TakenInterface& taken) {
  const UniqueFd network = sys::FindNamespace(NetworkOf(path, taken));
  if (!network) return;
  // The interface may have been renamed since it was taken.
  const auto link = sys::Netlink(network.get()).FindLink(taken.ifindex);
  if (!link) return;
  if (taken.program != 0) {
    const sys::NamespaceScope scope(network.get());
    xdp::DetachLeft(taken.ifindex, taken.program);
  }
  if (taken.made) return sys::RemoveTap(network.get(), taken.ifindex);
  if (taken.tap) return sys::ResetTap(network.get(), taken.ifindex);
  sys::EnableOffloads(network.get(), link->name, taken.offloads);
}

PathInfo PathOf(const ShellInfo& shell) {
  PathInfo path;
  static_cast<sys::RegistryEntry&>(path) = shell;
  path.network = shell.network;
  path.interfaces = {kShellPorts.begin(), kShellPorts.end()};
  path.pairs = {kShellPair};
  return path;
}

// Returns the name of the shell in which this process runs, if the shell's path can have this pair;
// otherwise an empty text.
std::string OwnShell(const std::string& pair) {
  const char* own = std::getenv(kPathVariable);
  return own != nullptr && (pair.empty() || pair == kShellPair) ? own : "";
}

void RemoveDeadPath(const std::string& name, const sys::MachineLock& lock) {
  for (const PathInfo& path : ListPaths()) {
    if (path.name != name || path.alive) continue;
    const auto problems = RemovePath(path, lock);
    if (!problems.empty()) throw Error(problems.front());
  }
}

}  // namespace

void PathInfo::Read(const sys::RecordLines& lines) {
  const nlohmann::json& first = lines.front();
  first.at("network").get_to(network);
  first.at("interfaces").get_to(interfaces);
  first.at("pairs").get_to(pairs);
  for (size_t i = 1; i < lines.size(); ++i) taken.push_back(lines[i].get<TakenInterface>());
}

// The name of the registry begins with a dot; no lab's name begins with a dot (lab/record.h).
sys::Registry Paths() {
  return {sys::RunPlace({".paths", 0755, false}), {"record.json", "control"}};
}

std::vector<PathInfo> ListPaths() { return Paths().List<PathInfo>(); }

std::vector<PathInfo> ListPathsAndShells() {
  std::vector<PathInfo> all = ListPaths();
  for (const ShellInfo& shell : ListShells()) all.push_back(PathOf(shell));
  return all;
}

PathInfo FindPath(const std::string& given, const std::string& pair) {
  const std::string name = given.empty() ? OwnShell(pair) : given;
  const uint64_t here = sys::NamespaceInode(sys::OpenCurrentNamespace().get());
  const auto is_wanted = [&](const PathInfo& path) {
    if (!name.empty()) return path.name == name;
    const bool has_pair =
        pair.empty() || std::find(path.pairs.begin(), path.pairs.end(), pair) != path.pairs.end();
    return path.network.inode == here && has_pair;
  };
  return sys::FindLive<PathInfo>(
      ListPathsAndShells(), is_wanted,
      {"no path is running; start one with viaduct path --between A B",
       name.empty()
           ? fmt::format("no path {}is running in this network namespace; running paths: {{}}",
                         pair.empty() ? "" : "of pair " + pair + " ")
           : fmt::format("no path {} is running; running paths: {{}}", name),
       "several paths are running ({}); specify one of them"});
}

sys::OwnEntry RecordPath(PathInfo* path, const sys::MachineLock& lock) {
  CheckName(path->name);
  const sys::NewEntry entry{
      path->name,
      path->uid,
      false,
      {{"network", path->network}, {"interfaces", path->interfaces}, {"pairs", path->pairs}}};
  for (;;) {
    try {
      sys::OwnEntry own = Paths().Take(entry);
      static_cast<sys::RegistryEntry&>(*path) = own;
      return own;
    } catch (const sys::NameTaken& taken) {
      if (taken.holder.pid == 0) throw;
      if (taken.holder.alive) {
        throw UsageError(
            fmt::format("the name {} is already used by a running path (process {}); specify "
                        "another name with --name",
                        path->name, taken.holder.pid));
      }
      RemoveDeadPath(path->name, lock);
    }
  }
}

bool IsSame(const PathInfo& path, const TakenInterface& taken, const PathInfo& other,
            const TakenInterface& others) {
  return taken.ifindex == others.ifindex && NetworkOf(path, taken) == NetworkOf(other, others);
}

std::vector<PathInfo> OtherTakers(const PathInfo& path, const TakenInterface& taken) {
  std::vector<PathInfo> others = ListPaths();
  std::erase_if(others, [&](const PathInfo& other) {
    return other.name == path.name || std::ranges::none_of(other.taken, [&](const auto& each) {
             return IsSame(path, taken, other, each);
           });
  });
  return others;
}

std::vector<std::string> RemovePath(const PathInfo& path, const sys::MachineLock&) {
  try {
    for (const TakenInterface& taken : path.taken) {
      const auto others = OtherTakers(path, taken);
      if (std::ranges::none_of(others, &PathInfo::alive)) GiveBack(path, taken);
    }
  } catch (const Error& error) {
    return {fmt::format("path {}: {}", path.name, error.what())};
  }
  return Paths().Remove(path);
}

std::vector<PathInfo> RemoveDeadPaths(std::vector<std::string>* problems) {
  const sys::MachineLock lock;
  return Paths().RemoveDead<PathInfo>(problems,
                                      [&](const PathInfo& path) { return RemovePath(path, lock); });
}

}  // namespace viaduct::path
