// Creates the link that a SPEC describes.
#pragma once

#include <memory>

#include "path/packet/pipeline_options.h"
#include "path/queue/queue_spec.h"
#include "path/queue/rate_server.h"

namespace viaduct::path {

// The SPEC must have a rate or a rate trace. Throws UsageError if the trace is invalid.
std::unique_ptr<RateServer> MakeRateServer(const LinkSpec& spec, const FileReader& read_file);

}  // namespace viaduct::path
