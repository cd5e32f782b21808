// Root's half of `viaduct join`.
#pragma once

#include <cstdint>

#include "base/fd.h"
#include "sys/ipc/message.h"
#include "sys/process/invoking_user.h"

namespace viaduct::remote {

inline constexpr ipc::Service kJoinService = {"join", 1};
enum class JoinKeeperRequest : uint16_t {
  kBuild = ipc::kFirstRequest,  // payload: a JoinRequest; reply: name, interface
  kChangeHub,                   // payload: a claim::EncryptedTunnel; reply: empty
};

// Runs the service of root's half, which also answers privilege::ProgramRequest. The service
// creates the network of a joined node, starts a program in the network as the user on request, and
// passes signals to the program. When the connection ends, the service ends the program and all its
// descendants, and removes the network.
void KeepJoin(UniqueFd connection, const sys::Identity& user);

}  // namespace viaduct::remote
