#include "run/environment.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "scenario/words.h"

namespace viaduct::run {
namespace {

std::string CpuModel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

std::string UtcNow() {
  const std::time_t now = std::time(nullptr);
  std::tm fields{};
  gmtime_r(&now, &fields);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &fields);
  return text;
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

std::string FindProgram(const std::string& name) {
  const auto runs = [](const std::string& path) {
    std::error_code error;
    return access(path.c_str(), X_OK) == 0 && !std::filesystem::is_directory(path, error);
  };
  if (name.find('/') != std::string::npos) return runs(name) ? name : "";
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (std::string candidate = folder + "/" + name; runs(candidate)) return candidate;
  }
  return "";
}

std::string FindOwnProgram(const std::string& name) {
  std::error_code error;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const auto& candidate : {here / name, here / ".." / "libexec" / "viaduct" / name}) {
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  throw EnvironmentError(
      fmt::format("{} is not in {}: build it (make build)", name, here.string()));
}

}  // namespace viaduct::run
