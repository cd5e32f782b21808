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
 * Makes nodes RBridges, which carry the frames of the other nodes by WMRP.
 */
class RBridgeHelper
{
  public:
    RBridgeHelper();

    /**
     * @param name an attribute of RBridge
     * @param value its value in RBridges that are created after this call
     */
    void SetAttribute(const std::string& name, const AttributeValue& value)
    {
        m_factory.Set(name, value);
    }

    /** Makes a node an RBridge with all its devices as ports.
     * @param node the node
     * @return the RBridge
     */
    Ptr<RBridge> Install(Ptr<Node> node) const;
    /**
     * @param nodes the nodes, each with all its devices
     */
    void Install(const NodeContainer& nodes) const;
    /**
     * @param nodes RBridges
     * @param stream the number of the first random stream
     * @return the number of streams used
     */
    static int64_t AssignStreams(const NodeContainer& nodes, int64_t stream);

  private:
    ObjectFactory m_factory; //!< makes RBridges
};

} // namespace ns3

#endif // VIADUCT_RBRIDGE_HELPER_H
