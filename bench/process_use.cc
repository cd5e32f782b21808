#include "process_use.h"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "sys/process/process.h"

namespace viaduct::bench {
namespace {

// proc_pid_stat(5): what follows the name in brackets, which may hold anything. False: it has
// ended.
bool AddTimes(int pid, ProcessUse& use) {
  std::string line;
  if (!std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/stat"), line)) return false;
  std::istringstream words(line.substr(line.rfind(')') + 1));
  std::string state;
  words >> state;
  std::vector<double> fields;  // from the parent, the fourth, on
  for (double field; words >> field;) fields.push_back(field);
  if (fields.size() < 14) return false;
  const auto tick = static_cast<double>(sysconf(_SC_CLK_TCK));
  use.user_seconds += (fields[10] + fields[12]) / tick;    // utime, cutime
  use.system_seconds += (fields[11] + fields[13]) / tick;  // stime, cstime
  return true;
}

double ReadPssMib(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/smaps_rollup");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("Pss:", 0) == 0) return std::stod(line.substr(4)) / 1024;
  }
  return 0;
}

}  // namespace

ProcessUse MeasureFamily() {
  std::vector<int> family = sys::Descendants();
  family.push_back(getpid());
  ProcessUse use;
  for (const int pid : family) {
    if (!AddTimes(pid, use)) continue;
    ++use.processes;
    use.pss_mib += ReadPssMib(pid);
  }
  return use;
}

}  // namespace viaduct::bench
