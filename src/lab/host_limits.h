// Limits of this machine's kernel that all network namespaces share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lab/topology.h"

namespace viaduct::lab {

// Reads a parameter of the machine ("net.ipv4.neigh.default.gc_thresh3"); nothing if it cannot be
// read from here.
using ReadLimit = std::function<std::optional<uint64_t>(const std::string& parameter)>;

// What the lab may need beyond these limits, one line each with the remedy: neighbour entries
// (gc_thresh3 of arp(7)), of which the nodes of a shared link have one for each other. Beyond it
// the kernel drops packets ("neighbour table overflow").
std::vector<std::string> ExceededLimits(const Topology& topology, const ReadLimit& read);

// Reads from /proc/sys, where only the initial network namespace has these parameters.
std::optional<uint64_t> ReadHostLimit(const std::string& parameter);

}  // namespace viaduct::lab
