#include "emulate/own_mounts.h"

#include <sched.h>
#include <sys/mount.h>

#include <filesystem>

#include "base/error.h"

namespace viaduct::emulate {

void EnterOwnMounts() {
  SystemCall("unshare the mount namespace", unshare(CLONE_NEWNS));
  SystemCall("mount --make-rslave /", mount("", "/", "none", MS_SLAVE | MS_REC, nullptr));
}

void MountOver(const std::string& file, const std::string& target) {
  // A mount over a symbolic link is over what it leads to, which may be anywhere.
  const std::string place = std::filesystem::canonical(target);
  SystemCall("mount over " + place, mount(file.c_str(), place.c_str(), "none", MS_BIND, nullptr));
}

}  // namespace viaduct::emulate
