#include "remote/claim/key.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "sys/process/invoking_user.h"

namespace viaduct::claim {
namespace {

namespace fs = std::filesystem;

constexpr size_t kIdBytes = 8;
constexpr size_t kDigits = 2 * sizeof(Key::secret);

std::string Hexadecimal(const uint8_t* bytes, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

int Digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

Key ParseKey(std::string text, const std::string& file) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  Key key;
  bool is_key = text.size() == kDigits;
  for (size_t i = 0; is_key && i < kDigits; ++i) {
    const int digit = Digit(text[i]);
    is_key = digit >= 0;
    key.secret[i / 2] = static_cast<uint8_t>(key.secret[i / 2] << 4 | (digit & 15));
  }
  if (is_key) return key;
  throw UsageError(fmt::format(
      "{} does not contain a key of {} hexadecimal digits; copy the hub's key file again", file,
      kDigits));
}

void CheckSecrecy(int fd, const std::string& file) {
  struct stat status;
  SystemCall("fstat " + file, fstat(fd, &status));
  if (!S_ISREG(status.st_mode)) throw UsageError(file + ": a key file must be a regular file");
  if (status.st_uid != geteuid() && status.st_uid != 0) {
    throw UsageError(
        file +
        ": the key file belongs to another user, who could change the key; make your own copy");
  }
  if ((status.st_mode & 077) != 0) {
    throw UsageError(
        fmt::format("{}: other users can read or change the key; run chmod 600 {}", file, file));
  }
}

void MakeFolders(const fs::path& folder) {
  if (folder.empty() || fs::exists(folder)) return;
  MakeFolders(folder.parent_path());
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    throw SystemError("create " + folder.string(), errno);
  }
}

// Makes a key and writes it to a file, which is complete before the file gets the name `file`.
void MakeKey(const std::string& file) {
  Key key;
  const ssize_t got = getrandom(key.secret.data(), key.secret.size(), 0);
  if (got != static_cast<ssize_t>(key.secret.size())) throw SystemError("getrandom", errno);
  MakeFolders(fs::path(file).parent_path());
  const std::string unborn = fmt::format("{}.{}", file, getpid());
  unlink(unborn.c_str());
  const UniqueFd made(SystemCall(
      "make " + file, open(unborn.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)));
  try {
    WriteAll(made.get(), Hexadecimal(key.secret.data(), key.secret.size()) + "\n", file);
  } catch (const Error&) {  // the disk is full, for example
    unlink(unborn.c_str());
    throw;
  }
  const int linked = link(unborn.c_str(), file.c_str());
  const int error = errno;
  unlink(unborn.c_str());
  if (linked != 0 && error != EEXIST) throw SystemError("create " + file, error);
}

}  // namespace

std::string Key::Id() const {
  constexpr char kLabel[] = "viaduct key id";
  std::array<uint8_t, 32> code;
  unsigned length = code.size();
  if (HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
           reinterpret_cast<const uint8_t*>(kLabel), sizeof kLabel - 1, code.data(),
           &length) == nullptr) {
    throw Error("OpenSSL does not support HMAC-SHA-256");
  }
  return Hexadecimal(code.data(), kIdBytes);
}

std::string DefaultKeyFile() {
  const char* const config = std::getenv("XDG_CONFIG_HOME");
  if (config != nullptr && config[0] == '/') return std::string(config) + "/viaduct/hub.key";
  const char* const home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return std::string(home) + "/.config/viaduct/hub.key";
  const auto user = sys::FindAccount(geteuid());
  if (!user)
    throw EnvironmentError("this user has no home directory; specify the key file with --key");
  return user->home + "/.config/viaduct/hub.key";
}

Key ReadKey(const std::string& file) {
  const UniqueFd opened(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!opened && errno == ENOENT) {
    throw UsageError(
        file +
        ": the key file does not exist; copy the hub's key to this file, or specify --key FILE");
  }
  if (!opened) throw UsageError(fmt::format("cannot read {}: {}", file, std::strerror(errno)));
  CheckSecrecy(opened.get(), file);
  std::array<char, kDigits + 8> text;
  const ssize_t got = SystemCall("read " + file, read(opened.get(), text.data(), text.size()));
  return ParseKey(std::string(text.data(), static_cast<size_t>(got)), file);
}

Key ReadOrMakeKey(const std::string& file) {
  if (access(file.c_str(), F_OK) != 0 && errno == ENOENT) MakeKey(file);
  return ReadKey(file);
}

}  // namespace viaduct::claim
