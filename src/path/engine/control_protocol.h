// The protocol of the control socket of a running path: one JSON object per line, each answered by
// one (docs/path.md). It is a public interface: scripts may use it (socat).
//
//   {"request": "stats"}                                      -> {"ok": true, "stats": {...}}
//   {"request": "set", "pair": "a-b", "class": "dns", "up": "loss=5%"}     -> {"ok": true}
//   of a lab that is a hub also:
//   {"request": "hub"}                                        -> {"ok": true, "hub": {...}}
//   {"request": "clients"}                                    -> {"ok": true, "clients": {...}}
//   {"request": "claim", "node": "n1", "address": "192.0.2.7"}             -> {"ok": true}
//   {"request": "release", "node": "n1"}                      -> {"ok": true}
//   anything wrong                   -> {"ok": false, "error": "what is wrong", "status": 2}
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace viaduct::engine {

inline constexpr size_t kMaxRequestLine = 64 << 10;  // bytes; a longer one closes the connection
inline constexpr size_t kMaxAnswerLine = 16 << 20;

struct ControlRequest {
  enum class Kind { kStats, kSet, kHub, kClients, kClaim, kRelease };
  Kind kind = Kind::kStats;
  // Used with kSet. No pair: the only one. No class: packets that no class matches. At least one
  // direction must be given.
  std::optional<std::string> pair, class_name, up, down;
  // Used with kClaim and kRelease: the remote node; with kClaim, the address of its client.
  std::optional<std::string> node, address;
};

// Throws UsageError if the line is not a JSON object, or has an unknown request or member, or a
// member of the wrong type.
ControlRequest ParseRequest(std::string_view line);
nlohmann::json EncodeRequest(const ControlRequest& request);

}  // namespace viaduct::engine
