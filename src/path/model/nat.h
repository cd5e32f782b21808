// Network address and port translation at one end of a pair (RFC 4787): the UDP and TCP ports from
// which hosts behind the NAT send are replaced by other ports, which change at each rebinding.
// Addresses are not changed.
//
// The mapping and the filtering are endpoint-independent (RFC 4787 sections 4.1 and 5): each
// address and port behind the NAT has one port outside, to which any host may send. Packets to a
// port that has no binding are dropped. Frames to group addresses, later fragments and other
// protocols pass unchanged; packets that ICMP errors quote are translated like the packets that the
// errors answer.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "base/random.h"
#include "base/time.h"
#include "base/wire/address.h"
#include "base/wire/bytes.h"
#include "path/model/nat_spec.h"
#include "path/packet/pipeline_name.h"

namespace viaduct::path {

// Throws UsageError if both directions of a pair have a NAT.
void CheckOneNat(const std::optional<NatSpec>& one, const std::optional<NatSpec>& other);

// The bindings of a NAT, and the translation by these bindings. May be used by only one thread at a
// time.
class NatTable {
 public:
  static constexpr size_t kMaxBindings = 32768;  // maximum; packets that need more are dropped

  // `pair` and the seed determine the ports that the NAT draws.
  NatTable(uint64_t seed, const std::string& pair) : random_(seed, pair + " nat") {}

  // Throws UsageError if the direction may not have this NAT, because the opposite direction has
  // the NAT of the pair.
  void Check(Direction outward, const std::optional<NatSpec>& spec) const;
  // Makes frames of the direction `outward` leave through the NAT from now on; if `spec` is absent,
  // removes the NAT of this direction. All bindings end. `now` is absent before the path begins.
  void Set(Direction outward, const std::optional<NatSpec>& spec, std::optional<Instant> now);
  // Returns the direction that leaves through the NAT; nothing if there is currently no NAT.
  std::optional<Direction> Outward() const {
    return spec_ ? std::optional(outward_) : std::nullopt;
  }
  // Sets the instant at which the path begins to exist, from which the times of the SPEC are
  // counted. Without this call, the path begins with the first frame.
  void Begin(Instant now);
  // Translates a frame as it passes the NAT at `now`; returns false if the frame must be dropped.
  // The values of `now` must not decrease within a direction.
  bool Translate(Direction direction, wire::Bytes frame, Instant now);

 private:
  struct Endpoint {
    wire::IpAddress address;
    uint8_t protocol = 0;
    uint16_t port = 0;
    friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
  };
  // The bindings from one rebinding to the next. Addresses are the same on both sides of the NAT.
  struct Bindings {
    std::map<Endpoint, uint16_t> outside;  // key: the endpoint behind the NAT
    std::map<Endpoint, uint16_t> inside;   // key: the endpoint that hosts beyond the NAT see
  };

  void Advance(Instant now);
  std::optional<uint16_t> Bind(const Endpoint& endpoint, Bindings& bindings);
  uint16_t FreePort(const Endpoint& endpoint, const Bindings& bindings);
  bool TranslateOutward(wire::Bytes frame, Bindings& bindings);
  static bool TranslateInward(wire::Bytes frame, const Bindings& bindings);

  RandomStream random_;
  std::optional<NatSpec> spec_;
  Direction outward_ = Direction::kUp;
  // The current bindings and the bindings before the last rebinding. The two directions do not
  // reach an instant at exactly the same time: a frame of one direction can be due before a
  // rebinding that the opposite direction has already passed.
  Bindings current_, previous_;
  Instant since_;                    // instant at which current_ began
  Instant next_ = Instant::Never();  // instant of the next rebinding
  bool begun_ = false;
};

// The NAT of one pair, which the pipelines of both its directions use, each in its own thread.
class Nat {
 public:
  Nat(uint64_t seed, const std::string& pair) : table_(seed, pair) {}

  // The following functions are those of NatTable, and lock the table.
  void Check(Direction outward, const std::optional<NatSpec>& spec) const;
  void Set(Direction outward, const std::optional<NatSpec>& spec, std::optional<Instant> now);
  void Begin(Instant now);
  bool Translate(Direction direction, wire::Bytes frame, Instant now);

  // Return whether frames of this direction currently leave, or enter, through the NAT.
  bool IsOutward(Direction direction) const { return Is(direction == Direction::kUp); }
  bool IsInward(Direction direction) const { return Is(direction == Direction::kDown); }

 private:
  enum class State : uint8_t { kOff, kUp, kDown };  // the direction that leaves through the NAT
  bool Is(bool up) const {
    return state_.load(std::memory_order_relaxed) == (up ? State::kUp : State::kDown);
  }

  mutable Mutex mutex_;
  NatTable table_ VIADUCT_GUARDED_BY(mutex_);
  std::atomic<State> state_ = State::kOff;  // pairs without a NAT take no lock
};

}  // namespace viaduct::path
