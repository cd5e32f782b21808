// Fuzz target: all bytes on a control connection are parsed or refused with a MessageError; a
// parsed offer does not change when it is written and read again; and the hub's TLS session does
// not open for bytes that were made without the hub's key. The first byte of the input chooses the
// parser for the other bytes.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "remote/claim/message.h"
#include "remote/claim/tls.h"
#include "sys/ipc/lines.h"

using namespace viaduct;

namespace {

void ReadAsClient(std::string_view line) {
  const claim::FromHub message = claim::ParseFromHub(line);
  const auto* const offer = std::get_if<claim::Offer>(&message);
  if (offer == nullptr) return;
  if (claim::ReadOffer(claim::WriteOffer(*offer)) != *offer) __builtin_trap();
  for (const auto& [name, addresses] : offer->names) {
    if (name.find_first_of(" \t\n#") != std::string::npos) __builtin_trap();
  }
}

void ReadAsHub(std::string_view line) {
  const claim::FromClient message = claim::ParseFromClient(line);
  const auto* const request = std::get_if<claim::Request>(&message);
  if (request != nullptr && request->node && request->node->find('/') != std::string::npos) {
    __builtin_trap();
  }
}

void Cut(std::string_view stream) {
  ipc::LineBuffer lines(64);
  const size_t all = stream.size();
  size_t seen = 0;
  for (; !stream.empty(); stream.remove_prefix(std::min<size_t>(7, stream.size()))) {
    const bool is_short = lines.Add(stream.substr(0, 7));
    while (const auto line = lines.Next()) {
      seen += line->size() + 1;
      if (seen > all || line->size() > 64 || line->find('\n') != std::string::npos) {
        __builtin_trap();
      }
    }
    if (!is_short) return;
  }
}

void ShakeHands(std::string_view wire) {
  static const claim::TlsContext context(claim::TlsContext::Role::kHub, claim::Key{{1, 2, 3}});
  claim::TlsSession session(context);
  const std::string said = session.Take(wire);
  if (session.IsOpen() || !said.empty()) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    switch (data[0] % 4) {
      case 0:
        ReadAsClient(rest);
        break;
      case 1:
        ReadAsHub(rest);
        break;
      case 2:
        Cut(rest);
        break;
      default:
        ShakeHands(rest);
    }
  } catch (const claim::MessageError&) {
  } catch (const claim::TlsError&) {
  }
  return 0;
}
