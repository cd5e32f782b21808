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
 * @brief A data plane that reads an RBridge's tables in shared memory and reports through a ring
 * there where terminals are seen. Needs ReactorSimulatorImpl.
 */
class RBridgeSharedPlane : public RBridgePlane
{
  public:
    /**
     * @param rbridge the RBridge that learns; owns this object
     * @param node the RBridge's node
     * @param tables the memory
     * @throws viaduct::UsageError under another simulator
     */
    RBridgeSharedPlane(RBridge& rbridge, Ptr<Node> node, viaduct::broker::Tables tables);

    void Publish(const viaduct::rbridge::Tables& tables) override;

    /** Leaves the tables of a failed simulator in the memory until Release(). Must be called before
     * the RBridge gets this plane. */
    void Hold();
    /** Publishes the RBridge's present tables. No effect unless the tables in the memory are held.
     */
    void Release();

  private:
    RBridge& m_rbridge;                             //!< the RBridge that learns
    viaduct::forward::Mapping m_tables;             //!< the shared memory
    viaduct::forward::RBridgeTablesWriter m_writer; //!< writes m_tables
    EventListener m_listener;                       //!< reports of terminals
    bool m_held{false};                             //!< publishes nothing
};

} // namespace ns3

#endif // VIADUCT_RBRIDGE_SHARED_PLANE_H
