// Fuzzes two properties: the steward either accepts a request of the user's half or refuses it with
// an Error, and the words of a program's command reach the program unchanged. The first byte of the
// input selects the property.
#include <sys/socket.h>

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "sys/descriptors.h"
#include "sys/privilege/spawn.h"
#include "sys/privilege/steward.h"

using namespace viaduct;

namespace {

void Deliver(int ours, ipc::Connection& steward, std::span<const std::byte> packet, bool goes_on) {
  if (send(ours, packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) return;
  if (privilege::AnswerNext(steward, {}, {}) != goes_on) __builtin_trap();
  char answer;
  if (goes_on && recv(ours, &answer, sizeof answer, MSG_DONTWAIT) <= 0) __builtin_trap();
}

// Sends the input to a steward without services, which must refuse every well-formed request, and
// end the connection after a packet that is too short.
void AskSteward(std::string_view rest) {
  std::pair<UniqueFd, UniqueFd> ends = sys::MakeSocketPair(SOCK_SEQPACKET);
  ipc::Connection steward(std::move(ends.second), privilege::kStewardService);
  if (rest.size() < ipc::kMaxPacketPayload) {
    const auto packets =
        ipc::EncodeMessage(privilege::kStewardService, privilege::StewardRequest::kStart, 1, rest);
    Deliver(ends.first.get(), steward, packets.front(), true);
  }
  if (!rest.empty() && rest.size() < sizeof(ipc::PacketHeader)) {
    Deliver(ends.first.get(), steward, std::as_bytes(std::span(rest)), false);
  }
}

// Decodes a request to start a program; words that are accepted must reach the program unchanged.
void AskForProgram(std::string_view payload) {
  ipc::Message request;
  request.payload = payload;
  const privilege::ProgramOptions program = privilege::DecodeProgram(request);
  for (const int fd : {program.standard_input, program.standard_output, program.standard_error}) {
    if (fd >= 0) __builtin_trap();  // no descriptor was passed
  }
  const auto again = nlohmann::json(program).get<privilege::ProgramOptions>();
  if (again.arguments != program.arguments || again.environment != program.environment) {
    __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    data[0] % 2 == 0 ? AskSteward(rest) : AskForProgram(rest);
  } catch (const Error&) {
  }
  return 0;
}
