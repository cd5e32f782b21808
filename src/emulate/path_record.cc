#include "emulate/path_record.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "sys/network/netns.h"

namespace viaduct::emulate {
namespace {

// No lab's name begins with a dot (lab/record.h).
sys::Registry Paths() {
  return {sys::RunPlace({".paths", 0755, false}), {"record.json", "control"}};
}

// A UNIX socket's address holds 107 bytes.
constexpr size_t kMaxName = 72;

void CheckName(const std::string& name) {
  constexpr const char* kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:=,@";
  if (!name.empty() && name.size() <= kMaxName && name[0] != '.' && name[0] != '-' &&
      name.find_first_not_of(kAllowed) == std::string::npos) {
    return;
  }
  throw UsageError(fmt::format(
      "\"{}\" is not a name for a path: 1 to {} letters, digits and -_.:=,@", name, kMaxName));
}

}  // namespace

void PathInfo::Read(const sys::RecordLines& lines) {
  const nlohmann::json& first = lines.front();
  first.at("namespace").get_to(namespace_inode);
  first.at("interfaces").get_to(interfaces);
  first.at("pairs").get_to(pairs);
}

std::vector<PathInfo> ListPaths() { return Paths().List<PathInfo>(); }

PathInfo FindPath(const std::string& name, const std::string& pair) {
  const uint64_t here = sys::NamespaceInode(sys::OpenCurrentNamespace().get());
  const auto is_wanted = [&](const PathInfo& path) {
    if (!name.empty()) return path.name == name;
    const bool has_pair =
        pair.empty() || std::find(path.pairs.begin(), path.pairs.end(), pair) != path.pairs.end();
    return path.namespace_inode == here && has_pair;
  };
  return sys::FindLive<PathInfo>(
      ListPaths(), is_wanted,
      {"no path is running; start one with viaduct path --between A B",
       name.empty() ? fmt::format("no path {}is running in this network namespace; there are {{}}",
                                  pair.empty() ? "" : "between these ")
                    : fmt::format("no path {} is running; there are {{}}", name),
       "several paths are running ({}); name one"});
}

void RecordPath(PathInfo* path) {
  CheckName(path->name);
  try {
    static_cast<sys::RegistryEntry&>(*path) = Paths().Take({path->name,
                                                            path->uid,
                                                            true,
                                                            {{"namespace", path->namespace_inode},
                                                             {"interfaces", path->interfaces},
                                                             {"pairs", path->pairs}}});
  } catch (const sys::NameTaken& taken) {
    if (taken.holder.pid == 0) throw;
    throw UsageError(fmt::format("the name {} is taken by a running path (process {}); give --name",
                                 path->name, taken.holder.pid));
  }
}

void RemovePathRecord(const PathInfo& path) { Paths().Remove(path); }

std::vector<PathInfo> RemoveDeadPaths(std::vector<std::string>* problems) {
  return Paths().RemoveDead<PathInfo>(problems);
}

}  // namespace viaduct::emulate
