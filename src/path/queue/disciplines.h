// The table of queue disciplines that a SPEC can name, one row each (disciplines.cc).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "path/packet/pipeline_options.h"
#include "path/queue/queue_discipline.h"
#include "path/queue/queue_spec.h"

namespace viaduct::path {

struct Discipline {
  std::string_view name;    // aqm=NAME
  QueueSize default_limit;  // limit if the SPEC gives none
  // Checks the parameters and returns their normal form; throws UsageError if they are not valid.
  std::string (*normalize)(std::string_view parameters);
  std::unique_ptr<QueueDiscipline> (*make)(std::string_view parameters, const QueueSetup& setup);
};

std::span<const Discipline> Disciplines();

// Parses "codel" or, with parameters, "codel:target=5ms,ecn". Throws UsageError if the value is not
// valid.
Aqm ParseAqm(std::string_view value);
std::string FormatAqm(const Aqm& aqm);

// Creates the discipline of a SPEC. `store` must outlive the discipline. Its random numbers are
// those of options.Stream("queue"). `overhead`: added to each packet's bytes on the link, for
// limits in time.
std::unique_ptr<QueueDiscipline> MakeQueueDiscipline(const QueueSpec& spec, FrameStore& store,
                                                     const PipelineOptions& options,
                                                     const FrameOverhead& overhead = {});

}  // namespace viaduct::path
