#include "sys/process/invoking_user.h"

#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "base/units.h"

namespace viaduct::sys {
namespace {

std::optional<uint32_t> IdOf(const char* variable) {
  const char* text = getenv(variable);
  if (text == nullptr) return std::nullopt;
  return static_cast<uint32_t>(ParseInteger(text, 0, 0xFFFFFFFE));
}

gid_t PrimaryGroup(uid_t uid) {
  if (const auto account = FindAccount(uid)) return account->group;
  throw EnvironmentError(fmt::format(
      "SUDO_UID is {}, which is not a user of this machine, and SUDO_GID is not set", uid));
}

}  // namespace

Identity InvokingUser() {
  if (geteuid() != 0) return {getuid(), getgid()};
  const auto uid = IdOf("SUDO_UID");
  if (!uid || *uid == 0) return {getuid(), getgid()};
  const auto gid = IdOf("SUDO_GID");
  return {*uid, gid ? *gid : PrimaryGroup(*uid)};
}

// Drops all capabilities, including the inheritable ones, which a process keeps when its identity
// changes.
static void DropCapabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  SystemCall("capset", static_cast<int>(syscall(SYS_capset, &header, none)));
}

void Become(const Identity& identity) {
  if (const auto account = FindAccount(identity.uid)) {
    SystemCall("initgroups", initgroups(account->name.c_str(), identity.gid));
  } else {
    SystemCall("setgroups", setgroups(1, &identity.gid));
  }
  SystemCall("setresgid", setresgid(identity.gid, identity.gid, identity.gid));
  SystemCall("setresuid", setresuid(identity.uid, identity.uid, identity.uid));
  if (identity.uid != 0) DropCapabilities();
}

void BecomeInvokingUser() {
  const Identity user = InvokingUser();
  if (user.uid == geteuid() && user.gid == getegid()) return;
  Become(user);
  const auto account = FindAccount(user.uid);
  if (!account) return;
  setenv("HOME", account->home.c_str(), 1);
  setenv("USER", account->name.c_str(), 1);
  setenv("LOGNAME", account->name.c_str(), 1);
  setenv("SHELL", account->shell.c_str(), 1);
}

void ForbidNewPrivileges() {
  SystemCall("prctl PR_SET_NO_NEW_PRIVS", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
}

std::optional<Account> FindAccount(uid_t uid) {
  const passwd* entry = getpwuid(uid);
  if (entry == nullptr) return std::nullopt;
  return Account{entry->pw_name, entry->pw_dir, entry->pw_shell, entry->pw_gid};
}

}  // namespace viaduct::sys
