#include "guest/process/companions.h"

#include <cstdlib>
#include <system_error>
#include <vector>

#include "base/error.h"

namespace viaduct::guest {

std::filesystem::path FindCompanion(const std::string& name) {
  std::vector<std::filesystem::path> folders;
  if (const char* libexec = std::getenv("VIADUCT_LIBEXEC"); libexec != nullptr) {
    folders.emplace_back(libexec);
  } else {
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    folders = {program.parent_path(), program.parent_path().parent_path(), VIADUCT_BUILD_DIR};
  }
  for (const auto& folder : folders) {
    if (std::filesystem::exists(folder / name)) return folder / name;
  }
  throw EnvironmentError("no " + name + " in " + folders.front().string() +
                         ": build it (make build), or say in VIADUCT_LIBEXEC where it is");
}

}  // namespace viaduct::guest
