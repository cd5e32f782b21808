// Forwarding programs, which decide what a node does with the frames of its ports.
//
// A program is a small class (ForwardingProgram) with the tables that it needs. The shortest
// program is in hub.h; docs/howto/layer2.md describes how to write a program in a separate library,
// and CONTRIBUTING.md how to add a built-in one. A program needs only this header and the headers
// that it includes.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "base/wire/address.h"
#include "base/wire/bytes.h"
#include "plane/forward/counters.h"
#include "plane/forward/entry.h"
#include "plane/forward/event_ring.h"
#include "plane/forward/neighbour_table.h"
#include "plane/forward/outbox.h"

namespace viaduct::forward {

struct Frame {
  size_t port = 0;    // port of arrival: an index of Node::ports
  wire::Bytes bytes;  // from the destination MAC on; may be changed in place; valid for the burst
  Instant now;        // when the burst was received, by the monotonic clock
};

struct PortInfo {
  std::string name;
  uint32_t ifindex = 0;
  wire::MacAddress mac;
  size_t mtu = 1500;
};

// The objects that a program may use. They outlive the program.
struct Node {
  std::string name;
  std::vector<PortInfo> ports;
  std::span<const Word> table;           // shared with the control plane, in the program's format
  NeighbourTable* neighbours = nullptr;  // the neighbours in the node's kernel
  EventSink* events = nullptr;           // passes events to the control plane; null if not wanted
  // A function that makes `neighbours` equal to the kernel's current neighbours. If it is empty,
  // `neighbours` is always equal to the kernel's neighbours.
  std::function<void()> read_neighbours = {};
};

// The requirements on the class P of a forwarding program. P is constructed from a Node.
//  - Take() handles one frame: it sends any number of frames into the outbox (the frame itself,
//    changed in place, or others) and returns the outcome, an index of kOutcomes, of which the
//    first is "forwarded". A frame that Take() does not send is dropped; the node's kernel has its
//    own copy of each frame and receives the frames for the node itself.
//  - kOutcomes: the different names of the outcomes, at most Counters::kRingFull names, in lower
//    case.
//  - kFilter selects the frames that reach the program, in tcpdump's syntax, with "{mac}" for the
//    port's address and "{own}" for any of the node's IP addresses as destination. An empty filter
//    selects all frames.
//  - kPromiscuous: whether the program receives frames for other stations.
//  - Tick(now, outbox), if it exists, is called about every 100 ms: for ageing, and to send frames
//    without having received one.
// Optional constants:
//  - kLosses: the outcomes of kOutcomes that lose a frame which should have arrived.
//  - kTableWords: the size of Node::table, which the node's protocol in the simulator writes. Each
//    word is written atomically; all words are 0 at first.
//  - kControlType: the EtherType of the protocol's own frames, which the simulator receives instead
//    of the program.
//  - kOverhead: the number of bytes by which the program lengthens frames between nodes with such
//    programs. The wires between these nodes have an MTU that is greater by this number.
template <typename P>
concept ForwardingProgram = std::constructible_from<P, const Node&> &&
    requires(P& program, const Frame& frame, Outbox& outbox) {
  { program.Take(frame, outbox) } -> std::convertible_to<size_t>;
  {std::span<const std::string_view>(P::kOutcomes)};
  {std::string_view(P::kFilter)};
  { P::kPromiscuous } -> std::convertible_to<bool>;
};

// A running program. Its functions are virtual, but called only once per burst or tick.
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
      const size_t outcome = program_.Take(frame, outbox);
      // An outcome outside of the program's list cannot be counted.
      if (outcome >= P::kOutcomes.size())
        throw std::out_of_range("the program returned an outcome that is not in kOutcomes");
      counters.Add(frame.port, outcome, frame.bytes.size());
    }
  }
  void Tick(Instant now, Outbox& outbox) override {
    if constexpr (requires { program_.Tick(now, outbox); }) program_.Tick(now, outbox);
  }

 private:
  P program_;
};

struct ProgramKind {
  std::string_view name = {};
  std::span<const std::string_view> outcomes = {}, losses = {};
  std::string_view filter = {};
  bool is_promiscuous = false, ticks = false;
  uint16_t control_type = 0;  // kControlType; 0: the simulator receives no frames
  size_t table_words = 0, overhead = 0;
  std::unique_ptr<AnyProgram> (*make)(const Node& node) = nullptr;
};

template <ForwardingProgram P>
constexpr ProgramKind KindOf(std::string_view name) {
  ProgramKind kind{.name = name,
                   .outcomes = P::kOutcomes,
                   .filter = P::kFilter,
                   .is_promiscuous = P::kPromiscuous,
                   .make = [](const Node& node) -> std::unique_ptr<AnyProgram> {
                     return std::make_unique<HeldProgram<P>>(node);
                   }};
  if constexpr (requires { P::kLosses; }) kind.losses = P::kLosses;
  if constexpr (requires { P::kTableWords; }) kind.table_words = P::kTableWords;
  if constexpr (requires { P::kControlType; }) kind.control_type = P::kControlType;
  if constexpr (requires { P::kOverhead; }) kind.overhead = P::kOverhead;
  kind.ticks = requires(P & program, Instant now, Outbox & outbox) { program.Tick(now, outbox); };
  return kind;
}

// Returns the built-in program of this name; null if the table of programs has none.
const ProgramKind* FindProgram(std::string_view name);

// The description of a forwarding program that a shared library exports
// (VIADUCT_FORWARDING_PROGRAM).
struct ExportedProgram {
  // The version of the data that a program and its forwarder share; increases with every change.
  static constexpr uint32_t kInterface = 1;

  uint32_t interface = kInterface;
  uint32_t kind_size = sizeof(ProgramKind), node_size = sizeof(Node), outbox_size = sizeof(Outbox);
  ProgramKind kind;
};

}  // namespace viaduct::forward

// Makes a class the forwarding program of the shared library that it is compiled into. Must be
// written once in the library, outside of any namespace:
// VIADUCT_FORWARDING_PROGRAM(mesh::Flooding);
#define VIADUCT_FORWARDING_PROGRAM(Class)                                \
  extern "C" __attribute__((visibility("default")))                      \
  const ::viaduct::forward::ExportedProgram viaduct_forwarding_program;  \
  const ::viaduct::forward::ExportedProgram viaduct_forwarding_program { \
    .kind = ::viaduct::forward::KindOf<Class>(#Class)                    \
  }
