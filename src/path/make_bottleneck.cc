#include "path/make_bottleneck.h"

#include "base/error.h"
#include "path/memory_fifo.h"
#include "path/tail_drop_queue.h"

namespace viaduct::path {
namespace {

std::unique_ptr<Fifo> MakeFifo(const PipelineOptions& options) {
  return options.make_fifo ? options.make_fifo() : std::make_unique<MemoryFifo>();
}

}  // namespace

std::unique_ptr<RateServer> MakeRateServer(const Spec& spec, const PipelineOptions&) {
  return std::make_unique<ConstantRate>(spec.rate.value());
}

std::unique_ptr<QueueDiscipline> MakeQueueDiscipline(const Spec& spec, FrameStore&,
                                                     const PipelineOptions& options) {
  if (spec.aqm) throw UsageError("aqm: only the queue= of a path is there yet; leave it out");
  const Queue standard{.unit = Queue::Unit::kPackets, .amount = kDefaultQueuePackets};
  return std::make_unique<TailDropQueue>(MakeFifo(options), spec.queue.value_or(standard));
}

}  // namespace viaduct::path
