// Statistics of this machine's neighbour tables (ARP and neighbour discovery).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace viaduct::sys {

// Returns the number of packets that the kernel has discarded since the machine was started because
// too many packets waited for the same neighbour's address (unres_qlen_bytes of arp(7)). The kernel
// counts the packets of all network namespaces together, and shows the number only in the initial
// namespace. In other namespaces returns nothing.
std::optional<uint64_t> UnresolvedDiscards();

// Returns the sum of a column in the text of a file of /proc/net/stat: a line of names, and a line
// of hexadecimal numbers for each processor (net/core/neighbour.c, neigh_stat_seq_show()); nothing
// if there is no such column.
std::optional<uint64_t> SumOfColumn(std::string_view text, std::string_view column);

}  // namespace viaduct::sys
