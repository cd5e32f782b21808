// The two halves of the command, seen from the user's (sys/privilege/steward.h).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/fd.h"
#include "sys/ipc/caller.h"
#include "sys/privilege/steward.h"

namespace viaduct::privilege {

// What the command is called with to be root's half, with its connection as standard input. A rule
// for sudo need allow no more.
inline constexpr char kRootsHalfWord[] = "privileged-half";

// Before anything of the caller's is looked at. Where sudo started this process: forks the steward,
// and becomes the user who called sudo, for good: identity, groups, no capabilities. Where `word`,
// the first argument, is kRootsHalfWord: is the steward, and does not return. Throws UsageError or
// EnvironmentError where it is not to be found out who called sudo.
void SeparateHalves(const std::string& word, ServiceEntries entries);

// Whether there is a steward.
bool HasRootsHalf();
// There is a steward when it returns: root forks it, anybody else starts it by sudo.
// EnvironmentError where sudo refuses. For a process with a single thread.
void NeedRootsHalf(ServiceEntries entries);

// This process will start no steward, and so no sudo: unless it is root, nothing that it executes
// has more rights than it.
void NeedNoRoot();

// A process of root's.
struct ServiceProcess {
  UniqueFd connection;
  int pid = 0;
};
// Starts a service. There must be a steward. Throws Error.
ServiceProcess Ask(const ipc::Service& service);
// Returns the asking end of a service that it starts. `ended`: the text of an error if the service
// has closed.
ipc::Caller CallerOf(const ipc::Service& service, std::string ended);
// Starts a service, asks it one thing, and lets it end.
nlohmann::json AskOnce(const ipc::Service& service, ipc::Code code,
                       const nlohmann::json& arguments = nlohmann::json::object());
// For a forked process that needs no further service.
void LeaveRootsHalf();

}  // namespace viaduct::privilege
