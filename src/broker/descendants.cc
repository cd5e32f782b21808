#include "broker/descendants.h"

#include <dirent.h>
#include <unistd.h>

#include <charconv>
#include <map>
#include <memory>
#include <string>

#include "base/file.h"

namespace viaduct::broker {
namespace {

// Children by parent.
std::multimap<int, int> ProcessTree() {
  std::multimap<int, int> children;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir("/proc"), closedir);
  if (!directory) return children;
  while (const dirent* entry = readdir(directory.get())) {
    const std::string_view name(entry->d_name);
    int pid = 0;
    const auto [end, error] = std::from_chars(name.begin(), name.end(), pid);
    if (error != std::errc() || end != name.end()) continue;
    const std::string stat = ReadFileIfAny("/proc/" + std::string(name) + "/stat");
    if (const int parent = ParseParent(stat); parent > 0) children.emplace(parent, pid);
  }
  return children;
}

}  // namespace

int ParseParent(std::string_view stat) {
  // PID (NAME) STATE PARENT ...; proc(5)
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos || name_end + 4 >= stat.size()) return 0;
  const std::string_view rest = stat.substr(name_end + 4);
  int parent = 0;
  const auto [end, error] = std::from_chars(rest.begin(), rest.end(), parent);
  return error == std::errc() && end != rest.end() && *end == ' ' ? parent : 0;
}

std::vector<int> Descendants() {
  const auto children = ProcessTree();
  std::vector<int> found{static_cast<int>(getpid())};
  for (size_t i = 0; i < found.size(); ++i) {
    const auto [first, last] = children.equal_range(found[i]);
    for (auto it = first; it != last; ++it) found.push_back(it->second);
  }
  found.erase(found.begin());
  return found;
}

}  // namespace viaduct::broker
