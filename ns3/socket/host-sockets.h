/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_HOST_SOCKETS_H
#define VIADUCT_HOST_SOCKETS_H

#include "kernel-socket-stack.h"

#include "ns3/node.h"
#include "ns3/reactor-simulator-impl.h"

#include "guest/service/host_agent.h"

#include <cstdint>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief The host's sockets of one node: an agent in this process, which the reactor's loop serves.
 *
 * Requests of applications are carried out at the end of the instant; what happens to the sockets
 * arrives in events of the node. No threads.
 */
class HostSockets
{
  public:
    /** What kind of socket to open. */
    using Request = viaduct::guest::agent::OpenSocket;
    /** Opens a socket in the node's network namespace; throws viaduct::Error. */
    using Opener = viaduct::guest::service::Sockets::Opener;

    /** Gives a node the host's sockets, until it is disposed of.
     * @param node the node, which has no KernelSocketStack
     * @param open opens its sockets
     * @return its stack, for SetDevice()
     * @throw viaduct::UsageError if the simulator is not ReactorSimulatorImpl
     */
    static Ptr<KernelSocketStack> Install(Ptr<Node> node, Opener open);

    /** Lets applications that ask for ns3::TcpSocketFactory or ns3::UdpSocketFactory, or that
     * cannot be told a factory, have the host's sockets.
     * @param node a node of Install()
     */
    static void MakeDefault(Ptr<Node> node);

    /**
     * @param nodeId the context of its events
     * @param open opens sockets
     */
    HostSockets(uint32_t nodeId, Opener open);
    ~HostSockets();
    HostSockets(const HostSockets&) = delete;
    HostSockets& operator=(const HostSockets&) = delete;

  private:
    bool Work();

    Ptr<ReactorSimulatorImpl> m_reactor;        //!< serves the agent
    viaduct::guest::service::HostAgent m_agent; //!< has the sockets
    viaduct::guest::AgentClient m_client;       //!< of the agent
    uint32_t m_port;                            //!< the agent's number in the reactor
};

} // namespace ns3

#endif /* VIADUCT_HOST_SOCKETS_H */
