// The steward: the process of which all processes of root are descendants.
//
// The command consists of two halves. The user's half is the process that the user started: it
// reads arguments and files, simulates, emulates and writes results, as the invoking user. Root's
// half begins with the steward, which keeps nothing of the user's process except a connection. When
// the user's half asks for a service, the steward forks a process for the service and returns a
// connection to that process, to which requests to the service are sent. The steward ends when its
// connection ends, and a service when its connections end.
#pragma once

#include <cstdint>
#include <span>

#include "base/fd.h"
#include "sys/ipc/connection.h"
#include "sys/process/invoking_user.h"

namespace viaduct::privilege {

// A service. `serve` is called in a separate process, with the connection of the service's client
// (SOCK_SEQPACKET), and with the user for whom it runs. All data that the client sends is
// untrusted.
struct ServiceEntry {
  const ipc::Service* service;
  void (*serve)(UniqueFd connection, const sys::Identity& user);
};
using ServiceEntries = std::span<const ServiceEntry>;

// The protocol of the steward. At its start the steward sends one Answer without a request: kReply
// when it is ready, kError if it cannot start.
inline constexpr ipc::Service kStewardService = {"steward", 1};
enum class StewardRequest : uint16_t {
  // Starts a service: the request has its name, the reply its pid and the connection to it.
  kStart = ipc::kFirstRequest,
};

// Confines a process of root's half that has just been forked: keeps nothing of its caller except
// the connection (replaces or resets standard streams, descriptors, session, signals, file mask,
// working directory, environment and resource limits), and no capability that root's half does not
// need. Returns the connection. Throws SystemError, or EnvironmentError if the resource limits are
// too low and cannot be raised.
UniqueFd Confine(int connection, const sys::Identity& user);

// Answers the next request on the connection, and never waits. Returns false if the user's half has
// ended, or violates the protocol.
bool AnswerNext(ipc::Connection& connection, const sys::Identity& user, ServiceEntries entries);

// Serves as the steward in this process, which is root, until the connection ends.
[[noreturn]] void RunSteward(int connection, const sys::Identity& user, ServiceEntries entries);

}  // namespace viaduct::privilege
