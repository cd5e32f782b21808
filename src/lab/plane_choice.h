// Which nodes with `data_plane: auto` get the plane `joined`; fib::ChoosePlane() chooses for the
// others.
#pragma once

#include <map>
#include <string>

#include "lab/topology.h"

namespace viaduct::lab {

// Gives such nodes that plane where paths of several hops, or random loss without the path engine,
// make it the fastest. Returns for each node that was left open why it has it, or why not. Only for
// machines that have eBPF.
std::map<std::string, std::string> ChooseJoined(Topology* topology);

}  // namespace viaduct::lab
