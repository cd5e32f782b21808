/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_ADDRESS_RESOLUTION_H
#define VIADUCT_ADDRESS_RESOLUTION_H

#include "ns3/node.h"
#include "ns3/ptr.h"

namespace ns3
{

/**
 * @ingroup viaduct
 * Makes a node resolve addresses as a kernel does (net.ipv4.neigh.default: unres_qlen_bytes is
 * worth about 101 full packets, the first request is sent at once, a neighbour that did not answer
 * is asked again for the next packet): ns-3's own waits up to 10 ms before its request and keeps
 * only three packets, so that packets would be lost at the start of each flow, and does not ask
 * again for 100 s, so that a node that comes back into range would stay lost.
 *
 * What Config::SetDefault() was called for stays as the user wants it: ns3::ArpCache's
 * PendingQueueSize, DeadTimeout and WaitReplyTimeout, ns3::ArpL3Protocol's RequestJitter,
 * ns3::NdiscCache's UnresolvedQueueSize, ns3::Icmpv6L4Protocol's SolicitationJitter and
 * RetransmissionTime.
 *
 * @param node with its interfaces and their devices; those that come later have ns-3's defaults
 * @param onRadio the first request waits as ns-3's does, and each node repeats it after a time of
 * its own, 1 to 1.1 s (random, by the seed): requests that several nodes sent at one instant would
 * be lost, and so would all that follow at one interval.
 */
void ResolveAddressesAsKernelsDo(Ptr<Node> node, bool onRadio = false);

} // namespace ns3

#endif // VIADUCT_ADDRESS_RESOLUTION_H
