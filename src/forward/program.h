// Forwarding programs: what a node does with the frames of its ports.
//
// A program is a small class (ForwardingProgram) with whatever tables it needs. hub.h is the
// shortest; CONTRIBUTING.md says what to do for one of your own.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "forward/counters.h"
#include "forward/entry.h"
#include "forward/event_ring.h"
#include "forward/neighbour_table.h"
#include "forward/outbox.h"
#include "wire/address.h"
#include "wire/bytes.h"

namespace viaduct::forward {

struct Frame {
  size_t port = 0;    // on which it came in: an index of Node::ports
  wire::Bytes bytes;  // from the destination MAC on; may be changed in place; valid for the burst
  Instant now;        // monotonic
};

struct PortInfo {
  std::string name;
  uint32_t ifindex = 0;
  wire::MacAddress mac;
  size_t mtu = 1500;
};

// What a program may use. Everything outlives it.
struct Node {
  std::string name;
  std::vector<PortInfo> ports;
  std::span<const Word> table;           // shared with the control plane, in the program's format
  NeighbourTable* neighbours = nullptr;  // as its kernel knows them
  EventWriter* events = nullptr;         // to the control plane; null if it wants none
  // Makes `neighbours` as the kernel's are at the call; none: they are so already.
  std::function<void()> read_neighbours = {};
};

// P is constructed from a Node.
//  - Take() handles one frame: it sends any number of frames into the outbox (the frame itself,
//    changed in place, or others) and returns the outcome, an index of kOutcomes, of which the
//    first is "forwarded". What it sends nowhere is dropped; the node's kernel has its own copy of
//    each frame and takes what is for itself.
//  - kOutcomes names the outcomes, at most Counters::kRingFull.
//  - kFilter is in tcpdump's syntax, "{mac}" being the port's address and "{own}" any of the node's
//    IP addresses as destination: which frames reach the program at all. Empty: all.
//  - kPromiscuous: whether it gets frames for other stations.
//  - Tick(now, outbox), if there is one, is called about every 100 ms: for ageing, and for frames
//    that nothing answers.
template <typename P>
concept ForwardingProgram = std::constructible_from<P, const Node&> &&
    requires(P& program, const Frame& frame, Outbox& outbox) {
  { program.Take(frame, outbox) } -> std::convertible_to<size_t>;
  {std::span<const std::string_view>(P::kOutcomes)};
  {std::string_view(P::kFilter)};
  { P::kPromiscuous } -> std::convertible_to<bool>;
};

// A program at work. One virtual call per burst.
class AnyProgram {
 public:
  virtual ~AnyProgram() = default;
  virtual void TakeBurst(std::span<const Frame> frames, Outbox& outbox, Counters& counters) = 0;
  virtual void Tick(Instant now, Outbox& outbox) = 0;
};

template <ForwardingProgram P>
class HeldProgram final : public AnyProgram {
 public:
  explicit HeldProgram(const Node& node) : program_(node) {}
  void TakeBurst(std::span<const Frame> frames, Outbox& outbox, Counters& counters) override {
    for (const Frame& frame : frames) {
      counters.Add(frame.port, program_.Take(frame, outbox), frame.bytes.size());
    }
  }
  void Tick(Instant now, Outbox& outbox) override {
    if constexpr (requires { program_.Tick(now, outbox); }) program_.Tick(now, outbox);
  }

 private:
  P program_;
};

// A row of the table of programs.
struct ProgramKind {
  std::string_view name;
  std::span<const std::string_view> outcomes;
  std::string_view filter;
  bool is_promiscuous;
  std::unique_ptr<AnyProgram> (*make)(const Node& node);
};

template <ForwardingProgram P>
constexpr ProgramKind KindOf(std::string_view name) {
  return {name, P::kOutcomes, P::kFilter, P::kPromiscuous,
          [](const Node& node) -> std::unique_ptr<AnyProgram> {
            return std::make_unique<HeldProgram<P>>(node);
          }};
}

// Null if there is none of this name.
const ProgramKind* FindProgram(std::string_view name);

}  // namespace viaduct::forward
