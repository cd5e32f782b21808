#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <system_error>

#include "base/error.h"
#include "base/shortage.h"

namespace viaduct {

namespace {

constexpr size_t kMaxNamedFile = 256 << 20;

UniqueFd OpenToRead(const std::string& path, int flags = 0) {
  return UniqueFd(SystemCall("open " + path, open(path.c_str(), O_RDONLY | O_CLOEXEC | flags)));
}

[[noreturn]] void ThrowUnreadable(const std::string& path, int error) {
  throw UsageError(path + ": cannot be read: " + std::strerror(error));
}

void ThrowUnlessRegular(const std::string& path, mode_t mode) {
  if (S_ISREG(mode)) return;
  const char* kind = S_ISDIR(mode)    ? "folder"
                     : S_ISFIFO(mode) ? "FIFO"
                     : S_ISSOCK(mode) ? "socket"
                                      : "device";
  throw UsageError(path + " is a " + kind + "; use a regular file");
}

// Reads a descriptor until its end, or until more than `longest` bytes have been read.
std::string ReadUpTo(size_t longest, int fd, std::string_view what) {
  std::string text;
  std::array<char, 65536> buffer;
  while (text.size() <= longest) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw SystemError("read " + std::string(what), errno);
    if (got == 0) break;
    text.append(buffer.data(), static_cast<size_t>(got));
  }
  return text;
}

std::string ReadAllNamed(UniqueFd file, const std::string& path) {
  struct stat status;
  const bool is_longer = fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                         status.st_size > static_cast<off_t>(kMaxNamedFile);
  std::string text = is_longer ? "" : ReadUpTo(kMaxNamedFile, file.get(), path);
  if (!is_longer && text.size() <= kMaxNamedFile) return text;
  throw UsageError(path + " is longer than 256 MiB; check the file's name");
}

}  // namespace

std::string ReadToEnd(int fd, std::string_view what) {
  return ReadUpTo(std::numeric_limits<size_t>::max() - 1, fd, what);
}

void WriteAll(int fd, std::string_view text, std::string_view what) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw SystemError("write " + std::string(what), errno);
    text.remove_prefix(static_cast<size_t>(written));
  }
}

std::string ReadFile(const std::string& path) { return ReadToEnd(OpenToRead(path).get(), path); }

std::string ReadFileIfAny(const std::string& path) {
  try {
    return ReadFile(path);
  } catch (const SystemError& error) {
    if (IsShortage(error.error_number())) throw;
    return "";
  }
}

std::string ReadNamedFile(const std::string& path) {
  try {
    return ReadAllNamed(OpenToRead(path), path);
  } catch (const SystemError& error) {
    ThrowUnreadable(path, error.error_number());
  }
}

std::string ReadRegularFile(const std::string& path) {
  CheckIsRegular(path);
  try {
    // Opens without blocking: after CheckIsRegular() a FIFO may have replaced the file.
    UniqueFd file = OpenToRead(path, O_NONBLOCK | O_NOCTTY);
    struct stat status;
    SystemCall("fstat " + path, fstat(file.get(), &status));
    ThrowUnlessRegular(path, status.st_mode);
    return ReadAllNamed(std::move(file), path);
  } catch (const SystemError& error) {
    ThrowUnreadable(path, error.error_number());
  }
}

void CheckIsRegular(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) ThrowUnreadable(path, errno);
  ThrowUnlessRegular(path, status.st_mode);
}

std::string CurrentFolder() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::current_path(error);
  if (error == std::errc::no_such_file_or_directory) {
    throw UsageError("the current folder has been removed; change to another folder");
  }
  if (error) throw UsageError("cannot determine the current folder: " + error.message());
  return folder.string();
}

void WriteFile(const std::string& path, std::string_view text) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  const UniqueFd file(SystemCall("create " + path, open(path.c_str(), kFlags, 0666)));
  WriteAll(file.get(), text, path);
}

UniqueFd MemoryFile(const char* name, std::string_view text) {
  UniqueFd file(SystemCall("memfd_create", memfd_create(name, MFD_CLOEXEC)));
  WriteAll(file.get(), text, name);
  SystemCall("lseek", static_cast<ssize_t>(lseek(file.get(), 0, SEEK_SET)));
  return file;
}

}  // namespace viaduct
