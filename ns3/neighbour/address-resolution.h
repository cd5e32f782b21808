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
 * Makes a node resolve addresses as Linux does, with Linux's timers, limits and states
 * (NeighbourTable, ArpNeighbours and NdiscNeighbours). ns-3's own ARP waits up to 10 ms before its
 * first request, sends four requests, keeps at most three waiting packets, sends no further request
 * for 100 s after a failure, and does not learn addresses from requests. ns-3's own IPv6 neighbour
 * discovery also sends four requests, and loses waiting packets when the neighbour sends a request
 * at the same time.
 *
 * The differences from Linux: programs' packets do not confirm a neighbour (MSG_CONFIRM, TCP's
 * acknowledgements), and no ICMP error is sent for packets whose neighbour does not answer.
 *
 * Attributes for which Config::SetDefault() was called keep the user's values. Limits of the queues
 * that the user has set (ns3::ArpCache's PendingQueueSize, ns3::NdiscCache's UnresolvedQueueSize)
 * replace Linux's limits. If the user has set a timer or a number of requests (of ns3::ArpCache,
 * ns3::ArpL3Protocol's RequestJitter, ns3::Icmpv6L4Protocol), ns-3's own resolution for that
 * version of IP is not replaced.
 *
 * @param node the node, with its interfaces and their devices; interfaces that are added later
 * resolve addresses as ns-3 does, until this function is called again
 * @param onRadio whether the node is on a radio channel: the first request is delayed at random as
 * in ns-3, and each node repeats it at a different interval, 1 to 1.1 s (random, by the seed).
 * Without this delay and different intervals, requests that several nodes send at one instant would
 * be lost, and so would their repetitions at equal intervals.
 * @param sysctls a kernel's settings, as for sysctl(8). Only neighbour settings have an effect:
 * net.ipv4.neigh.* and net.ipv6.neigh.* of "default" or of one interface ("eth0" is interface 1),
 * with the names base_reachable_time_ms, delay_first_probe_time, mcast_solicit, retrans_time_ms and
 * unres_qlen_bytes
 */
void ResolveAddressesAsKernelsDo(Ptr<Node> node,
                                 bool onRadio = false,
                                 const std::map<std::string, std::string>& sysctls = {});

} // namespace ns3

#endif // VIADUCT_ADDRESS_RESOLUTION_H
