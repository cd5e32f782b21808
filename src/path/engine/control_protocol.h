// The protocol of the control socket of a running path: one JSON object per line, each answered by
// one JSON object on a line (docs/path.md). The protocol is a public interface: scripts may use it
// (socat).
//
//   {"request": "stats"}                                      -> {"ok": true, "stats": {...}}
//   {"request": "set", "pair": "a-b", "class": "dns", "up": "loss=5%"}     -> {"ok": true}
//   additional requests to a lab that is also a hub:
//   {"request": "hub"}                                        -> {"ok": true, "hub": {...}}
//   {"request": "clients"}                                    -> {"ok": true, "clients": {...}}
//   {"request": "claim", "node": "n1", "address": "192.0.2.7"}             -> {"ok": true}
//   {"request": "release", "node": "n1"}                      -> {"ok": true}
//   any wrong request                -> {"ok": false, "error": "what is wrong", "status": 2}
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace viaduct::engine {

inline constexpr size_t kMaxRequestLine = 64 << 10;  // bytes; a longer line closes the connection
inline constexpr size_t kMaxAnswerLine = 16 << 20;

struct ControlRequest {
  enum class Kind { kStats, kSet, kHub, kClients, kClaim, kRelease };
  Kind kind = Kind::kStats;
  // The members of a kSet request. Without `pair`: the only pair. Without `class_name`: the packets
  // that no class matches. At least one of the directions `up` and `down` must be given.
  std::optional<std::string> pair, class_name, up, down;
  // The members of kClaim and kRelease: `node`, the remote node; for kClaim also `address`, the
  // address of the node's client.
  std::optional<std::string> node, address;
};

// Parses a request. Throws UsageError if the line is not a JSON object, or has an unknown request
// or member, or a member of the wrong type.
ControlRequest ParseRequest(std::string_view line);
nlohmann::json EncodeRequest(const ControlRequest& request);

}  // namespace viaduct::engine
