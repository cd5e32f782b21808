// Whatever the user's half sends to root's, the steward and the keepers either accept it or refuse
// it with an Error. The first byte chooses who gets the rest.
#include <sys/socket.h>

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "broker/call.h"
#include "emulate/join_network.h"
#include "emulate/path_keeper.h"
#include "privilege/steward.h"
#include "sys/descriptors.h"

using namespace viaduct;

namespace {

// A steward that offers nothing: a request is refused, anything else ends the connection.
void AskSteward(std::string_view packet) {
  const std::pair<UniqueFd, UniqueFd> ends = sys::MakeSocketPair(SOCK_SEQPACKET);
  const int ours = ends.first.get();
  if (send(ours, packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) return;
  const bool is_request = packet.size() == sizeof(privilege::Service);
  if (privilege::AnswerNext(ends.second.get(), {}, {}) != is_request) __builtin_trap();
  privilege::Answer answer;
  if (is_request && recv(ours, &answer, sizeof answer, MSG_DONTWAIT) != sizeof answer) {
    __builtin_trap();
  }
}

// Accepted names are names of interfaces: no paths.
void AskPathKeeper(std::string_view payload) {
  const emulate::PathInfo info = emulate::DecodePath(broker::DecodeJson(payload));
  for (const std::string& name : info.interfaces) {
    if (name.empty() || name.size() > 15 || name.find('/') != std::string::npos) __builtin_trap();
  }
}

// Accepted nodes are joined to one hub, and into namespaces that have a name.
void AskJoinKeeper(std::string_view payload) {
  const emulate::JoinRequest request = emulate::DecodeJoin(broker::DecodeJson(payload));
  if (request.hub.IsMulticast() || request.into.find('/') != std::string::npos) __builtin_trap();
  if (emulate::DecodeJoin(emulate::EncodeJoin(request)).offer != request.offer) __builtin_trap();
}

// Accepted words reach the program as they were.
void AskShellKeeper(std::string_view payload) {
  broker::Message request;
  request.payload = payload;
  const broker::ProgramOptions program = broker::DecodeProgram(request);
  for (const int fd : {program.standard_input, program.standard_output, program.standard_error}) {
    if (fd >= 0) __builtin_trap();  // none was passed
  }
  const auto again = nlohmann::json(program).get<broker::ProgramOptions>();
  if (again.arguments != program.arguments || again.environment != program.environment) {
    __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    switch (data[0] % 4) {
      case 0:
        AskSteward(rest);
        break;
      case 1:
        AskPathKeeper(rest);
        break;
      case 2:
        AskJoinKeeper(rest);
        break;
      default:
        AskShellKeeper(rest);
    }
  } catch (const Error&) {
  }
  return 0;
}
