// The part of an engine's statistics that comes from one loop.
#include "path/engine/loop.h"

namespace viaduct::engine {

void Loop::AddTo(Statistics& statistics) {
  const size_t first = statistics.pipelines.size();
  for (const Lane& lane : lanes_) {
    const Pair& pair = config_.pairs[lane.pair];
    const path::Pipeline& pipeline = *lane.pipeline;
    path::Counters counters = pipeline.counters();
    counters.Refuse(lane.refused, lane.refused_bytes);
    statistics.pipelines.push_back(
        {pair.name, lane.class_index == 0 ? "" : pair.classes[lane.class_index - 1].name,
         lane.direction, pipeline.spec(), counters, pipeline.waiting(), pipeline.waiting_bytes()});
  }
  // Frames that a full port has not taken still count as waiting, although they have left their
  // pipeline.
  for (const Sender& sender : senders_) {
    for (size_t i = sender.first; i < sender.pending.size(); ++i) {
      PipelineStatistics& of = statistics.pipelines[first + sender.pending[i].lane];
      const size_t bytes = pool_.Bytes(sender.pending[i].frame).size();
      of.counters.Withdraw(1, bytes);
      ++of.waiting;
      of.waiting_bytes += bytes;
    }
  }
  for (const Receiver& receiver : receivers_) {
    statistics.ports[receiver.port].unmatched += receiver.unmatched;
    statistics.ports[receiver.port].too_long += receiver.too_long;
  }
  statistics.lateness.Merge(lateness_);
  statistics.memory_used += pool_.UsedBytes();
  statistics.memory_peak += memory_peak_;
  if (!disks_) return;
  statistics.spilled_bytes += disks_->spilled_bytes();
  statistics.spilled_peak += disks_->spilled_peak();
  if (!disks_->trouble().empty()) statistics.spill_trouble = disks_->trouble();
}

}  // namespace viaduct::engine
