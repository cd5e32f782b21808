// The data plane of an RBridge: the decision about a frame, by the tables alone (RFC 6325
// section 4.6).
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
  kForwarded,    // to other RBridges, to terminals, or to both
  kControl,      // a PDU, for the control plane
  kNoReceiver,   // the terminal is on the link of arrival, and nowhere else
  kNotForUs,     // addressed to another RBridge of the link, or to this one itself
  kNotServed,    // from a terminal on a link that another RBridge serves, or none
  kLinkLocal,    // must not leave its link
  kMalformed,    // contradicts its format
  kNoAdjacency,  // encapsulated, from an RBridge with which there is no adjacency
  kNoRoute,      // to or from a nickname, or by a tree, that is unknown
  kWrongPath,    // in a tree, not from the neighbour on the ingress's path (reverse-path check)
  kHopCount,     // has passed too many RBridges
  kOption,       // has a critical option, and no option is supported
};
inline constexpr size_t kOutcomes = 12;
inline constexpr std::array<std::string_view, kOutcomes> kOutcomeNames = {
    "forwarded", "control",      "no_receiver", "not_for_us", "not_served", "link_local",
    "malformed", "no_adjacency", "no_route",    "wrong_path", "hop_count",  "option"};
// Returns the name of an outcome, as "wrong_path".
std::string_view OutcomeName(Outcome outcome);

// A frame to send on a port: `head`, then the frame that arrived without its first `strip` bytes.
struct Output {
  static constexpr size_t kMaxHead = 36;  // two Ethernet headers, one with a tag, and TRILL's
  PortIndex port = kNone;
  uint16_t strip = 0;  // bytes
  uint8_t head_size = 0;
  std::array<std::byte, kMaxHead> head_bytes{};

  wire::ConstBytes head() const { return wire::ConstBytes(head_bytes).first(head_size); }
};

// A terminal's frame whose source is unknown, elsewhere, or not reported yet in this epoch.
struct Seen {
  TerminalKey key = 0;
  Location location;
};

// The decision about a frame: its outcome, and the frames to send.
struct Decision {
  Outcome outcome = Outcome::kForwarded;
  std::optional<Seen> seen;
  // The first `count` are valid. A port may get a frame twice: encapsulated and as a terminal's.
  std::array<Output, 2 * kMaxPorts> outputs;
  size_t count = 0;

  std::span<const Output> sends() const { return std::span(outputs).first(count); }
};

// The number of first bytes of a frame that are enough for Forward(): all headers, and TRILL
// options of the maximum length.
inline constexpr size_t kMaxHeaders = 14 + 6 + 31 * 4 + 12 + 4;

// Decides about a frame that arrived on a port, from its destination address on, without FCS; the
// bytes may end after kMaxHeaders. Never throws; any bytes and any tables are safe.
void Forward(const Tables& tables, PortIndex port, wire::ConstBytes frame, Decision& decision);

}  // namespace viaduct::rbridge
