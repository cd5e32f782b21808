/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_SOCKET_FACTORY_H
#define VIADUCT_KERNEL_SOCKET_FACTORY_H

#include "ns3/socket/kernel-message-socket.h"
#include "ns3/socket/kernel-raw-socket.h"
#include "ns3/socket/kernel-tcp-socket.h"
#include "ns3/socket/kernel-udp-socket.h"

#include "ns3/ipv4-raw-socket-factory.h"
#include "ns3/ipv6-raw-socket-factory.h"
#include "ns3/node.h"
#include "ns3/socket-factory.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/udp-socket-factory.h"

#include <string>
#include <type_traits>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief Creates sockets of one class, which are sockets of the node's kernel.
 *
 * The name of the factory's TypeId is the name of its alias, e.g. ns3::KernelTcpSocketFactory. On a
 * node of KernelStackHelper, applications that ask for Base, one of ns-3's factories of a protocol,
 * get this factory.
 * @tparam Base the factory that this factory replaces for applications
 * @tparam KernelSocket the sockets' class
 */
template <class Base, class KernelSocket>
class KernelSocketFactory : public Base
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId()
    {
        // ns-3 has a factory of raw sockets for each family; KernelRawSocket serves both families.
        const std::string name = std::is_same_v<Base, Ipv6RawSocketFactory>
                                     ? "ns3::KernelRaw6Socket"
                                     : KernelSocket::GetTypeId().GetName();
        static TypeId tid = TypeId(name + "Factory")
                                .template SetParent<Base>()
                                .SetGroupName("Viaduct")
                                .template AddConstructor<KernelSocketFactory>();
        return tid;
    }

    Ptr<Socket> CreateSocket() override
    {
        auto socket = CreateObject<KernelSocket>();
        socket->SetNode(this->template GetObject<Node>());
        return socket;
    }
};

/** The factory of TCP sockets. */
using KernelTcpSocketFactory = KernelSocketFactory<TcpSocketFactory, KernelTcpSocket>;
/** The factory of UDP sockets. */
using KernelUdpSocketFactory = KernelSocketFactory<UdpSocketFactory, KernelUdpSocket>;
/**
 * The factory of raw sockets of both families, for applications that ask for ns-3's IPv4 factory.
 */
using KernelRawSocketFactory = KernelSocketFactory<Ipv4RawSocketFactory, KernelRawSocket>;
/**
 * The factory of raw sockets of both families, for applications that ask for ns-3's IPv6 factory.
 */
using KernelRaw6SocketFactory = KernelSocketFactory<Ipv6RawSocketFactory, KernelRawSocket>;
/** The factory of DCCP sockets. */
using KernelDccpSocketFactory = KernelSocketFactory<SocketFactory, KernelDccpSocket>;
/** The factory of SCTP sockets. */
using KernelSctpSocketFactory = KernelSocketFactory<SocketFactory, KernelSctpSocket>;
/** The factory of Multipath TCP sockets. */
using KernelMptcpSocketFactory = KernelSocketFactory<SocketFactory, KernelMptcpSocket>;

} // namespace ns3

#endif /* VIADUCT_KERNEL_SOCKET_FACTORY_H */
