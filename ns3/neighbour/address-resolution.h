/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_ADDRESS_RESOLUTION_H
#define VIADUCT_ADDRESS_RESOLUTION_H

#include "ns3/node.h"
#include "ns3/ptr.h"

#include <map>
#include <string>

namespace ns3
{

/**
 * @ingroup viaduct
 * Makes a node resolve addresses as Linux does, with Linux's timers, limits and states: see
 * NeighbourTable, ArpNeighbours and NdiscNeighbours. ns-3's own ARP waits up to 10 ms before its
 * request, sends four requests, keeps three packets meanwhile, does not send a request again for
 * 100 s, and does not learn from requests; its IPv6 counterpart sends four, too, and loses waiting
 * packets when the neighbour sends a request at the same time.
 *
 * Differences from Linux: programs' packets do not confirm a neighbour (MSG_CONFIRM, TCP's
 * acknowledgements), and no ICMP error is sent for packets that wait in vain.
 *
 * Attributes for which Config::SetDefault() was called keep the user's values. The limits of the
 * queues (ns3::ArpCache's PendingQueueSize, ns3::NdiscCache's UnresolvedQueueSize) replace Linux's;
 * with a timer or a number of requests of the user (ns3::ArpCache, ns3::ArpL3Protocol's
 * RequestJitter, ns3::Icmpv6L4Protocol) ns-3's own resolution of that version of IP stays.
 *
 * @param node the node, with its interfaces and their devices; interfaces added later resolve as
 * ns-3 does, until this function is called again
 * @param onRadio the first request waits as ns-3's does, and each node repeats it after a different
 * time, 1 to 1.1 s (random, by the seed): requests that several nodes sent at one instant would be
 * lost, and so would all that follow at one interval.
 * @param sysctls a kernel's settings, as for sysctl(8); the settings of neighbours have an effect:
 * net.ipv4.neigh and net.ipv6.neigh, of "default" or of one interface ("eth0" is interface 1),
 * their base_reachable_time_ms, delay_first_probe_time, mcast_solicit, retrans_time_ms and
 * unres_qlen_bytes
 */
void ResolveAddressesAsKernelsDo(Ptr<Node> node,
                                 bool onRadio = false,
                                 const std::map<std::string, std::string>& sysctls = {});

} // namespace ns3

#endif // VIADUCT_ADDRESS_RESOLUTION_H
