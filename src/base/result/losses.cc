#include "base/result/losses.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace viaduct::result {
namespace {

// Returns the causes of drops inside the simulator (RingNetDevice, ProgramPort) that mean that the
// simulator was too slow.
const std::set<std::string>& SlownessDrops() {
  static const std::set<std::string> drops = {"rx_queue_full", "tx_queue_full",
                                              "from_program_reader_full", "to_program_queue_full"};
  return drops;
}

// The fates of packets in a pipeline for which the product itself is responsible.
constexpr const char* kOwnFates[] = {"no_memory", "disk_behind"};

// The fates that are counted in other losses: the fates for which the product is responsible, and
// refusals by the interface that sends the frame, because the counter of this interface includes
// the refusals.
constexpr const char* kCountedElsewhere[] = {"no_memory", "disk_behind", "refused"};

uint64_t Of(const PipelineResult& pipeline, const std::string& fate) {
  const auto found = pipeline.fates.find(fate);
  return found == pipeline.fates.end() ? 0 : found->second;
}

// Returns the number of packets that a pipeline delivered corrupted; their receiver drops them. All
// other corrupted packets have another fate, such as bad_fcs.
uint64_t DeliveredCorrupted(const PipelineResult& pipeline) {
  const uint64_t dropped = std::min(pipeline.corrupted, Of(pipeline, "bad_fcs"));
  return std::min(pipeline.corrupted - dropped, Of(pipeline, "delivered"));
}

// Whether a node lost packets because of flipped bits: DeliveredCorrupted() has already counted
// such packets.
bool IsOfFlippedBits(const Loss& loss) {
  return loss.why.ends_with(": corrupted") || loss.why.ends_with(": bad_checksum");
}

// Returns the number of packets that the emulated links lost or corrupted, as their SPECs ask for,
// or still hold.
uint64_t LostByLinks(const EngineResult& engine) {
  uint64_t packets = 0;
  for (const PipelineResult& pipeline : engine.pipelines) {
    packets += DeliveredCorrupted(pipeline) + pipeline.waiting;
    for (const auto& [fate, count] : pipeline.fates) {
      const bool counted =
          std::ranges::find(kCountedElsewhere, fate) != std::end(kCountedElsewhere);
      if (fate != "delivered" && !counted) packets += count;
    }
  }
  return packets;
}

// Whether a drop by this cause is a loss: the drop of a frame for another node on a shared link is
// not a loss.
bool IsLoss(const std::string& drop) { return drop != "rx_not_for_me"; }

// Whether a data plane's drops by this cause mean that the product was too slow.
bool IsSlowness(const std::string& cause) {
  return cause == "ring_full" || cause == kUpcallQueueFull;
}

bool IsSameStream(const FlowResult& one, const FlowResult& other) {
  return !one.group.empty() && one.from == other.from && one.group == other.group;
}

bool IsAtSender(const std::string& place) {
  return place == kSendersInterfaces || place.starts_with("refused");
}

// Whether an earlier flow has the same loss: packets to a multicast group that never left the
// sender are listed only with the group's first flow.
bool IsListed(const RunResult& run, const FlowResult& flow, const std::string& place) {
  return IsAtSender(place) && std::ranges::any_of(run.flows, [&](const FlowResult& other) {
           return &other < &flow && IsSameStream(other, flow);
         });
}

// Returns `packets`, a number of drops at the sender's interfaces, less the drops at the interface
// through which a data plane passes packets to the simulator. `packets` may include these drops,
// but they are listed with the node's data plane.
uint64_t WithoutUpcalls(const RunResult& run, const FlowResult& flow, uint64_t packets) {
  const auto plane = run.data_planes.find(flow.from);
  if (plane == run.data_planes.end()) return packets;
  const auto full = plane->second.drops.find(kUpcallQueueFull);
  return full == plane->second.drops.end() ? packets : packets - std::min(packets, full->second);
}

// Returns the number of packets that the flows lost. A packet to a multicast group that was lost
// once may be missing at all receivers, so a group counts with the receiver that misses the most
// packets.
uint64_t LostOfFlows(const RunResult& run) {
  const auto lost_of = [](const FlowResult& flow) {
    const uint64_t sent = flow.sent.value_or(0);
    return sent - std::min(sent, flow.received.value_or(0));
  };
  uint64_t lost = 0;
  for (size_t i = 0; i < run.flows.size(); ++i) {
    uint64_t before = 0;
    const uint64_t most = lost_of(run.flows[i]);
    for (size_t j = 0; j < i; ++j) {
      if (IsSameStream(run.flows[j], run.flows[i]))
        before = std::max(before, lost_of(run.flows[j]));
    }
    lost += most - std::min(most, before);
  }
  return lost;
}

class List {
 public:
  void Add(const std::string& place, uint64_t packets, const std::string& why, bool own) {
    if (packets > 0) losses_.push_back({place, packets, why, own});
  }
  void AddFrames(const std::string& place, const FrameCounters& frames) {
    Add(place, frames.rx_dropped_ring_full, "arrived faster than Viaduct could receive them", true);
    Add(place, frames.rx_dropped_truncated, "longer than the maximum frame length", true);
    // The product is not responsible for refused frames: a link that is down also refuses frames.
    Add(place, frames.tx_dropped_error, "refused by the interface", false);
  }
  std::vector<Loss> Take() { return std::move(losses_); }

 private:
  std::vector<Loss> losses_;
};

}  // namespace

std::vector<Loss> SimulatorLosses(const RunResult& run) {
  List list;
  for (const auto& [device, counters] : run.simulator.counters) {
    list.AddFrames(device, counters.frames);
    for (const auto& [drop, packets] : counters.drops) {
      if (IsLoss(drop)) list.Add(device, packets, drop, SlownessDrops().contains(drop));
    }
  }
  for (const FlowResult& flow : run.flows) {
    for (const auto& [place, lost] : flow.lost_at) {
      if (IsListed(run, flow, place)) continue;
      const uint64_t packets = place == kSendersInterfaces ? WithoutUpcalls(run, flow, lost) : lost;
      // In mode emulate ns-3 forwards, and a node's programs send through a device that the
      // simulator reads: drops at the sender's interfaces mean that the simulator was too slow.
      const bool own = run.scenario.mode == "emulate" && place == kSendersInterfaces;
      list.Add(fmt::format("flow '{}'", flow.name), packets, place, own);
    }
  }
  for (const auto& [node, plane] : run.data_planes) {
    for (const auto& [cause, packets] : plane.drops) {
      list.Add(fmt::format("{}, data plane {}", node, plane.name), packets, cause,
               IsSlowness(cause));
    }
  }
  list.Add("kernels' neighbour tables", run.neighbour_discards.value_or(0),
           "too many packets waited for a neighbour's address; counted for all namespaces of the "
           "machine",
           false);
  return list.Take();
}

std::vector<Loss> EngineLosses(const EngineResult& engine) {
  List list;
  for (const PortResult& port : engine.ports) {
    list.AddFrames("links, " + port.name, port.frames);
    list.Add("links, " + port.name, port.unmatched, "belonging to no pair (another VLAN or label)",
             false);
    list.Add("links, " + port.name, port.too_long, "longer than the MTU of every port", false);
  }
  for (const PipelineResult& pipeline : engine.pipelines) {
    for (const char* fate : kOwnFates) {
      list.Add(fmt::format("links, {} {}", pipeline.pair, pipeline.direction), Of(pipeline, fate),
               fate, true);
    }
  }
  return list.Take();
}

std::vector<Loss> LossesOf(const RunResult& run) {
  std::vector<Loss> losses = SimulatorLosses(run);
  if (run.engine) {
    const std::vector<Loss> links = EngineLosses(*run.engine);
    losses.insert(losses.end(), links.begin(), links.end());
  }
  return losses;
}

uint64_t LostElsewhere(const RunResult& run) {
  const uint64_t lost = LostOfFlows(run);
  uint64_t placed = run.engine ? LostByLinks(*run.engine) : 0;
  for (const Loss& loss : LossesOf(run)) {
    if (!run.engine || !IsOfFlippedBits(loss)) placed += loss.packets;
  }
  return lost - std::min(lost, placed);
}

uint64_t OwnLosses(const std::vector<Loss>& losses) {
  uint64_t packets = 0;
  for (const Loss& loss : losses) packets += loss.own ? loss.packets : 0;
  return packets;
}

}  // namespace viaduct::result
