#include "run/simulator/environment.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <sstream>

#include "base/file.h"
#include "base/utc_time.h"
#include "scenario/text/words.h"

namespace viaduct::run {
namespace {

std::string CpuModel() {
  std::istringstream lines(ReadFileIfAny("/proc/cpuinfo"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

}  // namespace

std::string Version() { return VIADUCT_VERSION; }

result::Environment DescribeEnvironment(const std::vector<std::string>& command_line) {
  utsname kernel{};
  uname(&kernel);
  result::Environment environment;
  environment.viaduct = Version();
  environment.kernel = fmt::format("{} {} {}", kernel.sysname, kernel.release, kernel.machine);
  environment.cpu = CpuModel();
  environment.cpus = sysconf(_SC_NPROCESSORS_ONLN);
  environment.memory_bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  environment.started = UtcNow();
  environment.command = scenario::JoinWords(command_line);
  return environment;
}

}  // namespace viaduct::run
