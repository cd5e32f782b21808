/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_RBRIDGE_PLANE_H
#define VIADUCT_RBRIDGE_PLANE_H

#include "plane/rbridge/tables.h"

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief What forwards an RBridge's frames outside the simulator.
 */
class RBridgePlane
{
  public:
    virtual ~RBridgePlane() = default;
    /** Lets it forward by these tables from now on.
     * @param tables the tables, which it does not keep
     */
    virtual void Publish(const viaduct::rbridge::Tables& tables) = 0;
};

} // namespace ns3

#endif // VIADUCT_RBRIDGE_PLANE_H
