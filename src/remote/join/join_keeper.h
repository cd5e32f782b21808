// Root's half of `viaduct join`.
#pragma once

#include <cstdint>

#include "base/fd.h"
#include "sys/ipc/message.h"
#include "sys/process/invoking_user.h"

namespace viaduct::remote {

inline constexpr ipc::Service kJoinService = {"join", 1};
enum class JoinKeeperRequest : uint16_t {
  kBuild = ipc::kFirstRequest,  // a JoinRequest; reply: name, interface
  kChangeHub,                   // a claim::EncryptedTunnel; reply: empty
};

// Runs the service, which also answers privilege::ProgramRequest. It creates the network of a
// joined node, starts a program there as the user on request, and passes signals on. When the
// connection ends, it ends the program and all its descendants, and removes what it has made.
void KeepJoin(UniqueFd connection, const sys::Identity& user);

}  // namespace viaduct::remote
