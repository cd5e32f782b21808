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

// Returns the limits that the lab may exceed, one line for each with the remedy. The only such
// limit is that of neighbour entries (gc_thresh3 of arp(7)): each node of a shared link has an
// entry for each other node of the link. Beyond the limit the kernel drops packets ("neighbour
// table overflow").
std::vector<std::string> ExceededLimits(const Topology& topology, const ReadLimit& read);

// Reads a parameter from /proc/sys, where only the initial network namespace has the parameters of
// the machine.
std::optional<uint64_t> ReadHostLimit(const std::string& parameter);

}  // namespace viaduct::lab
