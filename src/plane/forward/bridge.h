// The forwarding program of a learning bridge (IEEE 802.1D-2004, section 7: relay, filtering and
// learning; without spanning tree).
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <unordered_map>

#include "plane/forward/program.h"

namespace viaduct::forward {

class Bridge {
 public:
  enum Outcome : size_t {
    kForwarded,  // to the port of its destination
    kFlooded,    // to all other ports
    kFiltered,   // to the port on which it arrived
    kReserved,   // for link-local protocols (section 7.12.6)
    kMalformed,  // no Ethernet header, or a source that is a group
  };
  static constexpr std::array<std::string_view, 5> kOutcomes = {"forwarded", "flooded", "filtered",
                                                                "reserved", "malformed"};
  static constexpr std::string_view kFilter = "";
  static constexpr bool kPromiscuous = true;
  // The default of section 7.9.2.
  static constexpr auto kAgeing = Duration::Seconds(300);
  // More stations than any link has; an attacker's forged stations must not take all memory.
  static constexpr size_t kMaxStations = 65536;

  explicit Bridge(const Node&) {}

  size_t Take(const Frame& frame, Outbox& outbox);
  // Forgets stations that were silent for kAgeing.
  void Tick(Instant now, Outbox&);

  size_t Stations() const { return stations_.size(); }

 private:
  struct Station {
    size_t port;
    Instant heard;
  };

  void Learn(uint64_t mac, size_t port, Instant now);

  std::unordered_map<uint64_t, Station> stations_;  // keyed by MAC address
};

}  // namespace viaduct::forward
