// The user for whom root acts.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace viaduct::sys {

struct Identity {
  uid_t uid = 0;
  gid_t gid = 0;
};

// Returns SUDO_UID and SUDO_GID if this process is root and the former is set, else the user of
// this process. Without SUDO_GID the group is the user's in passwd(5); throws EnvironmentError if
// that has no such user. Throws UsageError if they are not numbers.
Identity InvokingUser();

// Changes this process's identity permanently: user, group, and the supplementary groups of the
// user. Throws SystemError.
void Become(const Identity& identity);
// Changes this process's identity permanently to the invoking user, and puts the user's HOME, USER,
// LOGNAME and SHELL into the environment; does nothing if this process runs as that user already.
void BecomeInvokingUser();

// Makes no program that this process executes have more rights than it (PR_SET_NO_NEW_PRIVS):
// neither set-uid bits nor capabilities of files count. Throws SystemError.
void ForbidNewPrivileges();

// A user's entry in passwd(5).
struct Account {
  std::string name, home, shell;
  gid_t group = 0;
};
std::optional<Account> FindAccount(uid_t uid);

}  // namespace viaduct::sys
