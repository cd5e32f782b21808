/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_HOST_SOCKETS_H
#define VIADUCT_HOST_SOCKETS_H

#include "ns3/socket/kernel-socket-stack.h"

#include "ns3/node.h"
#include "ns3/reactor/reactor-simulator-impl.h"

#include "guest/service/host_agent.h"

#include <cstdint>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief The sockets of this machine's kernel for one node: an agent in this process, which the
 * reactor's loop serves, holds the sockets.
 *
 * Requests of applications are performed at the end of the simulated instant; events of the sockets
 * arrive as simulator events of the node. No threads are used.
 */
class HostSockets
{
  public:
    /** The kind of socket to open. */
    using Request = viaduct::guest::agent::OpenSocket;
    /** Opens a socket in the node's network namespace; throws viaduct::Error. */
    using Opener = viaduct::guest::service::Sockets::Opener;

    /** Gives a node sockets of this machine's kernel, until the node is disposed of.
     * @param node the node, which has no KernelSocketStack
     * @param open opens the node's sockets
     * @return the node's stack, for SetDevice()
     * @throw viaduct::UsageError if the simulator is not ReactorSimulatorImpl
     */
    static Ptr<KernelSocketStack> Install(Ptr<Node> node, Opener open);

    /** Gives sockets of this machine's kernel to applications that ask for ns3::TcpSocketFactory or
     * ns3::UdpSocketFactory, or that have no attribute for a factory.
     * @param node a node on which Install() was called
     */
    static void MakeDefault(Ptr<Node> node);

    /**
     * @param nodeId the node in whose context events run
     * @param open opens sockets
     */
    HostSockets(uint32_t nodeId, Opener open);
    ~HostSockets();
    HostSockets(const HostSockets&) = delete;
    HostSockets& operator=(const HostSockets&) = delete;

  private:
    bool Work();

    Ptr<ReactorSimulatorImpl> m_reactor;        //!< serves the agent
    viaduct::guest::service::HostAgent m_agent; //!< holds the sockets
    viaduct::guest::AgentClient m_client;       //!< sends requests to the agent
    uint32_t m_port;                            //!< the agent's id in the reactor
};

} // namespace ns3

#endif /* VIADUCT_HOST_SOCKETS_H */
