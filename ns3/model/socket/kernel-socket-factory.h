/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_SOCKET_FACTORY_H
#define VIADUCT_KERNEL_SOCKET_FACTORY_H

#include "ns3/ipv4-raw-socket-factory.h"
#include "ns3/ipv6-raw-socket-factory.h"
#include "ns3/socket-factory.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/udp-socket-factory.h"

namespace ns3
{

class KernelDccpSocket;
class KernelMptcpSocket;
class KernelRawSocket;
class KernelSctpSocket;
class KernelTcpSocket;
class KernelUdpSocket;

/**
 * @ingroup viaduct
 * @brief Creates sockets of one class, which are those of the node's kernel.
 *
 * Its TypeId has the name of the alias below. On a node of KernelStackHelper, applications that ask
 * for Base, one of ns-3's factories of a protocol, get this factory.
 * @tparam Base the factory that it replaces for applications
 * @tparam KernelSocket the sockets' class
 */
template <class Base, class KernelSocket>
class KernelSocketFactory : public Base
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();
    Ptr<Socket> CreateSocket() override;
};

/** The factory of TCP sockets. */
using KernelTcpSocketFactory = KernelSocketFactory<TcpSocketFactory, KernelTcpSocket>;
/** The factory of UDP sockets. */
using KernelUdpSocketFactory = KernelSocketFactory<UdpSocketFactory, KernelUdpSocket>;
/**
 * The factory of raw sockets of both families, for applications that ask for ns-3's IPv4 factory.
 */
using KernelRawSocketFactory = KernelSocketFactory<Ipv4RawSocketFactory, KernelRawSocket>;
/** The same for applications that ask for ns-3's IPv6 factory. */
using KernelRaw6SocketFactory = KernelSocketFactory<Ipv6RawSocketFactory, KernelRawSocket>;
/** The factory of DCCP sockets. */
using KernelDccpSocketFactory = KernelSocketFactory<SocketFactory, KernelDccpSocket>;
/** The factory of SCTP sockets. */
using KernelSctpSocketFactory = KernelSocketFactory<SocketFactory, KernelSctpSocket>;
/** The factory of Multipath TCP sockets. */
using KernelMptcpSocketFactory = KernelSocketFactory<SocketFactory, KernelMptcpSocket>;

extern template class KernelSocketFactory<TcpSocketFactory, KernelTcpSocket>;
extern template class KernelSocketFactory<UdpSocketFactory, KernelUdpSocket>;
extern template class KernelSocketFactory<Ipv4RawSocketFactory, KernelRawSocket>;
extern template class KernelSocketFactory<Ipv6RawSocketFactory, KernelRawSocket>;
extern template class KernelSocketFactory<SocketFactory, KernelDccpSocket>;
extern template class KernelSocketFactory<SocketFactory, KernelSctpSocket>;
extern template class KernelSocketFactory<SocketFactory, KernelMptcpSocket>;

} // namespace ns3

#endif /* VIADUCT_KERNEL_SOCKET_FACTORY_H */
