// Fuzz target: requests to a joined node's keeper are accepted or refused with an Error. An
// accepted request has the address of one hub, and a plain name of a namespace, not a path.
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "remote/join/join_network.h"
#include "sys/ipc/message.h"

using namespace viaduct;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view payload(reinterpret_cast<const char*>(data), size);
  try {
    const remote::JoinRequest request = remote::DecodeJoin(ipc::DecodeJson(payload));
    if (request.hub.IsMulticast() || request.into.find('/') != std::string::npos) {
      __builtin_trap();
    }
    if (remote::DecodeJoin(remote::EncodeJoin(request)).offer != request.offer) {
      __builtin_trap();
    }
  } catch (const Error&) {
  }
  return 0;
}
