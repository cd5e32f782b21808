/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_PROTOCOL_PROBE_H
#define VIADUCT_SIM_PROTOCOL_PROBE_H

#include "ns3/object-factory.h"

namespace ns3::sim
{

/**
 * Determines whether a user's routing protocol searches for a route on demand, when it is asked for
 * a route that it does not have. The protocol instances of the run are not asked, because a request
 * would have an effect on the run. Instead, a child process simulates three nodes with the
 * protocol, once with a request for a route and once without, and the numbers of packets sent are
 * compared. If a request for an address that no node has makes the protocol send packets, or the
 * protocol returns a route through the loopback device, LearnLooksForRoutes() is called. The child
 * process has no other effect on this process.
 *
 * Must be called before the simulator has events, and while the process has one thread.
 * @param protocol the factory of the protocol, for IPv4 or IPv6; the function does nothing if the
 * factory has no type or the type is one of ns-3's own protocols
 */
void ProbeProtocol(const ObjectFactory& protocol);

} // namespace ns3::sim

#endif // VIADUCT_SIM_PROTOCOL_PROBE_H
