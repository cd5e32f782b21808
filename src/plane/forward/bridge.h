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
    kForwarded,  // sent to the port of its destination
    kFlooded,    // sent to all other ports
    kFiltered,   // dropped: its destination is on the port of arrival
    kReserved,   // dropped: for link-local protocols (IEEE 802.1D-2004, section 7.12.6)
    kMalformed,  // no Ethernet header, or a source that is a group address
  };
  static constexpr std::array<std::string_view, 5> kOutcomes = {"forwarded", "flooded", "filtered",
                                                                "reserved", "malformed"};
  static constexpr std::string_view kFilter = "";
  static constexpr bool kPromiscuous = true;
  // The time after which a silent station is forgotten: the default of IEEE 802.1D-2004, section
  // 7.9.2.
  static constexpr auto kAgeing = Duration::Seconds(300);
  // The maximum number of learned stations: more than any link has, but limited, so that an
  // attacker's forged stations cannot take all memory.
  static constexpr size_t kMaxStations = 65536;

  explicit Bridge(const Node&) {}

  size_t Take(const Frame& frame, Outbox& outbox);
  // Forgets stations that have been silent for kAgeing.
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
