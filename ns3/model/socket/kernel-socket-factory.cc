/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "kernel-socket-factory.h"

#include "kernel-message-socket.h"
#include "kernel-raw-socket.h"
#include "kernel-tcp-socket.h"
#include "kernel-udp-socket.h"

#include "ns3/node.h"

#include <string>
#include <type_traits>

namespace ns3
{

template <class Base, class KernelSocket>
TypeId
KernelSocketFactory<Base, KernelSocket>::GetTypeId()
{
    // ns-3 has a factory of raw sockets for each family, the kernel's class serves both.
    const std::string name = std::is_same_v<Base, Ipv6RawSocketFactory>
                                 ? "ns3::KernelRaw6Socket"
                                 : KernelSocket::GetTypeId().GetName();
    static TypeId tid = TypeId(name + "Factory")
                            .template SetParent<Base>()
                            .SetGroupName("Viaduct")
                            .template AddConstructor<KernelSocketFactory>();
    return tid;
}

template <class Base, class KernelSocket>
Ptr<Socket>
KernelSocketFactory<Base, KernelSocket>::CreateSocket()
{
    auto socket = CreateObject<KernelSocket>();
    socket->SetNode(this->template GetObject<Node>());
    return socket;
}

template class KernelSocketFactory<TcpSocketFactory, KernelTcpSocket>;
template class KernelSocketFactory<UdpSocketFactory, KernelUdpSocket>;
template class KernelSocketFactory<Ipv4RawSocketFactory, KernelRawSocket>;
template class KernelSocketFactory<Ipv6RawSocketFactory, KernelRawSocket>;
template class KernelSocketFactory<SocketFactory, KernelDccpSocket>;
template class KernelSocketFactory<SocketFactory, KernelSctpSocket>;
template class KernelSocketFactory<SocketFactory, KernelMptcpSocket>;

NS_OBJECT_ENSURE_REGISTERED(KernelTcpSocketFactory);
NS_OBJECT_ENSURE_REGISTERED(KernelUdpSocketFactory);
NS_OBJECT_ENSURE_REGISTERED(KernelRawSocketFactory);
NS_OBJECT_ENSURE_REGISTERED(KernelRaw6SocketFactory);
NS_OBJECT_ENSURE_REGISTERED(KernelDccpSocketFactory);
NS_OBJECT_ENSURE_REGISTERED(KernelSctpSocketFactory);
NS_OBJECT_ENSURE_REGISTERED(KernelMptcpSocketFactory);

} // namespace ns3
