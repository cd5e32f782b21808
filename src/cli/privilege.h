// The work that the command does as root (sys/privilege/steward.h).
#pragma once

#include <cstdint>

#include "cli/command.h"
#include "sys/ipc/message.h"
#include "sys/privilege/halves.h"

namespace viaduct::cli {

// The services of root's half of this command.
privilege::ServiceEntries RootServices();

// There is root's half, or a connection to a broker, when it returns. Throws EnvironmentError if
// sudo refuses.
void NeedRoot();

// Services that are asked one thing, each in the file of the subcommand that asks for it.
inline constexpr ipc::Service kExamineService = {"examine", 1};  // reply: features
inline constexpr ipc::Service kCleanService = {"clean", 1};      // reply: removed, problems, left
inline constexpr ipc::Service kSwitchService = {"switch", 1};    // the options of the command
enum class OnlyRequest : uint16_t { kDo = ipc::kFirstRequest };
void ExamineAsRoot(UniqueFd connection, const sys::Identity& user);
void CleanAsRoot(UniqueFd connection, const sys::Identity& user);
void ConfigureAsRoot(UniqueFd connection, const sys::Identity& user);

}  // namespace viaduct::cli
