/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_HOST_SOCKET_H
#define VIADUCT_HOST_SOCKET_H

#include "ns3/socket/kernel-socket-factory.h"

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief A TCP socket of this machine's kernel, in the network namespace of a node with
 * HostSockets.
 *
 * The trace sources of KernelTcpSocket report nothing: only guests are sampled.
 */
class HostTcpSocket : public KernelTcpSocket
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();
};

/**
 * @ingroup viaduct
 * @brief A UDP socket of this machine's kernel, in the network namespace of a node with
 * HostSockets.
 */
class HostUdpSocket : public KernelUdpSocket
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();
};

/**
 * The factory of HostTcpSocket, requested by name: ns-3's own factory on the node continues to
 * create the sockets of ns-3's protocols.
 */
using HostTcpSocketFactory = KernelSocketFactory<SocketFactory, HostTcpSocket>;
/** The factory of HostUdpSocket, requested by name. */
using HostUdpSocketFactory = KernelSocketFactory<SocketFactory, HostUdpSocket>;

/**
 * @ingroup viaduct
 * @brief The factory of HostTcpSocket for applications that ask for ns3::TcpSocketFactory.
 */
class HostTcpDefaultSocketFactory : public KernelSocketFactory<TcpSocketFactory, HostTcpSocket>
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();
};

/**
 * @ingroup viaduct
 * @brief The factory of HostUdpSocket for applications that ask for ns3::UdpSocketFactory.
 */
class HostUdpDefaultSocketFactory : public KernelSocketFactory<UdpSocketFactory, HostUdpSocket>
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();
};

} // namespace ns3

#endif /* VIADUCT_HOST_SOCKET_H */
