// What the wires of a lab did that lose frames without the path engine.
#pragma once

#include <vector>

#include "base/result/engine.h"
#include "lab/joined_paths.h"
#include "lab/topology.h"

namespace viaduct::broker {

// As the engine describes its own pipelines.
std::vector<result::PipelineResult> DescribeLossyWires(const lab::Topology& topology,
                                                       const lab::JoinedPaths& joined);

}  // namespace viaduct::broker
