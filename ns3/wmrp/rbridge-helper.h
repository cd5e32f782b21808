/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_RBRIDGE_HELPER_H
#define VIADUCT_RBRIDGE_HELPER_H

#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"
#include "ns3/wmrp/rbridge.h"

#include <string>

namespace ns3
{

/**
 * @ingroup viaduct
 * Installs RBridges on nodes. The RBridges forward the frames of all other nodes by the routing
 * protocol WMRP.
 */
class RBridgeHelper
{
  public:
    RBridgeHelper();

    /**
     * Sets an attribute of the RBridges that are created after this call.
     * @param name the name of an attribute of RBridge
     * @param value the attribute's value
     */
    void SetAttribute(const std::string& name, const AttributeValue& value)
    {
        m_factory.Set(name, value);
    }

    /** Installs an RBridge on a node, with all devices of the node as ports, except loopback
     * devices.
     * @param node the node
     * @return the RBridge
     */
    Ptr<RBridge> Install(Ptr<Node> node) const;
    /**
     * Installs an RBridge on each of several nodes, with all devices of the node as ports.
     * @param nodes the nodes
     */
    void Install(const NodeContainer& nodes) const;
    /**
     * Assigns random streams to RBridges.
     * @param nodes the nodes, which have RBridges
     * @param stream the number of the first random stream
     * @return the number of streams used
     */
    static int64_t AssignStreams(const NodeContainer& nodes, int64_t stream);

  private:
    ObjectFactory m_factory; //!< creates RBridges
};

} // namespace ns3

#endif // VIADUCT_RBRIDGE_HELPER_H
