#include "emulate/path_record.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "lab/record.h"
#include "sys/network/netns.h"
#include "sys/process.h"

namespace viaduct::emulate {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// No lab's name begins with a dot (lab/record.h).
std::string PathsRoot() { return std::string(lab::kRecordRoot) + "/.paths"; }
std::string LocksRoot() { return std::string(lab::kRecordRoot) + "/.interfaces"; }

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

json ToJson(const PathInfo& info) {
  return {{"name", info.name},
          {"pid", info.pid},
          {"start_time", info.start_time},
          {"uid", info.uid},
          {"created", info.created},
          {"namespace", info.namespace_inode},
          {"interfaces", info.interfaces},
          {"pairs", info.pairs}};
}

PathInfo ReadInfo(const fs::path& directory) {
  PathInfo info;
  info.name = directory.filename();
  try {
    std::ifstream file(directory / "record.json");
    const json object = json::parse(file);
    info.pid = object.at("pid");
    info.start_time = object.at("start_time");
    info.uid = object.at("uid");
    info.created = object.at("created");
    info.namespace_inode = object.at("namespace");
    info.interfaces = object.at("interfaces").get<std::vector<std::string>>();
    info.pairs = object.at("pairs").get<std::vector<std::string>>();
    info.alive = sys::ProcessAlive(info.pid, info.start_time);
  } catch (const json::exception&) {
    // Its creator died before it was complete: the path is dead.
  }
  return info;
}

std::string Names(const std::vector<PathInfo>& paths) {
  std::string names;
  for (const PathInfo& info : paths) names += (names.empty() ? "" : ", ") + info.name;
  return names;
}

uint64_t CurrentNamespace() { return sys::NamespaceInode(sys::OpenCurrentNamespace().get()); }

// Whether the open file is still the one with that name.
bool IsStill(int fd, const std::string& path) {
  struct stat open_file, named;
  return fstat(fd, &open_file) == 0 && stat(path.c_str(), &named) == 0 &&
         open_file.st_ino == named.st_ino;
}

}  // namespace

std::string PathInfo::directory() const { return PathsRoot() + "/" + name; }
std::string PathInfo::control_socket() const { return directory() + "/control"; }

std::vector<PathInfo> ListPaths() {
  std::vector<PathInfo> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(PathsRoot(), error)) {
    if (entry.path().filename().string()[0] != '.') paths.push_back(ReadInfo(entry.path()));
  }
  std::sort(paths.begin(), paths.end(),
            [](const PathInfo& a, const PathInfo& b) { return a.name < b.name; });
  return paths;
}

PathInfo FindPath(const std::string& name, const std::string& pair) {
  std::vector<PathInfo> paths = ListPaths();
  std::erase_if(paths, [](const PathInfo& info) { return !info.alive; });
  if (paths.empty())
    throw UsageError("no path is running; start one with viaduct path --between A B");
  const std::string all = Names(paths);
  const uint64_t here = CurrentNamespace();
  std::erase_if(paths, [&](const PathInfo& info) {
    if (!name.empty()) return info.name != name;
    const bool has_pair =
        pair.empty() || std::find(info.pairs.begin(), info.pairs.end(), pair) != info.pairs.end();
    return info.namespace_inode != here || !has_pair;
  });
  if (paths.size() == 1) return paths[0];
  if (!name.empty())
    throw UsageError(fmt::format("no path {} is running; there are {}", name, all));
  if (paths.empty()) {
    throw UsageError(fmt::format("no path {}is running in this network namespace; there are {}",
                                 pair.empty() ? "" : "between these ", all));
  }
  throw UsageError(fmt::format("several paths are running ({}); name one", Names(paths)));
}

void CreatePathRecord(const PathInfo& info) {
  CheckName(info.name);
  // It is complete before it gets its name.
  const std::string unborn = fmt::format("{}/.new-{}-{}", PathsRoot(), info.pid, info.start_time);
  fs::create_directories(unborn);
  std::ofstream(unborn + "/record.json") << ToJson(info).dump() << "\n";
  for (;;) {
    if (rename(unborn.c_str(), info.directory().c_str()) == 0) return;
    const int error = errno;
    const PathInfo taken = ReadInfo(info.directory());
    if ((error == ENOTEMPTY || error == EEXIST) && !taken.alive) {
      RemovePathRecord(info.name);
      continue;
    }
    fs::remove_all(unborn);
    if (error != ENOTEMPTY && error != EEXIST) throw SystemError("make " + info.directory(), error);
    throw UsageError(fmt::format("the name {} is taken by a running path (process {}); give --name",
                                 info.name, taken.pid));
  }
}

void RemovePathRecord(const std::string& name) {
  std::error_code error;
  fs::remove_all(PathsRoot() + "/" + name, error);
  fs::remove(PathsRoot(), error);  // if it is empty
}

std::vector<std::string> RemoveDeadPaths() {
  std::vector<std::string> removed;
  for (const PathInfo& info : ListPaths()) {
    if (info.alive) continue;
    RemovePathRecord(info.name);
    removed.push_back(info.name);
  }
  return removed;
}

InterfaceLock::InterfaceLock(const std::string& interface, const std::string& holder) {
  const std::string path = fmt::format("{}/{}-{}", LocksRoot(), CurrentNamespace(), interface);
  for (;;) {
    fs::create_directories(LocksRoot());
    file_.reset(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (!file_ && errno == ENOENT) continue;  // the release of the last lock removed the folder
    SystemCall("open " + path, file_.get());
    if (flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
      std::string other;
      std::getline(std::ifstream(path), other);
      throw UsageError(fmt::format(
          "interface {}: another emulator uses it ({}); end that first, or add a pair to it",
          interface, other));
    }
    if (IsStill(file_.get(), path)) break;  // otherwise its last holder has just removed it
  }
  path_ = path;
  SystemCall("write " + path, ftruncate(file_.get(), 0));
  SystemCall("write " + path, pwrite(file_.get(), holder.data(), holder.size(), 0));
}

InterfaceLock::~InterfaceLock() { Remove(); }

void InterfaceLock::Remove() {
  if (!file_ || path_.empty()) return;
  std::error_code error;
  fs::remove(path_, error);
  fs::remove(LocksRoot(), error);  // if it is empty
  path_.clear();
}

}  // namespace viaduct::emulate
