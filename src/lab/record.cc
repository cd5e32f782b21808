#include "lab/record.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/utc_time.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/process.h"

namespace viaduct::lab {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kFileName[] = "record.jsonl";
constexpr char kUnbornPrefix[] = ".new-";  // a directory that has not got its lab's name yet
constexpr int kVersion = 1;

json FirstLine(const std::string& lab, int owner_uid) {
  return {{"record", kVersion},
          {"lab", lab},
          {"owner_uid", owner_uid},
          {"broker_pid", getpid()},
          {"broker_start_time", sys::ProcessStartTime(getpid())},
          {"created", UtcNow()}};
}

RunInfo ParseFirstLine(const json& line) {
  if (line.at("record") != kVersion) throw UsageError("record of another version of Viaduct");
  RunInfo run;
  run.lab = line.at("lab").get<std::string>();
  run.owner_uid = line.at("owner_uid").get<int>();
  run.broker_pid = line.at("broker_pid").get<int>();
  run.broker_start_time = line.at("broker_start_time").get<uint64_t>();
  run.created = line.at("created").get<std::string>();
  return run;
}

void ParseObject(const json& line, Record* record) {
  const auto kind = line.at("object").get<std::string>();
  if (kind == "namespace") {
    record->namespaces.push_back({line.at("name").get<std::string>(), std::nullopt});
  } else if (kind == "namespace_made") {
    const auto name = line.at("name").get<std::string>();
    for (RecordedNamespace& entry : record->namespaces) {
      if (entry.name == name) entry.inode = line.at("inode").get<uint64_t>();
    }
  } else if (kind == "namespace_not_made") {
    const auto name = line.at("name").get<std::string>();
    std::erase_if(record->namespaces,
                  [&](const RecordedNamespace& entry) { return entry.name == name; });
  } else if (kind == "physical") {
    record->physicals.push_back({line.at("host_name").get<std::string>(),
                                 line.at("namespace").get<std::string>(),
                                 line.at("name").get<std::string>(), line.at("was_up").get<bool>(),
                                 line.at("mtu").get<int>(), line.at("mac").get<std::string>()});
  }
  if (kind == "engine") {
    record->run.engine_pid = line.at("pid").get<int>();
    record->run.engine_start_time = line.at("start_time").get<uint64_t>();
  }
  // The lab's own links and devices are in its namespaces and disappear with them.
}

std::string Owner(const RunInfo& run) {
  return "process " + std::to_string(run.broker_pid) + " of user " + std::to_string(run.owner_uid) +
         ", since " + run.created;
}

[[noreturn]] void ThrowTaken(const std::string& directory, const std::string& lab) {
  RunInfo run;
  try {
    run = ReadRecord(directory).run;
  } catch (const std::exception&) {
    throw UsageError("lab " + lab + ": " + directory +
                     " exists but has no record; remove it or choose another name");
  }
  if (run.alive) {
    throw UsageError("lab " + lab + ": the name is taken by a running lab (" + Owner(run) +
                     "); choose another name, or end it with `viaduct down " + lab + "`");
  }
  throw UsageError("lab " + lab + ": a run that ended without cleaning up left it behind (" +
                   Owner(run) + "); run `viaduct clean`");
}

void WriteLine(int fd, const json& line) {
  const std::string text = line.dump() + "\n";
  const ssize_t written = SystemCall("write the run's record", write(fd, text.data(), text.size()));
  if (static_cast<size_t>(written) != text.size())
    throw SystemError("write the run's record", ENOSPC);
}

// Opens the recorded namespace itself; empty if the name now belongs to another one.
UniqueFd OpenRecorded(const RecordedNamespace& entry) {
  if (!sys::NamespaceExists(entry.name)) return {};
  try {
    UniqueFd fd = sys::OpenNamespace(entry.name);
    if (!entry.inode || sys::NamespaceInode(fd.get()) == *entry.inode) return fd;
  } catch (const SystemError&) {
    // Gone in between.
  }
  return {};
}

void EndProcesses(const Record& record) {
  std::set<uint64_t> inodes;
  std::vector<UniqueFd> keep;  // so that no inode number is reused meanwhile
  for (const RecordedNamespace& entry : record.namespaces) {
    UniqueFd fd = OpenRecorded(entry);
    // If the inode was not recorded, nothing was started in it yet, and the file may be a regular
    // one.
    if (!fd || !entry.inode) continue;
    inodes.insert(*entry.inode);
    keep.push_back(std::move(fd));
  }
  // Processes may fork while they are being ended: look again.
  for (int round = 0; round < 3 && !inodes.empty(); ++round) {
    const std::vector<int> pids = sys::ProcessesInNamespaces(inodes);
    if (pids.empty()) return;
    sys::TerminateProcesses(pids, Duration::Milliseconds(round == 0 ? 500 : 0));
  }
}

// Returns a physical interface to the caller's namespace, with its original name.
void ReturnPhysical(const Record& record, const RecordedPhysical& physical) {
  const auto entry =
      std::find_if(record.namespaces.begin(), record.namespaces.end(),
                   [&](const RecordedNamespace& n) { return n.name == physical.namespace_name; });
  if (entry == record.namespaces.end()) return;
  const UniqueFd inside = OpenRecorded(*entry);
  if (!inside) return;
  sys::Netlink session(inside.get());
  std::optional<sys::LinkInfo> link = session.FindLink(physical.name);
  if (!link) link = session.FindLink(physical.host_name);  // moved, not yet renamed
  if (!link) return;                                       // it was never moved, or was unplugged
  sys::Netlink host;
  // The kernel moves first and renames then: it would strand the interface under its inner name.
  if (host.FindLink(physical.host_name)) {
    throw Error("physical interface " + physical.host_name + " waits in namespace " +
                physical.namespace_name + ": its name is taken on the host; rename the other one");
  }
  session.SetUp(link->ifindex, false);
  session.SetMtu(link->ifindex, physical.mtu);
  const auto mac = wire::MacAddress::Parse(physical.mac);
  if (link->mac != mac) session.SetMac(link->ifindex, mac);
  session.MoveLink(link->ifindex, sys::OpenCurrentNamespace().get(), physical.host_name);
  if (physical.was_up) host.SetUp(host.IfIndex(physical.host_name), true);
}

}  // namespace

Record ParseRecord(std::string_view text) {
  Record record;
  bool first = true;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) break;  // the writer was killed in the middle of this line
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    try {
      const json object = json::parse(line);
      if (first) {
        record.run = ParseFirstLine(object);
      } else {
        ParseObject(object, &record);
      }
    } catch (const json::exception& error) {
      throw UsageError("malformed record line \"" + std::string(line) + "\": " + error.what());
    }
    first = false;
  }
  if (first) throw UsageError("the record is empty");
  return record;
}

RecordWriter::RecordWriter(const std::string& root, const std::string& lab, int owner_uid)
    : directory_(root + "/" + lab) {
  std::error_code error;
  fs::create_directories(root, error);
  if (error) throw SystemError("create " + root, error.value());
  // The directory gets its lab's name by rename(2) when its first line is in: no process ever sees
  // one without an owner, and of two runs with the same name only one succeeds.
  const std::string unborn = root + "/" + kUnbornPrefix + std::to_string(getpid()) + "-" +
                             std::to_string(sys::ProcessStartTime(getpid())) + "-" + lab;
  fs::remove_all(unborn, error);
  SystemCall("create " + unborn, mkdir(unborn.c_str(), 0755));
  try {
    const std::string file = unborn + "/" + kFileName;
    file_ = UniqueFd(
        SystemCall("create " + file,
                   open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644)));
    WriteLine(file_.get(), FirstLine(lab, owner_uid));
    if (rename(unborn.c_str(), directory_.c_str()) == 0) return;
    if (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR) ThrowTaken(directory_, lab);
    throw SystemError("create " + directory_, errno);
  } catch (...) {
    fs::remove_all(unborn, error);
    throw;
  }
}

void RecordWriter::Write(const json& line) { WriteLine(file_.get(), line); }

void RecordWriter::Erase() {
  std::error_code error;
  fs::remove_all(directory_, error);
  file_.reset();
}

Record ReadRecord(const std::string& directory) {
  Record record = ParseRecord(ReadFile(directory + "/" + kFileName));
  record.run.directory = directory;
  record.run.alive = sys::ProcessAlive(record.run.broker_pid, record.run.broker_start_time);
  record.run.engine_alive = sys::ProcessAlive(record.run.engine_pid, record.run.engine_start_time);
  return record;
}

std::vector<RunInfo> ListRuns(const std::string& root) {
  std::vector<RunInfo> runs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root, error)) {
    const std::string name = entry.path().filename();
    if (name[0] == '.' || !entry.is_directory(error)) continue;
    try {
      runs.push_back(ReadRecord(entry.path()).run);
    } catch (const Error&) {
      RunInfo damaged;
      damaged.lab = name;
      damaged.directory = entry.path();
      runs.push_back(damaged);
    }
  }
  std::sort(runs.begin(), runs.end(),
            [](const RunInfo& a, const RunInfo& b) { return a.lab < b.lab; });
  return runs;
}

std::vector<std::string> RemoveRun(const Record& record) {
  std::vector<std::string> problems;
  const auto attempt = [&](const auto& work) {
    try {
      work();
    } catch (const std::exception& error) {
      problems.push_back("lab " + record.run.lab + ": " + error.what());
    }
  };
  attempt([&] { EndProcesses(record); });
  for (auto it = record.physicals.rbegin(); it != record.physicals.rend(); ++it) {
    attempt([&] { ReturnPhysical(record, *it); });
  }
  // Namespaces stay while a physical interface is stuck in one: the kernel would drop it into the
  // initial namespace under whatever name is free.
  if (!problems.empty()) return problems;
  for (auto it = record.namespaces.rbegin(); it != record.namespaces.rend(); ++it) {
    attempt([&] {
      if (OpenRecorded(*it)) sys::DeleteNamespace(it->name);
    });
  }
  if (problems.empty() && !record.run.directory.empty()) {
    std::error_code error;
    fs::remove_all(record.run.directory, error);
    if (error) problems.push_back("remove " + record.run.directory + ": " + error.message());
  }
  return problems;
}

std::vector<RunInfo> RemoveDeadRuns(const std::string& root, std::vector<std::string>* problems) {
  std::vector<RunInfo> removed;
  for (const RunInfo& run : ListRuns(root)) {
    if (run.alive) continue;
    if (run.broker_pid == 0) {
      problems->push_back(run.directory + " has no readable record; inspect it and remove it");
      continue;
    }
    const std::vector<std::string> failures = RemoveRun(ReadRecord(run.directory));
    problems->insert(problems->end(), failures.begin(), failures.end());
    if (failures.empty()) removed.push_back(run);
  }
  // Directories of runs that died before they had their lab's name; nothing else existed then.
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root, error)) {
    int pid = 0;
    unsigned long long start_time = 0;
    const std::string name = entry.path().filename();
    if (sscanf(name.c_str(), ".new-%d-%llu-", &pid, &start_time) != 2) continue;
    if (!sys::ProcessAlive(pid, start_time)) fs::remove_all(entry.path(), error);
  }
  return removed;
}

}  // namespace viaduct::lab
