// Programs of the user that are started by processes of root's half: the request, for all services.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "base/fd.h"
#include "sys/ipc/caller.h"
#include "sys/process/user_program.h"

namespace viaduct::privilege {

// Requests that the broker and the keepers have in common. Their numbers differ from those of each
// service.
enum class ProgramRequest : uint16_t {
  kSpawn = 256,  // ProgramOptions, with the descriptors of standard input... that are not null
  kSignal,       // signal: to the program's process group
  kEnd,          // ends the program, with its descendants
};

struct ProgramOptions : sys::ProgramOptions {
  std::string node;
  // The program has the node's name as its host name, and the lab's /etc/hosts, for which it gets
  // separate mounts: not worth it for a program that is given addresses. A program that may gain
  // privileges keeps the machine's name, by which sudoers(5) identifies the host.
  bool names = true;

  bool HasNodesNames() const { return names && !new_privileges; }
};

// The standard descriptors are encoded as their index among the message's descriptors, or -1.
void to_json(nlohmann::json& json, const ProgramOptions& options);
void from_json(const nlohmann::json& json, ProgramOptions& options);

// Asks a service to start a program, with the variables, mask and folder of this process if the
// options do not set them. Throws the exceptions of Caller::Call().
ipc::Message CallSpawn(ipc::Caller& caller, ProgramOptions program);
// Decodes the request. The options refer to the message's descriptors, which the message keeps
// owning. Throws UsageError.
ProgramOptions DecodeProgram(const ipc::Message& request);

}  // namespace viaduct::privilege
