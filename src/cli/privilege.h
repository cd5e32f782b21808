// The work that the command does as root (sys/privilege/steward.h).
#pragma once

#include <cstdint>

#include "cli/command.h"
#include "sys/ipc/message.h"
#include "sys/privilege/halves.h"

namespace viaduct::cli {

// Returns the services that the processes of root offer to this command.
privilege::ServiceEntries RootServices();

// Ensures that root's half is running, or that there is a connection to a broker. Throws
// EnvironmentError if sudo refuses.
void NeedRoot();

// Services that answer a single request. Each service is implemented in the file of the subcommand
// that uses the service.
inline constexpr ipc::Service kExamineService = {"examine", 1};  // reply: features
inline constexpr ipc::Service kCleanService = {"clean", 1};      // reply: removed, problems, left
inline constexpr ipc::Service kSwitchService = {"switch", 1};    // request: the command's options
enum class OnlyRequest : uint16_t { kDo = ipc::kFirstRequest };
void ExamineAsRoot(UniqueFd connection, const sys::Identity& user);
void CleanAsRoot(UniqueFd connection, const sys::Identity& user);
void ConfigureAsRoot(UniqueFd connection, const sys::Identity& user);

}  // namespace viaduct::cli
