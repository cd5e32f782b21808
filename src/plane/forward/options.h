// The options of packets that are to be forwarded, judged as the receive path of a node's kernel
// judges them before it routes (ip_rcv_options(), ipv6_parse_hopopts()).
//
// The kernel has its own copy of each packet: it answers what it rejects, so the forwarder must
// drop that in silence.
#pragma once

#include "base/wire/bytes.h"

namespace viaduct::forward {

// `options`: what follows the 20 bytes of the header, may be empty. As __ip_options_compile() of
// net/ipv4/ip_options.c and the defaults of a router: source routes are refused, and labels of
// CIPSO, whose domains nobody defined.
bool AcceptsIpv4Options(wire::ConstBytes options);

// `payload`: what follows the IPv6 header, whose first extension header is hop-by-hop options. As
// ip6_parse_tlv() of net/ipv6/exthdrs.c.
bool AcceptsHopByHopOptions(wire::ConstBytes payload);

}  // namespace viaduct::forward
