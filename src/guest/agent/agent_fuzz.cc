// Fuzzes the control interface of a guest: the simulator must either accept the bytes that the
// guest sends on the interface, or throw Error. The fuzzer's input is read twice: as a sequence of
// frames (a length of two bytes, then that number of bytes), and as one message.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "guest/agent/agent_frames.h"
#include "guest/agent/agent_protocol.h"

namespace {

using namespace viaduct::guest::agent;

void Touch(const Operation& operation) {
  try {
    (void)FromEndpoint(operation.As<Endpoint>());
    (void)operation.As<Accepted>();
    (void)operation.Text(sizeof(Accepted));
  } catch (const viaduct::Error&) {
  }
}

void ReadMessage(std::span<const std::byte> message) {
  try {
    MessageReader().Read(message, Touch);
  } catch (const viaduct::Error&) {
  }
}

void Feed(FrameAssembler& assembler, std::span<const std::byte> frame) {
  try {
    if (const auto message = assembler.Add(frame)) ReadMessage(*message);
  } catch (const viaduct::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto rest = std::as_bytes(std::span(data, size));
  ReadMessage(rest);
  FrameAssembler assembler;
  while (rest.size() >= 2) {
    uint16_t length;
    std::memcpy(&length, rest.data(), sizeof length);
    rest = rest.subspan(2);
    const auto frame = rest.first(std::min<size_t>(length, rest.size()));
    rest = rest.subspan(frame.size());
    Feed(assembler, frame);
  }
  return 0;
}
