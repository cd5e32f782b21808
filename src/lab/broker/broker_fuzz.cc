// Fuzz target: the broker's decoders accept the bytes that a client sends or throw Error. The input
// is a sequence of packets, each preceded by its length in two bytes.
#include <cstdint>
#include <cstring>
#include <span>

#include "lab/broker/protocol.h"
#include "lab/topology.h"
#include "sys/ipc/error.h"

namespace {

using namespace viaduct::broker;
using viaduct::ipc::DecodeJson;
using viaduct::ipc::Member;
using viaduct::ipc::Message;
using viaduct::ipc::MessageAssembler;

constexpr uint16_t kRequests =
    static_cast<uint16_t>(Request::kLookUp) + 1 - viaduct::ipc::kFirstRequest;

// Decodes a request as the broker's server does.
void DecodeRequest(const Message& message) {
  if (message.code == viaduct::ipc::Answer::kError) {
    viaduct::ipc::ThrowDecodedError(kService, message.payload);
  }
  switch (message.code.As<Request>()) {
    case Request::kCreateLab:
      Validate(DecodeJson(message.payload).get<viaduct::lab::Topology>());
      break;
    case Request::kOpenPacketSocket:
      (void)DecodeJson(message.payload).get<PacketSocketOptions>();
      break;
    case Request::kOpenControlSocket:
      (void)DecodeJson(message.payload).get<ControlSocketOptions>();
      break;
    case Request::kOpenTransportSocket:
      (void)DecodeJson(message.payload).get<TransportSocketOptions>();
      break;
    case Request::kApplyRoutes: {
      // An accepted message must be unchanged when it is encoded again.
      const RoutesRequest request = DecodeRoutes(message.payload);
      const RoutesRequest again = DecodeRoutes(EncodeRoutes(request.node, request.changes));
      if (again.node != request.node || again.changes.added != request.changes.added ||
          again.changes.replaced != request.changes.replaced ||
          again.changes.removed != request.changes.removed) {
        __builtin_trap();
      }
      break;
    }
    default:
      (void)Member<int>(DecodeJson(message.payload), "pid");
  }
}

void Feed(MessageAssembler& assembler, std::span<const uint8_t> packet) {
  try {
    const auto message = assembler.Add(std::as_bytes(packet), {});
    if (message) DecodeRequest(*message);
  } catch (const viaduct::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Feeds the input also as the payload of one valid packet, whose type the first byte chooses, so
  // that the decoders are reached directly.
  if (size > 0) {
    MessageAssembler assembler(kService);
    const viaduct::ipc::Code code = data[0] == 0
                                        ? viaduct::ipc::Code(viaduct::ipc::Answer::kError)
                                        : viaduct::ipc::Code(static_cast<uint16_t>(
                                              viaduct::ipc::kFirstRequest + data[0] % kRequests));
    const std::string_view payload(reinterpret_cast<const char*>(data) + 1, size - 1);
    if (payload.size() <= viaduct::ipc::kMaxPacketPayload) {
      const auto packet = viaduct::ipc::EncodeMessage(kService, code, 1, payload).front();
      Feed(assembler, {reinterpret_cast<const uint8_t*>(packet.data()), packet.size()});
    }
  }
  MessageAssembler assembler(kService);
  std::span<const uint8_t> rest(data, size);
  while (rest.size() >= 2) {
    uint16_t length;
    std::memcpy(&length, rest.data(), sizeof length);
    rest = rest.subspan(2);
    const auto packet = rest.first(std::min<size_t>(length, rest.size()));
    rest = rest.subspan(packet.size());
    Feed(assembler, packet);
  }
  return 0;
}
