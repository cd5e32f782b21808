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
 * Gives nodes of a simulation in real time to remote hosts. The hosts are the nodes' clients and
 * join with VXLAN interfaces of their kernels.
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

    /** Sets an attribute of the hubs.
     * @param name an attribute of RemoteHub ("Address", "Port", "QueueSize", "Readers")
     * @param value the attribute's value in hubs that Install() creates after this call
     */
    void SetHubAttribute(const std::string& name, const AttributeValue& value)
    {
        m_hubs.Set(name, value);
    }

    /**
     * Makes nodes remote and serves their clients from this call on. Must be called after all nodes
     * have their stacks, devices and addresses. The nodes that are not remote get guards against
     * packets that ns-3 cannot parse (TransportGuard).
     * @param nodes nodes with one device each in addition to the loopback device; their VXLAN
     * identifiers are 1, 2 and so on
     * @param access the permitted clients of each node
     * @return the hub, which exists until Simulator::Destroy()
     * @throws viaduct::UsageError if a node has no device, or several, or the port is not available
     */
    Ptr<RemoteHub> Install(const NodeContainer& nodes,
                           const RemoteHub::Access& access = {.address = "", .anyone = true}) const;

  private:
    ObjectFactory m_hubs; //!< factory of hubs
};

} // namespace ns3

#endif // VIADUCT_HUB_HELPER_H
