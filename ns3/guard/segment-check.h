/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SEGMENT_CHECK_H
#define VIADUCT_SEGMENT_CHECK_H

#include "base/wire/bytes.h"

#include <cstdint>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief Returns whether ns-3's UDP, TCP, ICMP or ICMPv6 can read a packet for its node.
 *
 * ns-3's transport protocols trust their input: an option or a message that is shorter than its
 * length field ends the simulator (Buffer::Iterator's assertions; tcp-option-rfc793.cc), and an
 * option of length 0, or a second neighbour discovery option of the same type, makes the simulator
 * loop for ever (tcp-option.cc, icmpv6-l4-protocol.cc). Formats: RFC 768, RFC 792, RFC 2018,
 * RFC 4443, RFC 4861, RFC 7323, RFC 9293.
 *
 * @param protocol IP protocol number
 * @param segment the transport header and all bytes after it, of a reassembled packet
 * @return true if ns-3 can read the packet, or if the protocol is not UDP, TCP, ICMP or ICMPv6
 */
bool IsReadableSegment(uint8_t protocol, viaduct::wire::ConstBytes segment);

} // namespace ns3

#endif /* VIADUCT_SEGMENT_CHECK_H */
