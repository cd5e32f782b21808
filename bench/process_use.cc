#include "process_use.h"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "sys/process/process.h"

namespace viaduct::bench {
namespace {

// Adds the CPU times of a process: fields of proc_pid_stat(5) behind the process name, which is in
// parentheses and may contain any characters. Returns false if the process has exited.
bool AddTimes(int pid, ProcessUse& use) {
  std::string line;
  if (!std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/stat"), line)) return false;
  std::istringstream words(line.substr(line.rfind(')') + 1));
  std::string state;
  words >> state;
  // Fields of proc_pid_stat(5), beginning with the fourth (the parent's PID).
  std::vector<double> fields;
  for (double field; words >> field;) fields.push_back(field);
  if (fields.size() < 14) return false;
  const auto tick = static_cast<double>(sysconf(_SC_CLK_TCK));
  use.user_seconds += (fields[10] + fields[12]) / tick;    // utime and cutime
  use.system_seconds += (fields[11] + fields[13]) / tick;  // stime and cstime
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
