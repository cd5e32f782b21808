// The steward: the process from which all that runs as root descends.
//
// The command is two halves. The user's half is the process that was called: it reads arguments and
// files, simulates, emulates and writes results, as the invoking user. Root's half begins with the
// steward, which has nothing of its caller's but a connection. Asked for a service, it forks a
// process for that and hands out a connection to it; what is asked of the service goes there. The
// steward ends with its connection, its services with theirs.
#pragma once

#include <cstdint>
#include <span>

#include "base/fd.h"
#include "sys/invoking_user.h"

namespace viaduct::privilege {

enum class Service : uint32_t {
  kBroker,         // a lab (broker/broker_process.h)
  kPath,           // the interfaces of a path (emulate/path_keeper.h)
  kShell,          // the network of a shell (emulate/shell_keeper.h)
  kCleaner,        // what killed runs left
  kExaminer,       // what this machine can do
  kSwitch,         // configuration of a switch on this machine
  kJoin,           // the network of a joined node (emulate/join_keeper.h)
  kHubEncryption,  // the encryption of a hub (emulate/hub_encryption.h)
};

// How a service is done: called in a process of its own, with its client's connection
// (SOCK_SEQPACKET), for this user. All that the client sends is untrusted.
struct Offer {
  Service service;
  void (*serve)(UniqueFd connection, const sys::Identity& user);
};
using Offers = std::span<const Offer>;

// For a process of root's half that has just been forked: leaves nothing of its caller's but the
// connection (standard streams, descriptors, session, signals, mask, folder, environment, resource
// limits), and no capability that root's half does not need. Returns the connection. Throws
// SystemError, or EnvironmentError where the limits are too low and stay.
UniqueFd Confine(int connection, const sys::Identity& user);

// Answers the next request on the connection. False: the user's half has ended, or does not keep to
// the protocol.
bool AnswerNext(int connection, const sys::Identity& user, Offers offers);

// Serves in this process, which is root, until the connection ends.
[[noreturn]] void RunSteward(int connection, const sys::Identity& user, Offers offers);

// The steward's side of the protocol, and its client's. A request is a Service. The answer says
// what went wrong, or comes with the connection to the service.
// What the steward says first, unless it says why it cannot start.
inline constexpr uint32_t kReady = 0x56445354;
struct Answer {
  int32_t error = 0;  // errno
  int32_t pid = 0;    // of the service
};

}  // namespace viaduct::privilege
