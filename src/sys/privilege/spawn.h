// The request by which processes of root's half start programs of the user, for all services.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "base/fd.h"
#include "sys/ipc/caller.h"
#include "sys/process/user_program.h"

namespace viaduct::privilege {

// Requests that the broker and the keepers have in common. Their numbers differ from the numbers of
// each service's other requests.
enum class ProgramRequest : uint16_t {
  // Starts a program: ProgramOptions, with the descriptors of standard input, output and error that
  // are not null.
  kSpawn = 256,
  kSignal,  // "signal": sends it to the program's process group
  kEnd,     // ends the program, with its descendants
};

struct ProgramOptions : sys::ProgramOptions {
  std::string node;
  // Whether the program has the node's name as its host name, and the lab's /etc/hosts. The program
  // then gets separate mounts, which is not worth the effort for a program that gets addresses as
  // its arguments. A program that may gain privileges keeps the machine's name, by which sudoers(5)
  // identifies the host.
  bool names = true;

  bool HasNodesNames() const { return names && !new_privileges; }
};

// Converts the options to JSON and back. Each standard descriptor is encoded as its index among the
// message's descriptors, or -1.
void to_json(nlohmann::json& json, const ProgramOptions& options);
void from_json(const nlohmann::json& json, ProgramOptions& options);

// Asks a service to start a program. Uses this process's variables, file mask and working directory
// if the options do not set them. Throws the exceptions of Caller::Call().
ipc::Message CallSpawn(ipc::Caller& caller, ProgramOptions program);
// Decodes the request to start a program. The options refer to the message's descriptors, which the
// message keeps owning. Throws UsageError.
ProgramOptions DecodeProgram(const ipc::Message& request);

}  // namespace viaduct::privilege
