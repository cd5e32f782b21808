// The steward: the process of which all processes of root are descendants.
//
// The command is two halves. The user's half is the process that was called: it reads arguments and
// files, simulates, emulates and writes results, as the invoking user. Root's half begins with the
// steward, which has nothing of its caller's but a connection. Asked for a service, it forks a
// process for that and returns a connection to it; requests to the service are sent there. The
// steward ends with its connection, its services with theirs.
#pragma once

#include <cstdint>
#include <span>

#include "base/fd.h"
#include "sys/ipc/connection.h"
#include "sys/process/invoking_user.h"

namespace viaduct::privilege {

// A service: `serve` is called in a separate process, with its client's connection
// (SOCK_SEQPACKET), for this user. All that the client sends is untrusted.
struct ServiceEntry {
  const ipc::Service* service;
  void (*serve)(UniqueFd connection, const sys::Identity& user);
};
using ServiceEntries = std::span<const ServiceEntry>;

// The steward's own protocol. At its start it sends one Answer, unasked: kReply when it is ready,
// kError if it cannot start.
inline constexpr ipc::Service kStewardService = {"steward", 1};
enum class StewardRequest : uint16_t {
  kStart = ipc::kFirstRequest,  // service: its name; reply: pid; the connection to it
};

// Confines a process of root's half that has just been forked: leaves nothing of its caller's but
// the connection (standard streams, descriptors, session, signals, mask, folder, environment,
// resource limits), and no capability that root's half does not need. Returns the connection.
// Throws SystemError, or EnvironmentError if the limits are too low and cannot be raised.
UniqueFd Confine(int connection, const sys::Identity& user);

// Answers the next request on the connection, and never waits. Returns false if the user's half has
// ended, or violates the protocol.
bool AnswerNext(ipc::Connection& connection, const sys::Identity& user, ServiceEntries entries);

// Serves in this process, which is root, until the connection ends.
[[noreturn]] void RunSteward(int connection, const sys::Identity& user, ServiceEntries entries);

}  // namespace viaduct::privilege
