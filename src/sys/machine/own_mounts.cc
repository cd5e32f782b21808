#include "sys/machine/own_mounts.h"

#include <limits.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"

namespace viaduct::sys {

void EnterOwnMounts() {
  SystemCall("unshare the mount namespace", unshare(CLONE_NEWNS));
  SystemCall("mount --make-rslave /", mount("", "/", "none", MS_SLAVE | MS_REC, nullptr));
}

void MountOver(const std::string& file, const std::string& target) {
  // Finds the file to which a symbolic link leads, which may be anywhere: a mount over the link is
  // a mount over that file.
  const std::string place = std::filesystem::canonical(target);
  SystemCall("mount over " + place, mount(file.c_str(), place.c_str(), "none", MS_BIND, nullptr));
}

std::string HostsText(const std::vector<HostName>& names) {
  std::string text = "127.0.0.1 localhost\n::1 localhost\n";
  for (const HostName& each : names) text += each.address.ToString() + " " + each.names + "\n";
  return text;
}

void EnterNames(const std::string& host_name, const std::string& hosts) {
  EnterOwnMounts();
  SystemCall("unshare the UTS namespace", unshare(CLONE_NEWUTS));
  SystemCall("sethostname",
             sethostname(host_name.c_str(), std::min<size_t>(host_name.size(), HOST_NAME_MAX)));
  if (access("/etc/hosts", F_OK) == 0) MountOver(hosts, "/etc/hosts");
}

}  // namespace viaduct::sys
