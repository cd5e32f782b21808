/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_PROTOCOL_PROBE_H
#define VIADUCT_SIM_PROTOCOL_PROBE_H

#include "ns3/object-factory.h"

namespace ns3::sim
{

/**
 * Determines whether a user's routing protocol looks for a route when it is asked for one, without
 * asking the protocol of a run, where the question would have an effect: a separate process
 * simulates three nodes with it, once with a question and once without, and compares the packets
 * that they send. If a question for an address that no node has makes the protocol send, or it
 * answers by the loopback device, LearnLooksForRoutes() is called. No other result of that process
 * affects this one.
 *
 * Must be called before the simulator has events, and while the process has one thread.
 * @param protocol makes the protocol, of IPv4 or IPv6; without a type, or of one of ns-3's own,
 * nothing is done
 */
void ProbeProtocol(const ObjectFactory& protocol);

} // namespace ns3::sim

#endif // VIADUCT_SIM_PROTOCOL_PROBE_H
