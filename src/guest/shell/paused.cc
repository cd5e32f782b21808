#include "guest/shell/paused.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "base/error.h"
#include "sys/process.h"

namespace viaduct::guest {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kSystemRoot = "/run/viaduct/.paused";

// The folder of this user's paused simulations.
fs::path OwnRoot() {
  if (geteuid() == 0) return kSystemRoot;
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && access(runtime, W_OK) == 0) return fs::path(runtime) / "viaduct/paused";
  return fs::path(fmt::format("/tmp/viaduct-{}/paused", geteuid()));
}

// In /tmp another user may have created a folder of that name.
void MakePrivate(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    throw SystemError("make folder " + folder.string(), errno);
  }
  struct stat status {};
  SystemCall("stat " + folder.string(), lstat(folder.c_str(), &status));
  if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid()) {
    throw EnvironmentError(fmt::format(
        "{}: belongs to another user; remove it, or set XDG_RUNTIME_DIR", folder.string()));
  }
}

PausedSimulation ReadPaused(const fs::path& folder) {
  PausedSimulation paused;
  paused.folder = folder;
  paused.name = folder.filename();
  try {
    std::ifstream file(folder / "record.json");
    const json object = json::parse(file);
    object.at("name").get_to(paused.name);
    object.at("pid").get_to(paused.pid);
    object.at("start_time").get_to(paused.start_time);
    object.at("nodes").get_to(paused.nodes);
    paused.alive = sys::ProcessAlive(paused.pid, paused.start_time);
  } catch (const json::exception&) {
    // Its creator died before it was complete.
  }
  return paused;
}

std::string PausedNames(const std::vector<PausedSimulation>& all) {
  std::string names;
  for (const PausedSimulation& each : all) {
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", each.name, each.pid);
  }
  return names;
}

UniqueFd ListenForShells(const fs::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.string().size() >= sizeof address.sun_path) {
    throw SystemError("listen on " + path.string(), ENAMETOOLONG);
  }
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  UniqueFd fd(
      SystemCall("socket", socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
  SystemCall("bind " + path.string(),
             bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address));
  SystemCall("listen on " + path.string(), listen(fd.get(), 16));
  return fd;
}

void RemovePausedFolder(const fs::path& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  // The folders are removed only if they are empty.
  const fs::path root = folder.parent_path();
  if (fs::remove(root, error) && root != kSystemRoot) fs::remove(root.parent_path(), error);
}

}  // namespace

std::vector<PausedSimulation> ListPaused() {
  std::vector<PausedSimulation> all;
  for (const fs::path& root : std::set<fs::path>{OwnRoot(), kSystemRoot}) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(root, error)) {
      all.push_back(ReadPaused(entry.path()));
    }
  }
  std::sort(all.begin(), all.end(), [](const PausedSimulation& a, const PausedSimulation& b) {
    return std::tie(a.name, a.pid) < std::tie(b.name, b.pid);
  });
  return all;
}

PausedSimulation FindPaused(const std::string& name) {
  std::vector<PausedSimulation> all = ListPaused();
  std::erase_if(all, [](const PausedSimulation& each) { return !each.alive; });
  if (all.empty()) {
    throw UsageError(
        "no simulation is paused; pause one with viaduct run FILE --mode simulate --pause-at TIME");
  }
  const std::string names = PausedNames(all);
  std::erase_if(all, [&](const PausedSimulation& each) {
    return !name.empty() && each.name != name && std::to_string(each.pid) != name;
  });
  if (all.size() == 1) return all[0];
  if (all.empty()) {
    throw UsageError(fmt::format("no simulation {} is paused; there are: {}", name, names));
  }
  throw UsageError(
      fmt::format("several simulations are paused: {}; give the name or pid of one: NAME:NODE",
                  PausedNames(all)));
}

std::vector<std::string> RemoveDeadPaused() {
  std::vector<std::string> removed;
  for (const PausedSimulation& each : ListPaused()) {
    if (each.alive) continue;
    RemovePausedFolder(each.folder);
    removed.push_back(each.name);
  }
  return removed;
}

PauseRecord::PauseRecord(const std::string& name, const std::vector<std::string>& nodes) {
  const fs::path root = OwnRoot();
  folder_ = root / std::to_string(getpid());
  RemovePausedFolder(folder_);  // left by a former process with our pid
  if (root != kSystemRoot) MakePrivate(root.parent_path());
  MakePrivate(root);
  MakePrivate(folder_);
  try {
    listener_ = ListenForShells(folder_ / "control");
    // The record is complete before it gets its name, and written after the socket exists.
    const json record = {{"name", name},
                         {"pid", getpid()},
                         {"start_time", sys::ProcessStartTime(getpid())},
                         {"nodes", nodes}};
    std::ofstream(folder_ / "new") << record.dump() << "\n";
    fs::rename(folder_ / "new", folder_ / "record.json");
  } catch (...) {
    RemovePausedFolder(folder_);
    throw;
  }
}

PauseRecord::~PauseRecord() { RemovePausedFolder(folder_); }

}  // namespace viaduct::guest
