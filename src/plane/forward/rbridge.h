// The forwarding program of an RBridge (WMRP): rbridge::Forward() with the tables that the control
// plane, which runs in the simulator, keeps in shared memory. The program reports to the control
// plane where terminals are seen.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "plane/forward/program.h"
#include "plane/forward/rbridge_tables.h"
#include "plane/rbridge/forward.h"

namespace viaduct::forward {

// A terminal that was seen: the contents of an Event. The RBridge of the terminal is identified by
// its nickname, because its index in the tables may be another RBridge's when the event is read.
struct TerminalSeen {
  rbridge::TerminalKey key = 0;
  rbridge::Nickname rbridge = rbridge::kNoNickname;  // kNoNickname: this RBridge
  rbridge::PortIndex port = rbridge::kNone;          // the port, if the terminal is at this RBridge

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
  // The outcomes that lose a frame. Outcomes of frames that were not for this RBridge are no
  // losses.
  static constexpr std::array<std::string_view, 5> kLosses = {"malformed", "no_adjacency",
                                                              "no_route", "hop_count", "option"};
  static constexpr std::string_view kFilter = "";
  static constexpr bool kPromiscuous = true;
  static constexpr uint16_t kControlType = rbridge::kIsIsType;
  static constexpr size_t kTableWords = rbridge_tables::kWords;

  // The node's ports are the ports of its tables, in the same order. Throws UsageError if the
  // node's table has another format.
  explicit RBridge(const Node& node);

  size_t Take(const Frame& frame, Outbox& outbox);

 private:
  // The event of a terminal that was reported last. It is stored so that the next frames of a busy
  // terminal do not report it again until the tables have changed.
  struct Told {
    Event event;
    uint64_t version = 0;
  };
  static constexpr size_t kTold = 256;  // number of stored events, a power of two

  void Tell(const rbridge::Seen& seen, const rbridge::Tables& tables);
  void Send(const rbridge::Output& output, const Frame& frame, Outbox& outbox) const;

  size_t ports_;
  RBridgeTablesReader tables_;
  EventSink* events_;
  std::vector<Told> told_;
  rbridge::Decision decision_;
};

}  // namespace viaduct::forward
