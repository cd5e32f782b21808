// What is said on the control socket of a running path: one JSON object a line, each answered by
// one (docs/path.md). A public interface: scripts may speak it (socat).
//
//   {"request": "stats"}                                      -> {"ok": true, "stats": {...}}
//   {"request": "set", "pair": "a-b", "class": "dns", "up": "loss=5%"}     -> {"ok": true}
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
  enum class Kind { kStats, kSet };
  Kind kind = Kind::kStats;
  // kSet. No pair: the only one. No class: what no class matches. At least one direction.
  std::optional<std::string> pair, class_name, up, down;
};

// UsageError: no JSON object, an unknown request or member, a member of the wrong type.
ControlRequest ParseRequest(std::string_view line);
nlohmann::json EncodeRequest(const ControlRequest& request);

// Cuts a stream of bytes into lines.
class LineBuffer {
 public:
  explicit LineBuffer(size_t max_line) : max_line_(max_line) {}
  // False: a line is longer than max_line; the stream is of no more use.
  [[nodiscard]] bool Add(std::string_view bytes);
  // The next whole line, without its end.
  std::optional<std::string> Next();

 private:
  size_t max_line_;
  std::string text_;
};

}  // namespace viaduct::engine
