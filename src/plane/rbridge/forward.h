// The data plane of an RBridge: decides about a frame by the tables alone (RFC 6325 section 4.6).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/wire/bytes.h"
#include "plane/rbridge/tables.h"

namespace viaduct::rbridge {

enum class Outcome : uint8_t {
  kForwarded,    // sent to other RBridges, to terminals, or to both
  kControl,      // a PDU, which is passed to the control plane
  kNoReceiver,   // the destination is on the link of arrival only
  kNotForUs,     // addressed to another RBridge of the link, or to this RBridge itself
  kNotServed,    // from a terminal on a link that another RBridge serves, or no RBridge
  kLinkLocal,    // for an address whose frames must not leave their link
  kMalformed,    // the frame contradicts its format
  kNoAdjacency,  // encapsulated, from an RBridge with which there is no adjacency
  kNoRoute,      // the nickname of the ingress or egress, or the tree, is unknown
  kWrongPath,    // not from the tree's neighbour towards the ingress (reverse-path check)
  kHopCount,     // the hop count is 0
  kOption,       // the frame has a critical option, and no option is supported
};
inline constexpr size_t kOutcomes = 12;
inline constexpr std::array<std::string_view, kOutcomes> kOutcomeNames = {
    "forwarded", "control",      "no_receiver", "not_for_us", "not_served", "link_local",
    "malformed", "no_adjacency", "no_route",    "wrong_path", "hop_count",  "option"};
// Returns the name of an outcome, for example "wrong_path".
std::string_view OutcomeName(Outcome outcome);

// A frame to send on a port: the bytes head(), then the frame that arrived without its first
// `strip` bytes.
struct Output {
  static constexpr size_t kMaxHead = 36;  // two Ethernet headers, one tagged, and a TRILL header
  PortIndex port = kNone;
  uint16_t strip = 0;  // number of bytes
  uint8_t head_size = 0;
  std::array<std::byte, kMaxHead> head_bytes{};

  wire::ConstBytes head() const { return wire::ConstBytes(head_bytes).first(head_size); }
};

// A terminal that sent a frame and must be reported: it is unknown, has another location in the
// tables, or has not been reported yet in this epoch.
struct Seen {
  TerminalKey key = 0;
  Location location;
};

// The decision about a frame: its outcome, and the frames to send.
struct Decision {
  Outcome outcome = Outcome::kForwarded;
  std::optional<Seen> seen;
  // The frames to send: the first `count` elements are valid. A port may get a frame twice:
  // encapsulated, and natively for its terminals.
  std::array<Output, 2 * kMaxPorts> outputs;
  size_t count = 0;

  std::span<const Output> sends() const { return std::span(outputs).first(count); }
};

// The number of first bytes of a frame that Forward() needs at most: all headers, and TRILL options
// of the maximum length.
inline constexpr size_t kMaxHeaders = 14 + 6 + 31 * 4 + 12 + 4;

// Decides about a frame that arrived on a port. `frame` begins with the destination address and has
// no FCS; its bytes may end after kMaxHeaders. Never throws; any bytes and any tables are safe.
void Forward(const Tables& tables, PortIndex port, wire::ConstBytes frame, Decision& decision);

}  // namespace viaduct::rbridge
