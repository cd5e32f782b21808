// The forwarding program of an RBridge (WMRP): rbridge::Forward() by the tables that the control
// plane, which stays in the simulator, keeps in shared memory. It is told where terminals are seen.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "plane/forward/program.h"
#include "plane/forward/rbridge_tables.h"
#include "plane/rbridge/forward.h"

namespace viaduct::forward {

// A terminal that was seen, in an Event. Its RBridge is given by its nickname, because its place in
// the tables may be another one's when the event is read.
struct TerminalSeen {
  rbridge::TerminalKey key = 0;
  rbridge::Nickname rbridge = rbridge::kNoNickname;  // "unknown": a port of this one
  rbridge::PortIndex port = rbridge::kNone;          // if it is one of this

  Event ToEvent() const { return {key, uint64_t{rbridge} << 16 | port}; }
  static TerminalSeen FromEvent(const Event& event) {
    return {event.key, static_cast<rbridge::Nickname>(event.value >> 16),
            static_cast<rbridge::PortIndex>(event.value)};
  }
  friend bool operator==(const TerminalSeen&, const TerminalSeen&) = default;
};

class RBridge {
 public:
  static constexpr const auto& kOutcomes = rbridge::kOutcomeNames;
  // Not those of frames that were not for this RBridge.
  static constexpr std::array<std::string_view, 5> kLosses = {"malformed", "no_adjacency",
                                                              "no_route", "hop_count", "option"};
  static constexpr std::string_view kFilter = "";
  static constexpr bool kPromiscuous = true;
  static constexpr uint16_t kControlType = rbridge::kIsIsType;
  static constexpr size_t kTableWords = rbridge_tables::kWords;

  // The node's ports are those of the tables, in their order. Throws UsageError if its table has
  // another format.
  explicit RBridge(const Node& node);

  size_t Take(const Frame& frame, Outbox& outbox);

 private:
  // What was told last, so that each frame of a busy terminal does not tell it again until the
  // tables have changed.
  struct Told {
    Event event;
    uint64_t version = 0;
  };
  static constexpr size_t kTold = 256;  // a power of two

  void Tell(const rbridge::Seen& seen, const rbridge::Tables& tables);
  void Send(const rbridge::Output& output, const Frame& frame, Outbox& outbox) const;

  size_t ports_;
  RBridgeTablesReader tables_;
  EventSink* events_;
  std::vector<Told> told_;
  rbridge::Decision decision_;
};

}  // namespace viaduct::forward
