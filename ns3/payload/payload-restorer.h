/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_PAYLOAD_RESTORER_H
#define VIADUCT_PAYLOAD_RESTORER_H

namespace ns3
{

/**
 * @ingroup viaduct
 * Makes packets whole (RestorePayload()) before they are read in the simulation: packets that the
 * IP layer of any node delivers to its transport protocols and raw sockets, and packets that an
 * ICMPv6 error quotes. Must be called again when there are new nodes, which costs next to nothing
 * otherwise.
 *
 * Ends the program if a node has a device that cannot send such packets: ns3::FdNetDevice and
 * ns3::TapBridge would send zeros.
 */
void RestorePayloadsWhereRead();

} // namespace ns3

#endif /* VIADUCT_PAYLOAD_RESTORER_H */
