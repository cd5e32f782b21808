// Loss in cycles: a number of packets, or all packets of a duration, pass; then a number of
// packets, or all packets of a duration, are lost.
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

// The length of a phase of a CycleLoss: a number of packets, or a duration if `packets` is zero.
struct CyclePhase {
  uint64_t packets = 0;
  Duration time = {};
  bool IsEmpty() const { return packets == 0 && time == Duration(); }
  friend bool operator==(const CyclePhase&, const CyclePhase&) = default;
};

// Parses "10" (packets) or "5s". Throws UsageError if the text is not valid.
CyclePhase ParseCyclePhase(std::string_view text);
std::string FormatCyclePhase(const CyclePhase& phase);

// The model begins with the path, or with the live change that adds the model, in the phase
// `first`. A phase of packets ends when its last packet arrives; if the next phase has a duration,
// it begins at that instant.
struct CycleLoss {
  static constexpr std::string_view kName = "cycle", kExample = "pass=5s,lose=2s";
  CyclePhase pass, lose;
  uint64_t times = 0;  // number of phases of loss, after which all packets pass; 0: no limit
  CyclePhase first;    // the phase before the first loss; `pass` if the SPEC does not give it
  // The state: the number of phases that have ended (odd: packets are lost), the instant at which
  // the current phase began, and the number of packets in the current phase.
  uint64_t ended = 0;
  Instant since = Instant::Never();
  uint64_t had = 0;
  Instant start = Instant::Never();  // state: start of the path, or instant of the live change
  Instant last = {};                 // state: arrival of the last packet
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
  // Formats the parameters that have an effect: `times` only if it limits the phases.
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
  // Ends the phases that are over when a packet arrives at `now`.
  void Advance(Instant now);
  void SkipCycles(Instant now);
};

}  // namespace viaduct::path
