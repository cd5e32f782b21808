// The rate stage that a SPEC asks for: queue discipline and link from its rate=, queue=, aqm=...
#pragma once

#include <memory>

#include "path/pipeline.h"
#include "path/queue/bottleneck.h"
#include "path/spec/spec.h"

namespace viaduct::path {

// What waits before a link when the SPEC does not say: 100 packets (ns-3's DropTailQueue).
inline constexpr int64_t kDefaultQueuePackets = 100;

// As the options say; in memory where they say nothing.
std::unique_ptr<Fifo> MakeFifo(const PipelineOptions& options);
// Throws UsageError where the SPEC's files are wrong. The spec has a rate (or a trace of one).
std::unique_ptr<RateServer> MakeRateServer(const Spec& spec, const PipelineOptions& options);
// `store` must outlive the discipline. The random streams are named options.name + " queue".
std::unique_ptr<QueueDiscipline> MakeQueueDiscipline(const Spec& spec, FrameStore& store,
                                                     const PipelineOptions& options);

}  // namespace viaduct::path
