/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_HOST_SOCKET_H
#define VIADUCT_HOST_SOCKET_H

#include "kernel-socket-factory.h"

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief TCP of this machine's kernel, in the network namespace of a node with HostSockets.
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
 * @brief UDP of this machine's kernel, the same.
 */
class HostUdpSocket : public KernelUdpSocket
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();
};

/**
 * The factory of the host's TCP sockets, requested by name: ns-3's own factory on the node stays
 * that of its protocols.
 */
using HostTcpSocketFactory = KernelSocketFactory<SocketFactory, HostTcpSocket>;
/** The factory of the host's UDP sockets, the same. */
using HostUdpSocketFactory = KernelSocketFactory<SocketFactory, HostUdpSocket>;

/**
 * @ingroup viaduct
 * @brief The factory of the host's TCP sockets for applications that ask for ns-3's.
 */
class HostTcpDefaultSocketFactory : public KernelSocketFactory<TcpSocketFactory, HostTcpSocket>
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();
};

/**
 * @ingroup viaduct
 * @brief The factory of the host's UDP sockets for applications that ask for ns-3's.
 */
class HostUdpDefaultSocketFactory : public KernelSocketFactory<UdpSocketFactory, HostUdpSocket>
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();
};

} // namespace ns3

#endif /* VIADUCT_HOST_SOCKET_H */
