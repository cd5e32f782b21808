#include "plane/forward/forwarder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <future>
#include <numeric>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "plane/forward/kernel_sender.h"
#include "plane/forward/neighbour_monitor.h"
#include "plane/forward/program_watch.h"
#include "plane/forward/upcall_sender.h"
#include "port/packet/ring_port.h"
#include "port/super_frame.h"

namespace viaduct::forward {
namespace {

constexpr size_t kBurst = 64;
constexpr auto kTick = Duration::Milliseconds(100);
// The number of ring slots of all ports of a lab together, and the maximum and minimum per port.
constexpr uint32_t kLabSlots = 65536, kMaxSlots = 4096, kMinSlots = 256;
// The tags of descriptors in the poller: node << 32 | port for a port, node << 32 | kNeighboursTag
// for a node's neighbour monitor, and kStopTag.
constexpr uint64_t kStopTag = UINT64_MAX;
constexpr uint32_t kNeighboursTag = UINT32_MAX;

std::unique_ptr<AnyProgram> MakeProgram(const ProgramDescription& described, const Node& node) {
  if (const ProgramKind* known = FindProgram(described.name)) return known->make(node);
  const ProgramKind& kind = LoadProgram(described.name);
  if (DescribeProgram(kind, described.name) != described) {
    throw UsageError(described.name +
                     ": the forwarding program has changed since the start of the run");
  }
  return kind.make(node);
}

}  // namespace

// A node that the forwarder serves.
class Forwarder::RunningNode final : public Carrier {
 public:
  RunningNode(Equipment equipment, uint32_t slots)
      : table_memory_(equipment.table.get(), Mapping::Access::kRead),
        counter_memory_(equipment.counters.get(), Mapping::Access::kWrite),
        counters_(counter_memory_.writable()),
        doorbell_(std::move(equipment.doorbell)),
        monitor_(std::move(equipment.neighbours)),
        whose_(
            fmt::format("node {}, forwarding program {}", equipment.name, equipment.program.name)),
        kernel_(std::move(equipment.raw_ipv4), std::move(equipment.raw_ipv6),
                std::move(equipment.icmpv6), std::move(equipment.own)),
        upcalls_(std::move(equipment.upcalls)),
        node_{equipment.name, std::move(equipment.ports), table_memory_.words(), &neighbours_},
        outbox_(node_.ports.size(), *this) {
    if (equipment.events) {
      event_memory_ = Mapping(equipment.events.get(), Mapping::Access::kWrite);
      events_.emplace(event_memory_.writable(), doorbell_.get());
      node_.events = &*events_;
    }
    node_.read_neighbours = [this] { ReadNeighbours(); };
    Guard([&] { program_ = MakeProgram(equipment.program, node_); });
    io::RingOptions options;
    options.slots = slots;
    for (size_t port = 0; port < equipment.sockets.size(); ++port) {
      options.ifindex = equipment.sockets[port].ifindex;
      ports_.push_back(std::make_unique<io::RingPort>(
          std::move(equipment.sockets[port].fd), options, std::move(equipment.senders[port].fd)));
    }
    ring_full_.resize(ports_.size());
  }

  void Watch(Poller& poller, uint64_t index) {
    for (size_t port = 0; port < ports_.size(); ++port) {
      poller.Add(ports_[port]->fd(), index << 32 | port);
    }
    poller.Add(monitor_.fd(), index << 32 | kNeighboursTag);
  }

  void ReadNeighbours() { monitor_.Read(&neighbours_); }

  // Calls a function that runs the forwarding program, and adds the program's name to exceptions.
  template <class F>
  void Guard(F call) {
    ProgramWatch::Name(whose_.c_str());
    try {
      call();
      ProgramWatch::Name(nullptr);
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      throw Error(fmt::format("{}: {}", whose_, error.what()));
    }
  }

  void ServePort(size_t port) {
    const size_t count = ports_[port]->Receive(received_);
    const Instant now = MonotonicClock::Now();
    frames_.clear();
    for (const io::ReceivedFrame& frame : std::span(received_).first(count)) {
      TakeFrame(port, frame, now);
    }
    Guard([this] {
      program_->TakeBurst(frames_, outbox_, counters_);
      outbox_.EndBurst();
    });
  }

  void Tick(Instant now) {
    Guard([&] {
      program_->Tick(now, outbox_);
      outbox_.EndBurst();
    });
    for (size_t port = 0; port < ports_.size(); ++port) {
      const uint64_t dropped = ports_[port]->Counters().rx_dropped_ring_full;
      counters_.AddFrames(port, Counters::kRingFull, dropped - ring_full_[port]);
      ring_full_[port] = dropped;
    }
  }

  void Transmit(size_t port, std::span<const wire::ConstBytes> frames) override {
    const size_t taken = ports_[port]->Transmit(frames);
    const size_t lost = frames.size() - taken + ports_[port]->Refused().size();
    if (lost > 0) counters_.AddFrames(port, Counters::kNotSent, lost);
  }

  void SendAsOwn(wire::Family family, wire::ConstBytes packet, uint32_t ifindex) override {
    const bool is_taken = family == wire::Family::kIpv4 ? kernel_.SendIpv4(packet, ifindex)
                                                        : kernel_.SendIpv6(packet, ifindex);
    // An ICMP error, which has no interface, is not counted if it is not sent.
    if (!is_taken && ifindex != 0) counters_.AddFrames(PortOf(ifindex), Counters::kNotSent, 1);
  }

  void SendIcmpv6(const wire::IpAddress& destination, wire::ConstBytes message,
                  uint32_t ifindex) override {
    kernel_.SendIcmpv6(destination, message, ifindex);
  }

  void PassUp(size_t port, wire::ConstBytes packet, uint32_t ifindex) override {
    if (!upcalls_.Send(port, packet, ifindex)) counters_.AddFrames(port, Counters::kNotSent, 1);
  }

 private:
  // Returns the port of an interface; for an interface that is no port, the first port, so that its
  // losses are counted.
  size_t PortOf(uint32_t ifindex) const {
    const auto found = std::ranges::find(node_.ports, ifindex, &PortInfo::ifindex);
    return found == node_.ports.end() ? 0 : static_cast<size_t>(found - node_.ports.begin());
  }

  // Collects a received frame for the program. Most frames have the form that they have on a wire.
  // A neighbour that keeps its offloads on may send super-frames, or frames without a checksum:
  // such frames are split and completed before the program gets them.
  void TakeFrame(size_t port, const io::ReceivedFrame& frame, Instant now) {
    if (frame.checksum == io::Checksum::kInFrame && frame.gso_size == 0) {
      frames_.push_back({port, frame.bytes, now});
      return;
    }
    splitter_.Split(frame, [&](std::span<std::byte> cut) {
      const wire::Bytes copy = outbox_.Make(cut.size());
      std::ranges::copy(cut, copy.begin());
      frames_.push_back({port, copy, now});
    });
  }

  Mapping table_memory_, counter_memory_, event_memory_;
  Counters counters_;
  UniqueFd doorbell_;
  std::optional<EventWriter> events_;
  NeighbourMonitor monitor_;
  NeighbourTable neighbours_;
  std::string whose_;  // names of node and program, for messages
  KernelSender kernel_;
  UpcallSender upcalls_;
  Node node_;
  Outbox outbox_;
  std::unique_ptr<AnyProgram> program_;
  std::vector<std::unique_ptr<io::RingPort>> ports_;
  std::vector<uint64_t> ring_full_;  // drops that are counted already, indexed by port
  io::SuperFrameSplitter splitter_;
  std::array<io::ReceivedFrame, kBurst> received_;
  std::vector<Frame> frames_;
};

Forwarder::Forwarder(std::vector<Equipment> equipment) {
  const size_t ports =
      std::transform_reduce(equipment.begin(), equipment.end(), size_t{0}, std::plus<>(),
                            [](const Equipment& each) { return each.ports.size(); });
  const uint32_t slots = std::clamp(kLabSlots / static_cast<uint32_t>(std::max<size_t>(ports, 1)),
                                    kMinSlots, kMaxSlots);
  // The nodes are started in parallel. For each ring the kernel waits until no processor uses the
  // socket any more (packet_set_ring(), synchronize_net()). This takes about 10 ms, and parallel
  // waits for all sockets take no longer than a wait for one socket.
  std::vector<std::future<std::unique_ptr<RunningNode>>> starting;
  starting.reserve(equipment.size());
  for (Equipment& each : equipment) {
    starting.push_back(std::async(
        [slots](Equipment of_node) {
          return std::make_unique<RunningNode>(std::move(of_node), slots);
        },
        std::move(each)));
  }
  for (auto& node : starting) {
    nodes_.push_back(node.get());
    nodes_.back()->Watch(poller_, nodes_.size() - 1);
  }
}

Forwarder::~Forwarder() = default;

void Forwarder::Serve(const Poller::Ready& ready) {
  for (const epoll_event& event : ready) {
    if (event.data.u64 == kStopTag) {
      is_stopped_ = true;
      continue;
    }
    RunningNode& node = *nodes_[event.data.u64 >> 32];
    const auto port = static_cast<uint32_t>(event.data.u64);
    if (port == kNeighboursTag) {
      node.ReadNeighbours();
    } else {
      node.ServePort(port);
    }
  }
}

void Forwarder::Run(int stop) {
  poller_.Add(stop, kStopTag);
  Instant next_tick = MonotonicClock::Now() + kTick;
  ProgramWatch::Rearm();
  while (!is_stopped_) {
    const Duration timeout = std::max(Duration(), next_tick - MonotonicClock::Now());
    Serve(poller_.Wait(timeout));
    const Instant now = MonotonicClock::Now();
    if (now < next_tick) continue;
    next_tick = now + kTick;
    ProgramWatch::Rearm();
    for (const auto& node : nodes_) node->Tick(now);
  }
  poller_.Remove(stop);
}

}  // namespace viaduct::forward
