/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_HUB_HELPER_H
#define VIADUCT_HUB_HELPER_H

#include "ns3/node-container.h"
#include "ns3/object-factory.h"
#include "ns3/tunnel/remote-hub.h"

#include <string>

namespace ns3
{

/**
 * @ingroup viaduct
 * Gives nodes of a simulation in real time to remote hosts: the nodes' clients, which join by VXLAN
 * interfaces of their kernels.
 *
 * @code
 *   HubHelper hub;
 *   hub.SetHubAttribute("Port", UintegerValue(4789));
 *   Ptr<RemoteHub> remote = hub.Install(hosts);
 *   Simulator::Run();
 * @endcode
 *
 * The simulator must be ReactorSimulatorImpl. The global value `ChecksumEnabled` becomes true:
 * clients' kernels verify checksums.
 */
class HubHelper
{
  public:
    HubHelper();

    /**
     * @param name an attribute of RemoteHub ("Address", "Port", "QueueSize", "Readers")
     * @param value its value in hubs that are made after this call
     */
    void SetHubAttribute(const std::string& name, const AttributeValue& value)
    {
        m_hubs.Set(name, value);
    }

    /**
     * Make nodes remote and serve their clients from this call on. Must be called after all nodes
     * have their stacks, devices and addresses. The other nodes get guards against packets that
     * ns-3 cannot parse.
     * @param nodes nodes with one device each in addition to the loopback; the first node's VXLAN
     * identifier is 1, and so on
     * @param access the permitted clients of each node
     * @return the hub, which exists until Simulator::Destroy()
     * @throws viaduct::UsageError if a node has no device, or several, or the port is not available
     */
    Ptr<RemoteHub> Install(const NodeContainer& nodes,
                           const RemoteHub::Access& access = {.address = "", .anyone = true}) const;

  private:
    ObjectFactory m_hubs; //!< makes hubs
};

} // namespace ns3

#endif // VIADUCT_HUB_HELPER_H
