#include "process_use.h"

#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace viaduct::bench {
namespace {

struct Stat {
  pid_t parent = 0;
  double user = 0, system = 0;  // s
};

// proc_pid_stat(5): what follows the name in brackets, which may hold anything.
bool ReadStat(const std::string& pid, Stat* stat) {
  std::string line;
  if (!std::getline(std::ifstream("/proc/" + pid + "/stat"), line)) return false;
  std::istringstream words(line.substr(line.rfind(')') + 1));
  std::string state;
  words >> state >> stat->parent;
  std::vector<double> fields;  // from pgrp, the fifth, on
  for (double field; words >> field;) fields.push_back(field);
  if (fields.size() < 13) return false;
  const auto tick = static_cast<double>(sysconf(_SC_CLK_TCK));
  stat->user = (fields[9] + fields[11]) / tick;     // utime, cutime
  stat->system = (fields[10] + fields[12]) / tick;  // stime, cstime
  return true;
}

double ReadPssMib(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/smaps_rollup");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("Pss:", 0) == 0) return std::stod(line.substr(4)) / 1024;
  }
  return 0;
}

std::map<pid_t, Stat> AllProcesses() {
  std::map<pid_t, Stat> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size()) continue;
    if (Stat stat; ReadStat(name, &stat)) all[pid] = stat;
  }
  return all;
}

bool Descends(const std::map<pid_t, Stat>& all, pid_t pid, pid_t ancestor) {
  // The bound: parents are read one by one, and a number may be given anew meanwhile.
  for (int generation = 0; generation < 64 && pid > 1; ++generation) {
    if (pid == ancestor) return true;
    const auto found = all.find(pid);
    if (found == all.end()) return false;
    pid = found->second.parent;
  }
  return false;
}

}  // namespace

ProcessUse MeasureFamily() {
  const auto all = AllProcesses();
  ProcessUse use;
  for (const auto& [pid, stat] : all) {
    if (!Descends(all, pid, getpid())) continue;
    ++use.processes;
    use.user_seconds += stat.user;
    use.system_seconds += stat.system;
    use.pss_mib += ReadPssMib(pid);
  }
  return use;
}

}  // namespace viaduct::bench
