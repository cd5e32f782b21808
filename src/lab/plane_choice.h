// Chooses the nodes with `data_plane: auto` that get the plane `joined`; fib::ChoosePlane() chooses
// for the remaining ones.
#pragma once

#include <map>
#include <string>

#include "lab/topology.h"

namespace viaduct::lab {

// Sets the plane `joined` for nodes with `data_plane: auto` where paths of several hops, or random
// loss without the path engine, make `joined` the fastest plane. Returns, for each node with
// `auto`, the reason why the node got the plane `joined` or did not get it. Must be called only on
// machines that have eBPF.
std::map<std::string, std::string> ChooseJoined(Topology* topology);

}  // namespace viaduct::lab
