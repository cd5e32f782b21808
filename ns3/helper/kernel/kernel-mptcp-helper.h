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
 * @brief Lets connections of KernelMptcpSocketFactory (and of programs that ask for MPTCP) use
 * several devices of nodes of KernelStackHelper, as "ip mptcp" does on a machine.
 *
 * The smallest use: the server announces its second address, the client may use it:
 * @code
 * KernelMptcpHelper::SetLimits(NodeContainer(client, server));
 * KernelMptcpHelper::AddEndpoint(serverDevice, KernelMptcpHelper::SIGNAL);
 * @endcode
 * All functions may be called before the simulation and in it; devices have their addresses by
 * then, or get them before the simulation starts. A usage that cannot be is viaduct::UsageError.
 */
class KernelMptcpHelper
{
  public:
    /** What an endpoint is for (RFC 8684; linux/mptcp.h). May be added up. */
    enum Flag : uint32_t
    {
        SIGNAL = 1,  //!< the peer is told of the address, and may connect to it
        SUBFLOW = 2, //!< subflows are made from the address to the peer's first one
        BACKUP = 4,  //!< it is used when the others are lost
        FULLMESH = 8 //!< with SUBFLOW: subflows to every address of the peer
    };

    /**
     * Sets how much the nodes' connections may spread; the kernel's own limits, 2 and 0, do not let
     * them use what the peer announces.
     * @param nodes the nodes
     * @param subflows of a connection beside its first, at most 8
     * @param addresses announced by the peer that are used, at most 8
     */
    static void SetLimits(const NodeContainer& nodes,
                          uint32_t subflows = 8,
                          uint32_t addresses = 8);
    /**
     * Makes the addresses of a device endpoints.
     * @param device of a kernel node
     * @param flags of Flag
     */
    static void AddEndpoint(Ptr<NetDevice> device, uint32_t flags);
    /**
     * Sends what has an address of a device as its source by that device, whatever the
     * destination's route is: without it a subflow from a second address may leave by the first
     * device. Serves any protocol with several addresses (SCTP).
     * @param device of a kernel node
     * @param gateway an Ipv4Address or Ipv6Address on the device's link that leads to all other
     * networks; an empty Address: none does
     */
    static void AddSourceRoute(Ptr<NetDevice> device, const Address& gateway = Address());
};

} // namespace ns3

#endif // VIADUCT_KERNEL_MPTCP_HELPER_H
