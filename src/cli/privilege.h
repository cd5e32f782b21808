// What the command does as root (privilege/steward.h).
#pragma once

#include "cli/command.h"
#include "privilege/halves.h"

namespace viaduct::cli {

// What root's half of this command does, and how.
privilege::Offers RootsOffers();

// There is root's half, or a connection to a broker, when it returns. Throws EnvironmentError if
// sudo refuses.
void NeedRoot();

// Services, each in the file of the subcommand that asks for it.
void ExamineAsRoot(UniqueFd connection, const sys::Identity& user);
void CleanAsRoot(UniqueFd connection, const sys::Identity& user);
void ConfigureAsRoot(UniqueFd connection, const sys::Identity& user);

}  // namespace viaduct::cli
