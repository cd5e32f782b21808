/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_RBRIDGE_TIME_H
#define VIADUCT_RBRIDGE_TIME_H

#include "ns3/simulator.h"

#include "base/time.h"

namespace ns3
{

/** @return the simulator's time in the type of the library viaduct::rbridge */
inline viaduct::Instant
InstantNow()
{
    return viaduct::Instant::FromNanoseconds(Simulator::Now().GetNanoSeconds());
}

} // namespace ns3

#endif // VIADUCT_RBRIDGE_TIME_H
