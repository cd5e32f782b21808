#include "sys/trusted_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <random>

#include "base/error.h"

namespace viaduct::sys {
namespace {

constexpr mode_t kPrivate = 0700;
constexpr char kTmp[] = "/tmp";

struct stat StatusOf(int fd) {
  struct stat status;
  SystemCall("fstat", fstat(fd, &status));
  return status;
}

// Returns the reason for which the folder must not be used, also if it could not be opened; "" if
// it may be used.
std::string Distrust(const UniqueFd& folder) {
  // The file may also be a symbolic link.
  if (!folder && errno == ENOTDIR) return "is not a directory";
  if (!folder || !IsOwn(folder.get())) return "belongs to another user";
  return IsTrusted(folder.get()) ? "" : "can be written by other users";
}

template <class Step>
UniqueFd Walk(const TrustedPlace& place, const Step& step) {
  std::filesystem::path path = place.base;
  UniqueFd here(
      SystemCall("open " + path.string(), open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  for (const TrustedPlace::Folder& folder : place.folders) {
    path /= folder.name;
    UniqueFd next = step(here.get(), folder);
    if (!next && errno != ENOTDIR && errno != EACCES) {
      throw SystemError("open " + path.string(), errno);
    }
    const std::string distrust = Distrust(next);
    if (!distrust.empty()) {
      throw EnvironmentError(fmt::format("{} {}; {}", path.string(), distrust, place.remedy));
    }
    here = std::move(next);
  }
  return here;
}

TrustedPlace PrivatePlace(std::filesystem::path base, const std::string& own,
                          const std::string& folder) {
  return {std::move(base),
          {{own, kPrivate, false}, {folder, kPrivate, false}},
          "remove this directory, or set XDG_RUNTIME_DIR"};
}

// Returns whether the file of that name in /tmp belongs to this user, or nothing if there is no
// such file.
std::optional<bool> IsOwnInTmp(const std::string& name) {
  struct stat status;
  if (lstat((std::filesystem::path(kTmp) / name).c_str(), &status) != 0) return std::nullopt;
  return status.st_uid == geteuid();
}

// Returns the names of this user's folders in /tmp, where any user may make a folder of any name.
// There are several if processes began at the same time.
std::vector<std::string> OwnInTmp() {
  const std::string name = fmt::format("viaduct-{}", geteuid());
  std::vector<std::string> found;
  if (IsOwnInTmp(name) == true) found.push_back(name);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(kTmp, error)) {
    const std::string other = entry.path().filename();
    if (other.starts_with(name + "-") && IsOwnInTmp(other) == true) found.push_back(other);
  }
  std::ranges::sort(found);
  return found;
}

// Returns the first name in OwnInTmp(), or the name of a folder that can be made.
std::string NameInTmp() {
  if (const auto own = OwnInTmp(); !own.empty()) return own.front();
  std::string name = fmt::format("viaduct-{}", geteuid());
  if (!IsOwnInTmp(name).has_value()) return name;
  // Appends random digits, because another user cannot make a folder of an unknown name in advance.
  static const std::string random =
      fmt::format("{:08x}{:08x}", std::random_device()(), std::random_device()());
  return name + "-" + random;
}

}  // namespace

std::filesystem::path TrustedPlace::path() const {
  std::filesystem::path path = base;
  for (const Folder& folder : folders) path /= folder.name;
  return path;
}

TrustedPlace RunPlace() {
  const std::filesystem::path folder = kRunFolder;
  return {folder.parent_path(), {{folder.filename()}}};
}

TrustedPlace RunPlace(TrustedPlace::Folder folder) {
  TrustedPlace place = RunPlace();
  place.folders.push_back(std::move(folder));
  return place;
}

TrustedPlace RootsPlace(const std::string& folder) {
  return RunPlace({"." + folder, kPrivate, false});
}

TrustedPlace UserPlace(const std::string& folder) {
  if (geteuid() == 0) return RootsPlace(folder);
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  const bool has_runtime = runtime != nullptr && access(runtime, W_OK) == 0;
  return has_runtime ? PrivatePlace(runtime, "viaduct", folder)
                     : PrivatePlace(kTmp, NameInTmp(), folder);
}

std::vector<TrustedPlace> UserPlaces(const std::string& folder) {
  std::vector<TrustedPlace> places{UserPlace(folder)};
  if (geteuid() == 0) return places;
  std::vector<TrustedPlace> others{
      PrivatePlace(fmt::format("/run/user/{}", geteuid()), "viaduct", folder)};
  for (const std::string& name : OwnInTmp()) others.push_back(PrivatePlace(kTmp, name, folder));
  for (TrustedPlace& other : others) {
    // Leaves out a folder of another user, because a process that does not need the folder can run
    // without it.
    struct stat status;
    const bool is_own = lstat((other.base / other.folders.front().name).c_str(), &status) == 0 &&
                        status.st_uid == geteuid();
    if (is_own && other.path() != places.front().path()) places.push_back(std::move(other));
  }
  places.push_back(RootsPlace(folder));
  return places;
}

UniqueFd OpenTrusted(const TrustedPlace& place) {
  try {
    return Walk(place, [](int parent, const TrustedPlace::Folder& folder) {
      UniqueFd next = OpenFolderAt(parent, folder.name);
      if (!next && errno == EACCES) throw SystemError("open " + folder.name, errno);
      return next;
    });
  } catch (const SystemError& error) {
    if (error.error_number() != ENOENT && error.error_number() != EACCES) throw;
    return {};
  }
}

UniqueFd MakeTrusted(const TrustedPlace& place) { return Walk(place, MakeFolderAt); }

void RemoveIfEmpty(TrustedPlace place) {
  while (!place.folders.empty() && !place.folders.back().stays) {
    const std::string name = place.folders.back().name;
    place.folders.pop_back();
    if (unlinkat(OpenTrusted(place).get(), name.c_str(), AT_REMOVEDIR) != 0) return;
  }
}

bool IsOwn(int fd) {
  const uid_t owner = StatusOf(fd).st_uid;
  return owner == 0 || owner == geteuid();
}

bool IsTrusted(int fd) { return IsOwn(fd) && (StatusOf(fd).st_mode & (S_IWGRP | S_IWOTH)) == 0; }

UniqueFd OpenFolderAt(int parent, const std::string& name) {
  return UniqueFd(openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

UniqueFd MakeFolderAt(int parent, const TrustedPlace::Folder& wanted) {
  bool made = false;
  for (;;) {
    UniqueFd folder = OpenFolderAt(parent, wanted.name);
    if (folder && made) SystemCall("chmod " + wanted.name, fchmod(folder.get(), wanted.mode));
    if (folder || errno != ENOENT) return folder;
    made = mkdirat(parent, wanted.name.c_str(), 0700) == 0;
    if (!made && errno != EEXIST) return folder;
  }
}

bool IsStill(int fd, int folder, const std::string& name) {
  struct stat named;
  if (fstatat(folder, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0) return false;
  const struct stat opened = StatusOf(fd);
  return opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

std::vector<std::string> NamesIn(int folder) {
  std::vector<std::string> names;
  if (folder < 0) return names;
  std::error_code error;
  const std::filesystem::directory_iterator files(PathIn(folder), error);
  if (error) throw SystemError("list a directory", error.value());
  for (const auto& file : files) {
    names.push_back(file.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string PathIn(int folder, const std::string& name) {
  return fmt::format("/proc/self/fd/{}/{}", folder, name);
}

}  // namespace viaduct::sys
