/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_PAYLOAD_RESTORER_H
#define VIADUCT_PAYLOAD_RESTORER_H

namespace ns3
{

/**
 * @ingroup viaduct
 * Watches all nodes, so that the held payloads of packets are restored (RestorePayload()) before
 * the packets are read in the simulation: packets that the IP layer delivers to transport protocols
 * and raw sockets, and packets that an ICMPv6 error quotes. Must be called again when nodes have
 * been created; a call without new nodes takes almost no time.
 *
 * Ends the program if a node has a device that cannot send packets with held payloads:
 * ns3::FdNetDevice and ns3::TapBridge would send zeros.
 */
void RestorePayloadsWhereRead();

} // namespace ns3

#endif /* VIADUCT_PAYLOAD_RESTORER_H */
