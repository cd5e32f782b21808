// Programs of the user that processes of root's half start: the request, for all services.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "base/fd.h"
#include "sys/ipc/caller.h"
#include "sys/process/user_program.h"

namespace viaduct::privilege {

// Requests that the broker and the keepers have in common. Their numbers are apart from those of
// each service.
enum class ProgramRequest : uint16_t {
  kSpawn = 256,  // ProgramOptions, with the descriptors of standard input... that are not null
  kSignal,       // signal: to the program's process group
  kEnd,          // ends the program, with its descendants
};

struct ProgramOptions : sys::ProgramOptions {
  std::string node;
  // The program has the node's name as its host name, and the lab's /etc/hosts, for which it gets
  // separate mounts: not worth it for one that is given addresses. One that may gain privileges
  // keeps the machine's, by which sudoers(5) knows where it is.
  bool names = true;

  bool HasNodesNames() const { return names && !new_privileges; }
};

// The standard descriptors are encoded as their index among the message's descriptors, or -1.
void to_json(nlohmann::json& json, const ProgramOptions& options);
void from_json(const nlohmann::json& json, ProgramOptions& options);

// Asks a service to start a program, with the variables, mask and folder of this process where the
// options do not set them. Throws what Caller::Call() does.
ipc::Message CallSpawn(ipc::Caller& caller, ProgramOptions program);
// Decodes the request. The options have the message's descriptors, which the message keeps owning.
// Throws UsageError.
ProgramOptions DecodeProgram(const ipc::Message& request);

}  // namespace viaduct::privilege
