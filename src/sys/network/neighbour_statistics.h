// Statistics of this machine's neighbour tables (ARP and neighbour discovery).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace viaduct::sys {

// Returns the packets that were discarded since the machine was started because too many waited for
// the same neighbour's address (unres_qlen_bytes of arp(7)), in all network namespaces: the kernel
// counts them together. Returns nothing in a namespace in which the kernel does not show them: it
// shows them in the initial one.
std::optional<uint64_t> UnresolvedDiscards();

// Returns the sum of a column of a file of /proc/net/stat: a line of names, and one of hexadecimal
// numbers for each processor (net/core/neighbour.c, neigh_stat_seq_show()); nothing without this
// column.
std::optional<uint64_t> SumOfColumn(std::string_view text, std::string_view column);

}  // namespace viaduct::sys
