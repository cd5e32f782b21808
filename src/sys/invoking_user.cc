#include "sys/invoking_user.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "base/units.h"

namespace viaduct::sys {
namespace {

uint32_t IdOf(const char* variable, uint32_t otherwise) {
  const char* text = getenv(variable);
  if (text == nullptr) return otherwise;
  return static_cast<uint32_t>(ParseInteger(text, 0, 0xFFFFFFFE));
}

}  // namespace

Identity InvokingUser() {
  if (geteuid() != 0) return {getuid(), getgid()};
  const uid_t uid = IdOf("SUDO_UID", getuid());
  return {uid, IdOf("SUDO_GID", getgid())};
}

void Become(const Identity& identity) {
  if (const auto account = FindAccount(identity.uid)) {
    SystemCall("initgroups", initgroups(account->name.c_str(), identity.gid));
  } else {
    SystemCall("setgroups", setgroups(1, &identity.gid));
  }
  SystemCall("setresgid", setresgid(identity.gid, identity.gid, identity.gid));
  SystemCall("setresuid", setresuid(identity.uid, identity.uid, identity.uid));
}

void BecomeInvokingUser() {
  const Identity user = InvokingUser();
  if (user.uid != geteuid() || user.gid != getegid()) Become(user);
}

std::optional<Account> FindAccount(uid_t uid) {
  const passwd* entry = getpwuid(uid);
  if (entry == nullptr) return std::nullopt;
  return Account{entry->pw_name, entry->pw_dir, entry->pw_shell};
}

}  // namespace viaduct::sys
