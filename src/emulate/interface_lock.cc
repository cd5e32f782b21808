#include "emulate/interface_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <fstream>

#include "base/error.h"
#include "emulate/lock_file.h"
#include "sys/network/netns.h"
#include "sys/trusted_folder.h"

namespace viaduct::emulate {

InterfaceLock::InterfaceLock(const std::string& interface, const std::string& holder) {
  const std::string name = fmt::format(
      "interface-{}-{}", sys::NamespaceInode(sys::OpenCurrentNamespace().get()), interface);
  const std::string path = LockPath(name);
  for (;;) {
    file_ = OpenLock(name);
    if (flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
      std::string other;
      std::getline(std::ifstream(path), other);
      throw UsageError(fmt::format(
          "interface {}: another emulator uses it ({}); end that first, or add a pair to it",
          interface, other));
    }
    if (sys::IsStill(file_.get(), AT_FDCWD, path))
      break;  // otherwise its last holder has just removed it
  }
  path_ = path;
  SystemCall("write " + path, ftruncate(file_.get(), 0));
  SystemCall("write " + path, pwrite(file_.get(), holder.data(), holder.size(), 0));
}

InterfaceLock::~InterfaceLock() { Remove(); }

void InterfaceLock::Remove() {
  if (!file_ || path_.empty()) return;
  unlink(path_.c_str());
  path_.clear();
}

}  // namespace viaduct::emulate
