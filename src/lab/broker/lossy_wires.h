// Results of the wires of a lab that lose frames without the path engine.
#pragma once

#include <vector>

#include "base/result/engine.h"
#include "lab/joined_paths.h"
#include "lab/topology.h"

namespace viaduct::broker {

// Describes the wires that lose frames, in the form in which the path engine describes its
// pipelines.
std::vector<result::PipelineResult> DescribeLossyWires(const lab::Topology& topology,
                                                       const lab::JoinedPaths& joined);

}  // namespace viaduct::broker
