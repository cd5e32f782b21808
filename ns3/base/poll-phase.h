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
 * Returns the phase of a periodic activity on this node: nodes are spread evenly over the interval,
 * so that their work does not accumulate at one instant and delay each other and the protocols' own
 * events.
 *
 * @param node the node
 * @param interval the interval
 * @param activity 0, 1...: distinguishes several activities of one node, which are spread as well
 * @returns the time from now to the first turn, in [0, interval)
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
