// The kernel's tables of TCP connections.
#pragma once

#include <cstddef>
#include <string_view>

namespace viaduct::sys {

// Returns the number of connections in a table (the text of /proc/net/tcp or tcp6, proc_net_tcp.txt
// in Linux' documentation) that still have something to send: data, or the end of the connection,
// that was not sent or not acknowledged.
size_t CountUnsentTcp(std::string_view table);
// Returns the number of connections that still have something to send, in the IPv4 and IPv6 tables
// of the calling thread's network namespace.
size_t CountUnsentTcp();

}  // namespace viaduct::sys
