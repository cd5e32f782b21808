/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_HOST_SOCKET_HELPER_H
#define VIADUCT_HOST_SOCKET_HELPER_H

#include "ns3/net-device.h"
#include "ns3/node-container.h"
#include "ns3/node.h"
#include "ns3/offload/lab-helper.h"

#include <string>

namespace ns3
{

/**
 * @ingroup viaduct
 * Gives nodes sockets of this machine's kernel in a network namespace, so that ns-3's applications,
 * unmodified, send real traffic: through the data plane of a lab's node, or from any namespace.
 *
 * @code
 *   BulkSendHelper source("ns3::HostTcpSocketFactory", InetSocketAddress("10.0.1.2", 5201));
 *   ...
 *   LabHelper lab("offload");
 *   lab.Install(nodes);
 *   HostSocketHelper().Install(nodes, lab);
 * @endcode
 *
 * The simulator must be ReactorSimulatorImpl. Errors are thrown as viaduct::Error; in a program
 * with a LabHelper, an uncaught error is printed as one line and ends the program.
 */
class HostSocketHelper
{
  public:
    /** Sets whether applications without an attribute for their socket factory (UdpEcho, UdpClient,
     * ThreeGppHttp...) get the host's sockets, too. Routing protocols on the node would get the
     * host's sockets as well: only nodes with static, global or no routes can have this setting.
     * @param on the setting; default false
     */
    void SetDefault(bool on)
    {
        m_default = on;
    }

    /** Gives nodes of a lab the sockets of their namespaces. Sockets bound to a device, and
     * multicast groups joined on a device, need a node whose data plane is outside the simulator:
     * on other nodes programs have no access to the interfaces.
     * @param nodes the nodes
     * @param lab the lab, after its Install()
     * @throw viaduct::UsageError if the simulator or a node cannot have the host's sockets
     */
    void Install(const NodeContainer& nodes, const LabHelper& lab) const;

    /** Gives a node the sockets of a namespace.
     * @param node the node
     * @param networkNamespace the name of a namespace (`ip netns`), which requires CAP_SYS_ADMIN;
     * empty: the namespace of this process
     * @throw viaduct::UsageError if the simulator or the node cannot have the host's sockets
     * @throw viaduct::SystemError if the namespace does not exist
     */
    void Install(Ptr<Node> node, const std::string& networkNamespace = "") const;

    /** Sets the kernel's interface of a node's device, for sockets that are bound to the device,
     * and for multicast groups that are joined on it. Must be called after Install(node,
     * networkNamespace).
     * @param device the device
     * @param networkNamespace the same namespace as in Install()
     * @param interface the interface's name in the namespace
     * @throw viaduct::SystemError if the interface does not exist
     */
    static void SetInterface(Ptr<NetDevice> device,
                             const std::string& networkNamespace,
                             const std::string& interface);

  private:
    void Check(Ptr<Node> node) const;
    void Finish(Ptr<Node> node) const;

    bool m_default{false}; //!< the setting of SetDefault()
};

} // namespace ns3

#endif /* VIADUCT_HOST_SOCKET_HELPER_H */
