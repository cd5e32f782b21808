// The options of packets that are to be forwarded, judged as the receive path of a node's kernel
// judges them before it routes (ip_rcv_options(), ipv6_parse_hopopts()).
//
// The kernel has its own copy of each packet: it answers a packet that it rejects, so the forwarder
// must drop the packet silently.
#pragma once

#include "base/wire/bytes.h"

namespace viaduct::forward {

// `options`: the bytes after the first 20 of the header, may be empty. Decides as
// __ip_options_compile() of net/ipv4/ip_options.c with the defaults of a router: source routes are
// refused, and labels of CIPSO, as no domains are defined.
bool AcceptsIpv4Options(wire::ConstBytes options);

// `payload`: the bytes after the IPv6 header, whose first extension header is hop-by-hop options.
// Decides as ip6_parse_tlv() of net/ipv6/exthdrs.c.
bool AcceptsHopByHopOptions(wire::ConstBytes payload);

}  // namespace viaduct::forward
