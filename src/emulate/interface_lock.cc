#include "emulate/interface_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "sys/network/netns.h"
#include "sys/trusted_folder.h"

namespace viaduct::emulate {
namespace {

namespace fs = std::filesystem;

std::string LocksRoot() { return std::string(sys::kRunFolder) + "/.interfaces"; }

}  // namespace

InterfaceLock::InterfaceLock(const std::string& interface, const std::string& holder) {
  const std::string path = fmt::format(
      "{}/{}-{}", LocksRoot(), sys::NamespaceInode(sys::OpenCurrentNamespace().get()), interface);
  for (;;) {
    sys::MakeTrusted(sys::RunPlace({".interfaces"}));
    file_.reset(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (!file_ && errno == ENOENT) continue;  // the release of the last lock removed the folder
    SystemCall("open " + path, file_.get());
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
  std::error_code error;
  fs::remove(path_, error);
  fs::remove(LocksRoot(), error);  // if it is empty
  path_.clear();
}

}  // namespace viaduct::emulate
