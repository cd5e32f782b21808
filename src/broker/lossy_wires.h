// What the wires of a lab did that lose frames without the path engine.
#pragma once

#include <vector>

#include "lab/joined_paths.h"
#include "lab/topology.h"
#include "result/engine.h"

namespace viaduct::broker {

// As the engine describes its own pipelines.
std::vector<result::PipelineResult> DescribeLossyWires(const lab::Topology& topology,
                                                       const lab::JoinedPaths& joined);

}  // namespace viaduct::broker
