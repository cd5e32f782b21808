// The two halves of the command, as the user's half uses them (sys/privilege/steward.h).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/fd.h"
#include "sys/ipc/caller.h"
#include "sys/privilege/steward.h"

namespace viaduct::privilege {

// The argument that makes the command be root's half, with its connection as standard input. A rule
// for sudo needs to allow no more.
inline constexpr char kRootsHalfWord[] = "privileged-half";

// Must be called before anything of the caller's is read. If sudo started this process: forks the
// steward, and becomes the user who called sudo, permanently: identity, groups, no capabilities. If
// `word`, the first argument, is kRootsHalfWord: forks the steward and exits. Throws UsageError or
// EnvironmentError if the user who called sudo cannot be determined.
void SeparateHalves(const std::string& word, ServiceEntries entries);

// Whether there is a steward.
bool HasRootsHalf();
// Starts the steward, unless there is one: root forks it, any other user starts it by sudo. Throws
// EnvironmentError if sudo refuses. For a process with a single thread.
void NeedRootsHalf(ServiceEntries entries);

// Declares that this process will start no steward, and so no sudo: unless it is root, no program
// that it executes has more rights than it.
void NeedNoRoot();

// A process of root's.
struct ServiceProcess {
  UniqueFd connection;
  int pid = 0;
};
// Starts a service. There must be a steward. Throws Error.
ServiceProcess Ask(const ipc::Service& service);
// Starts a service and returns its asking end. `ended`: the text of the error if the service has
// closed.
ipc::Caller CallerOf(const ipc::Service& service, std::string ended);
// Starts a service, sends it one request, and lets it end.
nlohmann::json AskOnce(const ipc::Service& service, ipc::Code code,
                       const nlohmann::json& arguments = nlohmann::json::object());
// Closes the connection to the steward: for a forked process that needs no further service.
void LeaveRootsHalf();

}  // namespace viaduct::privilege
