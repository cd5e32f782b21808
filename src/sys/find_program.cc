#include "sys/find_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <system_error>
#include <vector>

#include "base/error.h"

namespace viaduct::sys {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> CompanionFolders() {
  if (const char* given = std::getenv("VIADUCT_LIBEXEC")) return {given};
  const fs::path here = OwnProgram().parent_path();
  return {here, here.parent_path(), here.parent_path() / "libexec/viaduct", VIADUCT_BUILD_DIR};
}

bool IsProgram(const std::string& path) {
  std::error_code error;
  return access(path.c_str(), X_OK) == 0 && !fs::is_directory(path, error);
}

}  // namespace

fs::path OwnProgram() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) throw EnvironmentError("/proc/self/exe: " + error.message() + "; is /proc mounted?");
  return program;
}

fs::path FindCompanion(const std::string& name) {
  const std::vector<fs::path> folders = CompanionFolders();
  for (const fs::path& folder : folders) {
    std::error_code error;  // an inaccessible folder is skipped
    if (fs::exists(folder / name, error)) return folder / name;
  }
  throw EnvironmentError(
      fmt::format("no {} in {}: build it (make build), or set VIADUCT_LIBEXEC to its folder", name,
                  folders.front().string()));
}

std::string FindProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return IsProgram(name) ? name : "";
  const char* path = std::getenv("PATH");
  return FindProgramIn(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin", name);
}

std::string FindProgramIn(std::string_view folders, const std::string& name) {
  std::istringstream stream{std::string(folders)};
  for (std::string folder; std::getline(stream, folder, ':');) {
    if (std::string candidate = folder + "/" + name; IsProgram(candidate)) return candidate;
  }
  return "";
}

}  // namespace viaduct::sys
