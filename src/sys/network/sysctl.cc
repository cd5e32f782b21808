#include "sys/network/sysctl.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/error.h"
#include "base/fd.h"
#include "sys/network/netns.h"

namespace viaduct::sys {
namespace {

[[noreturn]] void ThrowOpenError(const std::string& name) {
  if (errno == ENOENT) {
    throw UsageError("sysctl " + name + ": no such parameter in this kernel (see `sysctl -a`)");
  }
  throw SystemError("open sysctl " + name, errno);
}

}  // namespace

std::string SysctlPath(std::string_view name) {
  std::string path(name);
  if (path.find('/') == std::string::npos) std::replace(path.begin(), path.end(), '.', '/');
  if (path.rfind("net/", 0) != 0 || path.find("..") != std::string::npos) {
    throw UsageError(
        "sysctl " + std::string(name) +
        ": only network parameters of a namespace are allowed, such as net.ipv4.ip_forward");
  }
  return "/proc/sys/" + path;
}

void WriteSysctlHere(const std::string& name, const std::string& value) {
  const UniqueFd file(open(SysctlPath(name).c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) ThrowOpenError(name);
  if (write(file.get(), value.data(), value.size()) >= 0) return;
  if (errno == EINVAL)
    throw UsageError("sysctl " + name + ": the kernel rejects the value \"" + value + "\"");
  throw SystemError("set sysctl " + name + " to " + value, errno);
}

void WriteSysctl(int namespace_fd, const std::string& name, const std::string& value) {
  NamespaceScope scope(namespace_fd);
  WriteSysctlHere(name, value);
}

std::string ReadSysctl(int namespace_fd, const std::string& name) {
  NamespaceScope scope(namespace_fd);
  const UniqueFd file(open(SysctlPath(name).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) ThrowOpenError(name);
  std::array<char, 4096> buffer;
  const ssize_t length =
      SystemCall("read sysctl " + name, read(file.get(), buffer.data(), buffer.size()));
  std::string value(buffer.data(), static_cast<size_t>(length));
  while (!value.empty() && value.back() == '\n') value.pop_back();
  return value;
}

void WriteSysctls(int namespace_fd, const std::map<std::string, std::string>& values,
                  bool skip_missing_ipv6) {
  NamespaceScope scope(namespace_fd);
  const bool skip_ipv6 = skip_missing_ipv6 && access("/proc/sys/net/ipv6", F_OK) != 0;
  for (const auto& [name, value] : values) {
    if (skip_ipv6 && SysctlPath(name).rfind("/proc/sys/net/ipv6/", 0) == 0) continue;
    WriteSysctlHere(name, value);
  }
}

}  // namespace viaduct::sys
