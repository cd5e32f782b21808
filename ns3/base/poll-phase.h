/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef POLL_PHASE_H
#define POLL_PHASE_H

#include "ns3/node.h"
#include "ns3/nstime.h"

#include <cmath>

namespace ns3
{

/**
 * @ingroup viaduct
 *
 * Returns the phase of a periodic activity of a node. The phases of the nodes are spread evenly
 * over the interval, so that the work of all nodes does not accumulate at one instant, where it
 * would delay the work of other nodes and the events of protocols.
 *
 * @param node the node
 * @param interval the interval of the activity
 * @param activity the number of the activity among the activities of the node, from 0 on; the
 * activities of one node are spread, too
 * @returns the time from now to the first run of the activity, in [0, interval)
 */
inline Time
PollPhase(Ptr<const Node> node, Time interval, uint32_t activity)
{
    // Multiples of the golden ratio modulo 1 stay evenly spread for any number of nodes (Weyl).
    const double turns = (2 * node->GetId() + activity) * 0.6180339887498949;
    return TimeStep(static_cast<uint64_t>((turns - std::floor(turns)) *
                                          static_cast<double>(interval.GetTimeStep())));
}

} // namespace ns3

#endif /* POLL_PHASE_H */
