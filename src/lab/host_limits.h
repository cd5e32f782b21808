// Limits of this machine's kernel that all network namespaces share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lab/topology.h"

namespace viaduct::lab {

// Reads a parameter of the machine ("net.ipv4.neigh.default.gc_thresh3"); returns nothing if it
// cannot be read in the calling process's network namespace.
using ReadLimit = std::function<std::optional<uint64_t>(const std::string& parameter)>;

// Returns the limits that the lab may exceed, one line each with the remedy: neighbour entries
// (gc_thresh3 of arp(7)), of which each node of a shared link has one for each of the link's other
// nodes. Beyond the limit the kernel drops packets ("neighbour table overflow").
std::vector<std::string> ExceededLimits(const Topology& topology, const ReadLimit& read);

// Reads from /proc/sys, where only the initial network namespace has these parameters.
std::optional<uint64_t> ReadHostLimit(const std::string& parameter);

}  // namespace viaduct::lab
