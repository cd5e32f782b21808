/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_RBRIDGE_SHARED_PLANE_H
#define VIADUCT_RBRIDGE_SHARED_PLANE_H

#include "ns3/wmrp/rbridge-plane.h"
#include "ns3/wmrp/rbridge.h"

#include "ns3/frames/event-listener.h"
#include "ns3/node.h"

#include "lab/broker/client.h"
#include "plane/forward/rbridge_tables.h"

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief The connection to a data plane that reads an RBridge's tables in shared memory, and
 * reports the locations of terminals through a ring in shared memory. Requires
 * ReactorSimulatorImpl.
 */
class RBridgeSharedPlane : public RBridgePlane
{
  public:
    /**
     * @param rbridge the RBridge that learns the locations of terminals; owns this object
     * @param node the RBridge's node
     * @param tables the shared memory
     * @throws viaduct::UsageError if the simulator is not ReactorSimulatorImpl
     */
    RBridgeSharedPlane(RBridge& rbridge, Ptr<Node> node, viaduct::broker::Tables tables);

    void Publish(const viaduct::rbridge::Tables& tables) override;

    /** Leaves the tables of a failed simulator in the shared memory until Release() is called. Must
     * be called before RBridge::SetPlane(). */
    void Hold();
    /** If Hold() was called, publishes the RBridge's current tables; otherwise does nothing.
     */
    void Release();

  private:
    RBridge& m_rbridge;                 //!< the RBridge that learns the locations of terminals
    viaduct::forward::Mapping m_tables; //!< the shared memory
    viaduct::forward::RBridgeTablesWriter m_writer; //!< writes m_tables
    EventListener m_listener; //!< receives the data plane's reports of terminals
    bool m_held{false};       //!< whether the memory keeps its tables until Release()
};

} // namespace ns3

#endif // VIADUCT_RBRIDGE_SHARED_PLANE_H
