// Chooses the nodes with `data_plane: auto` that get the plane `joined`; fib::ChoosePlane() chooses
// for the remaining ones.
#pragma once

#include <map>
#include <string>

#include "lab/topology.h"

namespace viaduct::lab {

// Sets the plane `joined` for nodes with `data_plane: auto` where paths of several hops, or random
// loss without the path engine, make it the fastest. Returns for each node with `auto` the reason
// why it has this plane, or why not. Only for machines that have eBPF.
std::map<std::string, std::string> ChooseJoined(Topology* topology);

}  // namespace viaduct::lab
