#include "sys/network/interface_setting.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "sys/network/link.h"
#include "sys/network/sysctl.h"

namespace viaduct::sys {
namespace {

std::string NameOf(int ifindex) {
  const auto link = Netlink().FindLink(ifindex);
  return link ? link->name : "";
}

}  // namespace

InterfaceSetting::InterfaceSetting(int ifindex, std::string pattern)
    : ifindex_(ifindex), pattern_(std::move(pattern)) {}

// Opens the parameter's file, which belongs to the interface if the interface has the same name
// after the opening. Each query of the name waits until a renaming in progress is complete (both
// need the kernel's RTNL lock), so that the files of that name exist.
UniqueFd InterfaceSetting::Open(int mode) const {
  for (std::string name = NameOf(ifindex_); !name.empty();) {
    const std::string parameter = fmt::format(fmt::runtime(pattern_), name);
    UniqueFd file(open(SysctlPath(parameter).c_str(), mode | O_CLOEXEC));
    const int error = errno;
    std::string after = NameOf(ifindex_);
    if (after == name) {
      if (!file && error != ENOENT) throw SystemError("open sysctl " + parameter, error);
      return file;
    }
    name = std::move(after);
  }
  return {};
}

// Calls `work` with the open file. `work` returns the result of its system call; the errno ENOENT
// means that the interface has been renamed since the opening.
template <class Work>
bool InterfaceSetting::Do(int mode, const Work& work) const {
  while (const UniqueFd file = Open(mode)) {
    if (work(file.get()) >= 0) return true;
    if (errno != ENOENT) {
      throw SystemError(fmt::format("sysctl {} of interface {}", pattern_, ifindex_), errno);
    }
  }
  return false;
}

bool InterfaceSetting::IsThere() const { return static_cast<bool>(Open(O_RDONLY)); }

bool InterfaceSetting::IsOn() const {
  char value = '0';
  Do(O_RDONLY, [&](int file) { return read(file, &value, sizeof value); });
  return value != '0';
}

bool InterfaceSetting::Set(bool on) const {
  return Do(O_WRONLY, [&](int file) { return write(file, on ? "1" : "0", 1); });
}

}  // namespace viaduct::sys
