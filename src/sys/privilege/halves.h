// Starts root's half of the command from the user's half, and requests services of root's half
// (sys/privilege/steward.h describes the two halves).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/fd.h"
#include "sys/ipc/caller.h"
#include "sys/privilege/steward.h"

namespace viaduct::privilege {

// The argument with which the command runs as root's half, with the connection to the user's half
// as standard input. A rule for sudo needs to allow no other argument.
inline constexpr char kRootsHalfWord[] = "privileged-half";

// Separates the halves of the command. Must be called before the process reads any data of its
// caller. If sudo started this process: forks the steward, and permanently becomes the user who
// called sudo: identity, groups, no capabilities. If `word`, the first argument, is kRootsHalfWord:
// forks the steward and exits. Throws UsageError or EnvironmentError if the user who called sudo
// cannot be determined.
void SeparateHalves(const std::string& word, ServiceEntries entries);

// Whether the steward is running.
bool HasRootsHalf();
// Starts the steward, unless it is running: root forks it, any other user starts it by sudo. Throws
// EnvironmentError if sudo refuses. For a process with a single thread.
void NeedRootsHalf(ServiceEntries entries);

// Declares that this process will not start a steward, and therefore will not start sudo. Unless
// the process is root, programs that it executes after this call cannot gain privileges.
void NeedNoRoot();

// A process of root's half that runs a service.
struct ServiceProcess {
  UniqueFd connection;
  int pid = 0;
};
// Starts a service. The steward must be running. Throws Error.
ServiceProcess Ask(const ipc::Service& service);
// Starts a service and returns the client's end of a connection to it. `ended`: the text of the
// error if the service has closed the connection.
ipc::Caller CallerOf(const ipc::Service& service, std::string ended);
// Starts a service, sends it one request, and ends it.
nlohmann::json AskOnce(const ipc::Service& service, ipc::Code code,
                       const nlohmann::json& arguments = nlohmann::json::object());
// Closes the connection to the steward: for a forked process that will request no further service.
void LeaveRootsHalf();

}  // namespace viaduct::privilege
