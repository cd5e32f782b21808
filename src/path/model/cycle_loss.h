// Loss in cycles: a number of packets, or all packets of a time, pass; then a number, or those of a
// time, are lost.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "path/grammar/parameters.h"
#include "path/packet/packet.h"

namespace viaduct::path {

// The length of a phase of a CycleLoss: a number of packets, or a time if that is zero.
struct CyclePhase {
  uint64_t packets = 0;
  Duration time = {};
  bool IsEmpty() const { return packets == 0 && time == Duration(); }
  friend bool operator==(const CyclePhase&, const CyclePhase&) = default;
};

// "10" (packets) or "5s". Throws UsageError.
CyclePhase ParseCyclePhase(std::string_view text);
std::string FormatCyclePhase(const CyclePhase& phase);

// Begins with the path, or with the live change that brings it, in the phase `first`. A phase of
// packets ends at the arrival of its last one, which is where a phase of time begins to count.
struct CycleLoss {
  static constexpr std::string_view kName = "cycle", kExample = "pass=5s,lose=2s";
  CyclePhase pass, lose;
  uint64_t times = 0;  // number of phases of loss, after which all packets pass; 0: no limit
  CyclePhase first;    // the phase before the first loss; `pass` if the SPEC does not give it
  // State: the number of phases that have ended (odd: packets are lost), the instant at which the
  // present phase began, and the number of packets in it.
  uint64_t ended = 0;
  Instant since = Instant::Never();
  uint64_t had = 0;
  Instant start = Instant::Never();  // state: begin of the path or change
  Instant last = {};                 // state: when the last packet arrived
  friend bool operator==(const CycleLoss&, const CycleLoss&) = default;

  static constexpr auto Table() {
    using C = CycleLoss;
    return std::array{PhaseParameter<&C::pass>("pass"), PhaseParameter<&C::lose>("lose"),
                      IntegerParameter<1, kMaxPackets, &C::times>("times"),
                      PhaseParameter<&C::first>("first")};
  }
  void Complete(const std::vector<bool>& given) {
    if (!given[3]) first = pass;
  }
  // Formats the parameters that have an effect: without `times` there is no end.
  std::string Format() const;
  void Check() const;

  void Begin(Instant, Instant now) { start = now; }
  bool Lose(const Packet& packet, RandomStream&) {
    if (since == Instant::Never()) since = std::min(start, packet.arrived);
    Advance(packet.arrived);
    ++had;
    last = packet.arrived;
    return IsLosing();
  }

 private:
  template <auto member>
  static constexpr Parameter<CycleLoss> PhaseParameter(std::string_view name) {
    return ValueParameter<ParseCyclePhase, FormatCyclePhase, member>(name);
  }
  bool IsLosing() const { return ended % 2 == 1; }
  bool IsOver() const { return times > 0 && ended / 2 >= times; }
  // Ends the phases that have ended when a packet arrives at `now`.
  void Advance(Instant now);
  void SkipCycles(Instant now);
};

}  // namespace viaduct::path
