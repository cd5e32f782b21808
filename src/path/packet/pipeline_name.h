// The names of pipelines. The name and the seed determine a pipeline's random streams
// (PipelineOptions), so the engine and the simulation must use the same names for the same link.
#pragma once

#include <string>

namespace viaduct::path {

enum class Direction { kUp, kDown };  // kUp: a to b, kDown: b to a

// Returns "PAIR/up"; for a class of the pair's packets "PAIR/CLASS/down".
std::string PipelineName(const std::string& pair, const std::string& class_name,
                         Direction direction);
// Returns the pair name of one endpoint of a shared link: "LINK.NODE"; for a node that already has
// `copies` endpoints on the link, "LINK.NODE-2"...
std::string SharedPairName(const std::string& link, const std::string& node, long copies);

}  // namespace viaduct::path
