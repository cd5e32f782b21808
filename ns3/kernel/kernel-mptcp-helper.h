/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_MPTCP_HELPER_H
#define VIADUCT_KERNEL_MPTCP_HELPER_H

#include "ns3/address.h"
#include "ns3/net-device.h"
#include "ns3/node-container.h"

#include <cstdint>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief Makes MPTCP connections (of KernelMptcpSocketFactory, and of programs that use MPTCP) use
 * several devices of nodes of KernelStackHelper. On a Linux machine, the command "ip mptcp" sets
 * the same limits and endpoints.
 *
 * A minimal example, in which the server announces its second address and the client may use that
 * address:
 * @code
 * KernelMptcpHelper::SetLimits(NodeContainer(client, server));
 * KernelMptcpHelper::AddEndpoint(serverDevice, KernelMptcpHelper::SIGNAL);
 * @endcode
 * All functions may be called before and during the simulation; devices must have their addresses
 * at the call, or get the addresses before the simulation starts. Wrong usage throws
 * viaduct::UsageError.
 */
class KernelMptcpHelper
{
  public:
    /** Flags that describe the purpose of an endpoint (RFC 8684; linux/mptcp.h); may be
     * combined. */
    enum Flag : uint32_t
    {
        SIGNAL = 1,  //!< announce the address to the peer, which may connect to the address
        SUBFLOW = 2, //!< create subflows from the address to the peer's first address
        BACKUP = 4,  //!< use the address when all addresses without this flag are lost
        FULLMESH = 8 //!< with SUBFLOW: create subflows to every address of the peer
    };

    /** Sets the limits of the nodes' MPTCP connections. With the kernel's defaults (2 subflows and
     * 0 addresses), connections do not use the addresses that the peer announces.
     * @param nodes the nodes
     * @param subflows the maximum number of subflows of a connection in addition to its first
     * subflow; at most 8
     * @param addresses the maximum number of addresses announced by the peer that a connection
     * uses; at most 8
     */
    static void SetLimits(const NodeContainer& nodes,
                          uint32_t subflows = 8,
                          uint32_t addresses = 8);
    /**
     * Makes the addresses of a device endpoints of MPTCP.
     * @param device a device of a kernel node
     * @param flags a combination of Flag
     */
    static void AddEndpoint(Ptr<NetDevice> device, uint32_t flags);
    /** Makes a node send packets whose source is an address of a device through that device.
     * Without this source route, the route to the destination selects the device, so that a subflow
     * from a second address may leave through the first device. Source routes also help other
     * protocols with several addresses (SCTP).
     * @param device a device of a kernel node
     * @param gateway an Ipv4Address or Ipv6Address on the device's link, the gateway to all other
     * networks; an empty Address: no gateway
     */
    static void AddSourceRoute(Ptr<NetDevice> device, const Address& gateway = Address());
};

} // namespace ns3

#endif // VIADUCT_KERNEL_MPTCP_HELPER_H
