#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/shortage.h"

namespace viaduct {

namespace {

constexpr size_t kLongestNamedFile = 256 << 20;

UniqueFd OpenToRead(const std::string& path) {
  return UniqueFd(SystemCall("open " + path, open(path.c_str(), O_RDONLY | O_CLOEXEC)));
}

// Stops once there is more than `longest`.
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
    std::string text = ReadUpTo(kLongestNamedFile, OpenToRead(path).get(), path);
    if (text.size() <= kLongestNamedFile) return text;
    throw UsageError(path + ": is longer than 256 MiB; is it the right file?");
  } catch (const SystemError& error) {
    throw UsageError(path + ": cannot be read: " + std::strerror(error.error_number()));
  }
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
