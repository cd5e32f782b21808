#include "sys/process/find_program.h"

#include <dlfcn.h>
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

// Returns the folder of the file that contains this function, which is the program or the library
// libviaduct: a program of a user may be in any folder, but its library was installed together with
// Viaduct's helper programs.
fs::path OwnFolder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&OwnFolder), &info) == 0) return "";
  std::error_code error;
  // Leaves out a program with a relative name: dladdr(3) returns the name by which the program was
  // called, and canonical() would search "viaduct" in the working directory.
  if (!fs::path(info.dli_fname).is_absolute()) return "";
  const fs::path file = fs::canonical(info.dli_fname, error);
  return error ? "" : file.parent_path();
}

// Returns the folders in which the paths of installed files may begin: PREFIX/bin, PREFIX/lib,
// PREFIX/lib/TRIPLET, PREFIX/libexec/viaduct or its folder of examples, and the parent folder of
// each of them; or the build folder and folders in it.
std::vector<fs::path> Places() {
  const fs::path here = OwnProgram().parent_path(), own = OwnFolder();
  std::vector<fs::path> places = {here, here.parent_path()};
  if (!own.empty() && own != here) places.insert(places.end(), {own, own.parent_path()});
  return places;
}

std::vector<fs::path> CompanionFolders() {
  if (const char* given = std::getenv("VIADUCT_LIBEXEC")) return {given};
  std::vector<fs::path> folders = Places();
  for (const fs::path& place : Places()) {
    folders.push_back(place / "libexec/viaduct");
    folders.push_back(place.parent_path() / "libexec/viaduct");
  }
  return folders;
}

bool IsProgram(const std::string& path) {
  std::error_code error;
  return access(path.c_str(), X_OK) == 0 && !fs::is_directory(path, error);
}

}  // namespace

fs::path OwnProgram() {
  std::error_code error;
  fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error)
    throw EnvironmentError("/proc/self/exe: " + error.message() + "; check that /proc is mounted");
  return program;
}

fs::path FindCompanion(const std::string& name) {
  const std::vector<fs::path> folders = CompanionFolders();
  for (const fs::path& folder : folders) {
    std::error_code error;  // inaccessible folders are skipped
    if (fs::exists(folder / name, error)) return folder / name;
  }
  throw EnvironmentError(
      fmt::format("program {} not found in {}: build it (make build), install its package (see "
                  "docs/install.md), or set VIADUCT_LIBEXEC to the program's directory",
                  name, folders.front().string()));
}

std::string FindSharedFile(const std::string& name) {
  for (const fs::path& place : Places()) {
    for (const fs::path& prefix : {place, place.parent_path()}) {
      const fs::path file = prefix / "share/viaduct" / name;
      std::error_code error;
      if (fs::exists(file, error)) return file;
    }
  }
  return "";
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
