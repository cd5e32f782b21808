// Common parts of the tests of an RBridge's data planes: frames, the reference implementation
// (rbridge::Forward()), and the control plane's access to a sink.
#pragma once

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "plane/fib/route_sink.h"
#include "plane/forward/rbridge_tables.h"
#include "plane/rbridge/forward.h"

namespace viaduct::fib {

using rbridge::kNone;
using rbridge::Nickname;
using rbridge::PortIndex;
using rbridge::RBridgeIndex;
using rbridge::Tables;
using Bytes = std::vector<std::byte>;
using Sent = std::array<std::vector<Bytes>, 4>;  // frames that were sent, indexed by port

inline constexpr size_t kPorts = 4;
inline constexpr int kMtu = 3000;
inline constexpr Nickname kMaxNicknames = 8;

inline wire::MacAddress Mac(uint8_t kind, uint32_t number) {
  return {{2, 0, 0, 0, kind, static_cast<uint8_t>(number)}};
}
inline wire::MacAddress PortMac(uint32_t port) { return Mac(1, port); }
inline wire::MacAddress NeighbourMac(uint32_t number) { return Mac(2, number); }
inline wire::MacAddress TerminalMac(uint32_t number) { return Mac(3, number); }

inline void Append(Bytes& bytes, const wire::MacAddress& mac) {
  for (const uint8_t byte : mac.bytes) bytes.push_back(std::byte{byte});
}
inline void Append16(Bytes& bytes, uint32_t number) {
  bytes.push_back(static_cast<std::byte>(number >> 8));
  bytes.push_back(static_cast<std::byte>(number));
}

class Reference {
 public:
  rbridge::Outcome Take(const Tables& tables, PortIndex port, const Bytes& frame, Sent& sent) {
    rbridge::Forward(tables, port, frame, decision_);
    for (const rbridge::Output& output : decision_.sends()) {
      Bytes bytes(output.head().begin(), output.head().end());
      bytes.insert(bytes.end(), frame.begin() + output.strip, frame.end());
      sent.at(output.port).push_back(std::move(bytes));
    }
    return decision_.outcome;
  }

 private:
  rbridge::Decision decision_;
};

// Writes the tables of a sink as the control plane in the simulator does.
class Control {
 public:
  explicit Control(const RouteSink& sink)
      : memory_(sink.Control()->table, sink.Control()->table_words), writer_(memory_.writable()) {}
  void Publish(const Tables& tables) { writer_.Publish(tables); }
  std::span<const forward::Word> words() const { return memory_.words(); }

 private:
  forward::Mapping memory_;
  forward::RBridgeTablesWriter writer_;
};

inline std::string Hex(const Bytes& bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", static_cast<int>(byte));
  return text;
}

}  // namespace viaduct::fib
