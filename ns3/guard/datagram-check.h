/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_DATAGRAM_CHECK_H
#define VIADUCT_DATAGRAM_CHECK_H

#include "ns3/ipv4-address.h"

#include "base/wire/bytes.h"

#include <cstdint>
#include <functional>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief The ports of a datagram.
 */
struct DatagramPorts
{
    uint16_t source;      //!< the sender's port
    uint16_t destination; //!< the receiver's port
};

/**
 * @ingroup viaduct
 * @brief Returns whether ns-3's protocol at a port can read a datagram.
 *
 * ns-3's routing protocols trust their input: a length field that disagrees with the datagram's
 * length ends the simulator (the assertions of olsr-header.cc, aodv-packet.cc and
 * Buffer::Iterator), and so does an OLSR packet whose source port is not OLSR's. Message formats:
 * RFC 3626 (OLSR), RFC 2453 (RIP), RFC 2080 (RIPng), RFC 3561 (AODV), dsdv-packet.h.
 *
 * @param ports the datagram's ports
 * @param payload the bytes after the UDP header
 * @param isOwn a function that returns whether an address is the receiving node's
 * @return true if the protocol can read the datagram, or if none of ns-3's routing protocols uses
 * the destination port
 */
bool IsReadableDatagram(DatagramPorts ports,
                        viaduct::wire::ConstBytes payload,
                        const std::function<bool(Ipv4Address)>& isOwn);

} // namespace ns3

#endif /* VIADUCT_DATAGRAM_CHECK_H */
