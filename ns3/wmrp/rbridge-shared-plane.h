/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_RBRIDGE_SHARED_PLANE_H
#define VIADUCT_RBRIDGE_SHARED_PLANE_H

#include "rbridge-plane.h"
#include "rbridge.h"

#include "ns3/event-listener.h"
#include "ns3/node.h"

#include "lab/broker/client.h"
#include "plane/forward/rbridge_tables.h"

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief A data plane that reads an RBridge's tables in shared memory and tells through a ring
 * there where terminals are seen. Needs ReactorSimulatorImpl.
 */
class RBridgeSharedPlane : public RBridgePlane
{
  public:
    /**
     * @param rbridge which learns; owns this object
     * @param node its node
     * @param tables the memory
     * @throws viaduct::UsageError under another simulator
     */
    RBridgeSharedPlane(RBridge& rbridge, Ptr<Node> node, viaduct::broker::Tables tables);

    void Publish(const viaduct::rbridge::Tables& tables) override;

    /** Leaves the tables in the memory, those of a simulator that has died, until Release(). To be
     * called before the RBridge gets this plane. */
    void Hold();
    /** Publishes the RBridge's tables of now. No effect unless those in the memory are held. */
    void Release();

  private:
    RBridge& m_rbridge;                             //!< learns
    viaduct::forward::Mapping m_tables;             //!< memory
    viaduct::forward::RBridgeTablesWriter m_writer; //!< of m_tables
    EventListener m_listener;                       //!< where terminals are seen
    bool m_held{false};                             //!< nothing is published
};

} // namespace ns3

#endif // VIADUCT_RBRIDGE_SHARED_PLANE_H
