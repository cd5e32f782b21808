// Checks of the options of packets that are to be forwarded, with the result of the receive path of
// a node's kernel, which checks options before it routes (ip_rcv_options(), ipv6_parse_hopopts()).
//
// The kernel receives a separate copy of each packet and answers a packet that it rejects, so the
// forwarder must drop such a packet silently.
#pragma once

#include "base/wire/bytes.h"

namespace viaduct::forward {

// Returns whether the kernel accepts a packet with these IPv4 options: the bytes after the first 20
// of the header, may be empty. Decides as __ip_options_compile() of net/ipv4/ip_options.c with the
// defaults of a router: source routes are refused, and so are CIPSO labels, as no CIPSO domains are
// defined.
bool AcceptsIpv4Options(wire::ConstBytes options);

// Returns whether the kernel accepts a packet with these hop-by-hop options. `payload`: the bytes
// after the IPv6 header, whose first extension header contains the hop-by-hop options. Decides as
// ip6_parse_tlv() of net/ipv6/exthdrs.c.
bool AcceptsHopByHopOptions(wire::ConstBytes payload);

}  // namespace viaduct::forward
