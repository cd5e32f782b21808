// On whose behalf root acts.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace viaduct::sys {

struct Identity {
  uid_t uid = 0;
  gid_t gid = 0;
};

// SUDO_UID and SUDO_GID where they are set and this process is root, else the user of this process.
// UsageError where they are no numbers.
Identity InvokingUser();

// Gives up this process's identity for that one, for good: user, group, and the groups that
// getpwuid(3) says the user is in. Throws SystemError.
void Become(const Identity& identity);
// The same for the invoking user; nothing happens where this process is that user's already.
void BecomeInvokingUser();

// What the machine knows of a user (passwd(5)).
struct Account {
  std::string name, home, shell;
};
std::optional<Account> FindAccount(uid_t uid);

}  // namespace viaduct::sys
