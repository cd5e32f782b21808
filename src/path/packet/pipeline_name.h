// What pipelines are called. With the seed a name decides a pipeline's random streams
// (PipelineOptions), so whoever runs a link, engine or simulation, calls its pipelines by these.
#pragma once

#include <string>

namespace viaduct::path {

enum class Direction { kUp, kDown };  // a to b, b to a

// "PAIR/up"; of a class of the pair's packets "PAIR/CLASS/down".
std::string PipelineName(const std::string& pair, const std::string& class_name,
                         Direction direction);
// The pair of one endpoint of a shared link: "LINK.NODE"; of a node that has `copies` endpoints on
// the link already "LINK.NODE-2"...
std::string SharedPairName(const std::string& link, const std::string& node, long copies);

}  // namespace viaduct::path
