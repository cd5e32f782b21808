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

// Returns the user of SUDO_UID and SUDO_GID if this process is root and SUDO_UID is set, else the
// user of this process. Without SUDO_GID the group is the user's group in passwd(5); throws
// EnvironmentError if passwd(5) has no such user. Throws UsageError if a variable is not a number.
Identity InvokingUser();

// Changes this process's identity permanently: user, group, and the supplementary groups of the
// user. Throws SystemError.
void Become(const Identity& identity);
// Changes this process's identity permanently to the invoking user, and sets the user's HOME, USER,
// LOGNAME and SHELL in the environment; does nothing if this process already runs as that user.
void BecomeInvokingUser();

// Sets PR_SET_NO_NEW_PRIVS: no program that this process executes from now on has more privileges
// than this process, because neither set-uid bits nor capabilities of files count. Throws
// SystemError.
void ForbidNewPrivileges();

// The entry of a user in passwd(5).
struct Account {
  std::string name, home, shell;
  gid_t group = 0;
};
std::optional<Account> FindAccount(uid_t uid);

}  // namespace viaduct::sys
