/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_TIME_CONVERSION_H
#define VIADUCT_SIM_TIME_CONVERSION_H

#include "ns3/nstime.h"

#include "base/time.h"

namespace ns3::sim
{

/**
 * @param duration a scenario's duration
 * @return the duration as ns3::Time
 */
inline Time
ToTime(viaduct::Duration duration)
{
    return NanoSeconds(duration.nanoseconds());
}

} // namespace ns3::sim

#endif /* VIADUCT_SIM_TIME_CONVERSION_H */
