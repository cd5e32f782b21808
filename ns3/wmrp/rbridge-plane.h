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
 * @brief The data plane that forwards an RBridge's frames outside the simulator.
 */
class RBridgePlane
{
  public:
    virtual ~RBridgePlane() = default;
    /** Makes the data plane forward by new tables after this call.
     * @param tables the new tables; the data plane must copy them before it returns
     */
    virtual void Publish(const viaduct::rbridge::Tables& tables) = 0;
};

} // namespace ns3

#endif // VIADUCT_RBRIDGE_PLANE_H
