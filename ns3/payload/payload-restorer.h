/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_PAYLOAD_RESTORER_H
#define VIADUCT_PAYLOAD_RESTORER_H

namespace ns3
{

/**
 * @ingroup viaduct
 * Let packets be whole (RestorePayload()) before somebody in the simulation reads them: what the IP
 * layer of any node delivers to its transport protocols and raw sockets, and what an ICMPv6 error
 * quotes. To be called again when there are new nodes, which costs next to nothing otherwise.
 *
 * Ends the program if a node has a device that cannot send such packets: ns3::FdNetDevice and
 * ns3::TapBridge would send zeros.
 */
void RestorePayloadsWhereRead();

} // namespace ns3

#endif /* VIADUCT_PAYLOAD_RESTORER_H */
