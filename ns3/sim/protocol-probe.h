/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_PROTOCOL_PROBE_H
#define VIADUCT_SIM_PROTOCOL_PROBE_H

#include "ns3/object-factory.h"

namespace ns3::sim
{

/**
 * Finds out whether a user's routing protocol looks for a route when it is asked for one, without
 * asking the protocol of a run, in which that would have an effect: another process simulates three
 * nodes of its own with it, once with a question and once without, and compares what they send. If
 * a question for an address that nobody has made it send, or it answered by the loopback device,
 * LearnLooksForRoutes() is told. Nothing else of that process comes into this one.
 *
 * To be called before the simulator has events, and while the process has one thread.
 * @param protocol makes the protocol, of IPv4 or IPv6; without a type, or of one of ns-3's own,
 * nothing is done
 */
void ProbeProtocol(const ObjectFactory& protocol);

} // namespace ns3::sim

#endif // VIADUCT_SIM_PROTOCOL_PROBE_H
