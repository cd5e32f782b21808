// The link that a SPEC asks for.
#pragma once

#include <memory>

#include "path/packet/pipeline_options.h"
#include "path/queue/queue_spec.h"
#include "path/queue/rate_server.h"

namespace viaduct::path {

// The spec has a rate or a trace of one. Throws UsageError where the trace is wrong.
std::unique_ptr<RateServer> MakeRateServer(const LinkSpec& spec, const FileReader& read_file);

}  // namespace viaduct::path
