#include "path/queue/make_bottleneck.h"

#include "path/packet/memory_fifo.h"
#include "path/queue/codel_queue.h"
#include "path/queue/fq_codel_queue.h"
#include "path/queue/head_drop_queue.h"
#include "path/queue/mahimahi_rate.h"
#include "path/queue/pie_queue.h"
#include "path/queue/rate_series.h"
#include "path/queue/red_queue.h"
#include "path/queue/tail_drop_queue.h"
#include "path/queue/token_bucket.h"

namespace viaduct::path {

std::unique_ptr<Fifo> MakeFifo(const PipelineOptions& options) {
  return options.make_fifo ? options.make_fifo() : std::make_unique<MemoryFifo>();
}

namespace {

std::unique_ptr<QueueDiscipline> MakeAqm(const Spec& spec, FrameStore& store,
                                         const PipelineOptions& options) {
  const Aqm& aqm = *spec.aqm;
  RandomStream random(options.seed, options.name + " queue");
  if (aqm.name == "codel") {
    return std::make_unique<CodelQueue>(MakeFifo(options),
                                        spec.queue.value_or(CodelQueue::kDefaultLimit),
                                        CodelParameters().With(aqm), store);
  }
  if (aqm.name == "pie") {
    return std::make_unique<PieQueue>(MakeFifo(options),
                                      spec.queue.value_or(PieQueue::kDefaultLimit),
                                      PieParameters().With(aqm), store, random);
  }
  if (aqm.name == "red") {
    return std::make_unique<RedQueue>(MakeFifo(options),
                                      spec.queue.value_or(RedQueue::kDefaultLimit),
                                      RedParameters().With(aqm), store, random);
  }
  return std::make_unique<FqCodelQueue>(spec.queue.value_or(FqCodelQueue::kDefaultLimit),
                                        FqCodelParameters().With(aqm), store, random.Next());
}

}  // namespace

std::unique_ptr<RateServer> MakeRateServer(const Spec& spec, const PipelineOptions& options) {
  const FrameOverhead overhead{spec.overhead.value_or(0)};
  if (spec.rate_trace) {
    const std::string& file = spec.rate_trace->file;
    const std::string text = options.read_file(file);
    if (spec.rate_trace->format == RateTrace::Format::kMahimahi) {
      return std::make_unique<MahimahiRate>(ParseMahimahi(text, file), overhead);
    }
    return std::make_unique<RateSeries>(ParseRateSeries(text, file), overhead);
  }
  if (spec.burst) return std::make_unique<TokenBucket>(*spec.rate, *spec.burst, overhead);
  return std::make_unique<ConstantRate>(spec.rate.value(), overhead);
}

std::unique_ptr<QueueDiscipline> MakeQueueDiscipline(const Spec& spec, FrameStore& store,
                                                     const PipelineOptions& options) {
  if (spec.aqm) return MakeAqm(spec, store, options);
  const Queue limit =
      spec.queue.value_or(Queue{.unit = Queue::Unit::kPackets, .amount = kDefaultQueuePackets});
  if (spec.drop == DropAt::kHead) {
    return std::make_unique<HeadDropQueue>(MakeFifo(options), limit);
  }
  return std::make_unique<TailDropQueue>(MakeFifo(options), limit);
}

}  // namespace viaduct::path
