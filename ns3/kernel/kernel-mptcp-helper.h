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
 * All functions may be called before and during the simulation; devices must have their addresses
 * at the call, or get them before the simulation starts. Wrong usage throws viaduct::UsageError.
 */
class KernelMptcpHelper
{
  public:
    /** The purpose of an endpoint (RFC 8684; linux/mptcp.h). Flags may be combined. */
    enum Flag : uint32_t
    {
        SIGNAL = 1,  //!< the address is announced to the peer, which may connect to it
        SUBFLOW = 2, //!< subflows are created from the address to the peer's first one
        BACKUP = 4,  //!< the address is used when all addresses without this flag are lost
        FULLMESH = 8 //!< with SUBFLOW: subflows to every address of the peer
    };

    /** Sets the limits of the nodes' connections; the kernel's defaults, 2 and 0, do not let them
     * use the addresses that the peer announces.
     * @param nodes the nodes
     * @param subflows the number of subflows of a connection in addition to its first, at most 8
     * @param addresses the number of addresses announced by the peer that are used, at most 8
     */
    static void SetLimits(const NodeContainer& nodes,
                          uint32_t subflows = 8,
                          uint32_t addresses = 8);
    /**
     * Makes the addresses of a device endpoints.
     * @param device a device of a kernel node
     * @param flags a combination of Flag
     */
    static void AddEndpoint(Ptr<NetDevice> device, uint32_t flags);
    /** Sends packets whose source is an address of a device through that device, whatever the
     * destination's route is: otherwise a subflow from a second address may leave through the first
     * device. This also helps other protocols with several addresses (SCTP).
     * @param device a device of a kernel node
     * @param gateway an Ipv4Address or Ipv6Address on the device's link that leads to all other
     * networks; an empty Address: no gateway
     */
    static void AddSourceRoute(Ptr<NetDevice> device, const Address& gateway = Address());
};

} // namespace ns3

#endif // VIADUCT_KERNEL_MPTCP_HELPER_H
