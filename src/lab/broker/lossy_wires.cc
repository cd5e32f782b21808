#include "lab/broker/lossy_wires.h"

#include "path/engine/describe.h"

namespace viaduct::broker {

std::vector<result::PipelineResult> DescribeLossyWires(const lab::Topology& topology,
                                                       const lab::JoinedPaths& joined) {
  std::vector<result::PipelineResult> all;
  for (const lab::WireLoss& wire : joined.Losses()) {
    const lab::Link& link = topology.links[wire.link];
    const viaduct_wire_loss& counters = wire.counters;
    result::PipelineResult& described = all.emplace_back();
    described.pair = link.name;
    described.direction = wire.endpoint == 0 ? "up" : "down";
    described.spec = path::FormatSpec(link.specs[wire.endpoint]);
    described.arrived = counters.arrived;
    described.arrived_bytes = counters.arrived_bytes;
    described.delivered_bytes = counters.arrived_bytes - counters.lost_bytes;
    for (const path::Fate fate : engine::kFates) described.fates[engine::FateKey(fate)] = 0;
    described.fates[engine::FateKey(path::Fate::kDelivered)] = counters.arrived - counters.lost;
    described.fates[engine::FateKey(path::Fate::kLost)] = counters.lost;
  }
  return all;
}

}  // namespace viaduct::broker
