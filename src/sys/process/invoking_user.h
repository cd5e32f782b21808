// The user on whose behalf root acts.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace viaduct::sys {

struct Identity {
  uid_t uid = 0;
  gid_t gid = 0;
};

// SUDO_UID and SUDO_GID if this process is root and the former is set, else the user of this
// process. Without SUDO_GID it is the user's group in passwd(5), and EnvironmentError where that
// has no such user. Throws UsageError if they are not numbers.
Identity InvokingUser();

// Changes this process's identity permanently: user, group, and the supplementary groups of the
// user. Throws SystemError.
void Become(const Identity& identity);
// The same for the invoking user, whose HOME, USER, LOGNAME and SHELL are then in the environment;
// does nothing if this process runs as that user already.
void BecomeInvokingUser();

// From now on no program that this process executes has more rights than it (PR_SET_NO_NEW_PRIVS):
// neither set-uid bits nor capabilities of files count. Throws SystemError.
void ForbidNewPrivileges();

// A user's entry in passwd(5).
struct Account {
  std::string name, home, shell;
  gid_t group = 0;
};
std::optional<Account> FindAccount(uid_t uid);

}  // namespace viaduct::sys
