// Fragmentation of IPv4 packets by a router (RFC 791 section 3.2).
#pragma once

#include <functional>

#include "base/wire/bytes.h"
#include "base/wire/ip.h"

namespace viaduct::forward {

// Cuts a packet, which begins with its IPv4 header, into fragments of at most `mtu` bytes. Calls
// make(size), which returns the memory of a fragment, and then use(fragment) with the complete
// fragment. The packet may be a fragment itself. `mtu` must allow at least 8 bytes of payload.
void Fragment(const wire::Ipv4Header& header, wire::ConstBytes packet, size_t mtu,
              const std::function<wire::Bytes(size_t size)>& make,
              const std::function<void(wire::Bytes fragment)>& use);

}  // namespace viaduct::forward
