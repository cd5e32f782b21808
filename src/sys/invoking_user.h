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

// SUDO_UID and SUDO_GID if they are set and this process is root, else the user of this process.
// Throws UsageError if they are not numbers.
Identity InvokingUser();

// Changes this process's identity permanently: user, group, and the supplementary groups of the
// user. Throws SystemError.
void Become(const Identity& identity);
// The same for the invoking user; does nothing if this process runs as that user already.
void BecomeInvokingUser();

// A user's entry in passwd(5).
struct Account {
  std::string name, home, shell;
};
std::optional<Account> FindAccount(uid_t uid);

}  // namespace viaduct::sys
