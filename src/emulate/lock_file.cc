#include "emulate/lock_file.h"

#include <fcntl.h>

#include "base/error.h"
#include "sys/trusted_folder.h"

namespace viaduct::emulate {
namespace {

std::string LockFolder() { return std::string(sys::kRunFolder) + "/.locks"; }

}  // namespace

std::string LockPath(const std::string& name) { return LockFolder() + "/" + name; }

UniqueFd OpenLock(const std::string& name) {
  const UniqueFd folder = sys::MakeTrusted(sys::RunPlace({".locks", 0700}));
  return UniqueFd(SystemCall(
      "open " + LockPath(name),
      openat(folder.get(), name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)));
}

}  // namespace viaduct::emulate
