/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "kernel-socket-factory.h"

#include "kernel-message-socket.h"
#include "kernel-raw-socket.h"
#include "kernel-tcp-socket.h"
#include "kernel-udp-socket.h"

#include "ns3/node.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(KernelTcpSocketFactory);
NS_OBJECT_ENSURE_REGISTERED(KernelUdpSocketFactory);
NS_OBJECT_ENSURE_REGISTERED(KernelRawSocketFactory);
NS_OBJECT_ENSURE_REGISTERED(KernelRaw6SocketFactory);
NS_OBJECT_ENSURE_REGISTERED(KernelDccpSocketFactory);
NS_OBJECT_ENSURE_REGISTERED(KernelSctpSocketFactory);
NS_OBJECT_ENSURE_REGISTERED(KernelMptcpSocketFactory);

namespace
{

template <class S>
Ptr<Socket>
MakeSocket(const Object& factory)
{
    auto socket = CreateObject<S>();
    socket->SetNode(factory.GetObject<Node>());
    return socket;
}

} // namespace

TypeId
KernelTcpSocketFactory::GetTypeId()
{
    static TypeId tid = TypeId("ns3::KernelTcpSocketFactory")
                            .SetParent<TcpSocketFactory>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<KernelTcpSocketFactory>();
    return tid;
}

Ptr<Socket>
KernelTcpSocketFactory::CreateSocket()
{
    return MakeSocket<KernelTcpSocket>(*this);
}

TypeId
KernelUdpSocketFactory::GetTypeId()
{
    static TypeId tid = TypeId("ns3::KernelUdpSocketFactory")
                            .SetParent<UdpSocketFactory>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<KernelUdpSocketFactory>();
    return tid;
}

Ptr<Socket>
KernelUdpSocketFactory::CreateSocket()
{
    return MakeSocket<KernelUdpSocket>(*this);
}

TypeId
KernelRawSocketFactory::GetTypeId()
{
    static TypeId tid = TypeId("ns3::KernelRawSocketFactory")
                            .SetParent<Ipv4RawSocketFactory>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<KernelRawSocketFactory>();
    return tid;
}

Ptr<Socket>
KernelRawSocketFactory::CreateSocket()
{
    return MakeSocket<KernelRawSocket>(*this);
}

TypeId
KernelRaw6SocketFactory::GetTypeId()
{
    static TypeId tid = TypeId("ns3::KernelRaw6SocketFactory")
                            .SetParent<Ipv6RawSocketFactory>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<KernelRaw6SocketFactory>();
    return tid;
}

Ptr<Socket>
KernelRaw6SocketFactory::CreateSocket()
{
    return MakeSocket<KernelRawSocket>(*this);
}

TypeId
KernelDccpSocketFactory::GetTypeId()
{
    static TypeId tid = TypeId("ns3::KernelDccpSocketFactory")
                            .SetParent<SocketFactory>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<KernelDccpSocketFactory>();
    return tid;
}

Ptr<Socket>
KernelDccpSocketFactory::CreateSocket()
{
    return MakeSocket<KernelDccpSocket>(*this);
}

TypeId
KernelSctpSocketFactory::GetTypeId()
{
    static TypeId tid = TypeId("ns3::KernelSctpSocketFactory")
                            .SetParent<SocketFactory>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<KernelSctpSocketFactory>();
    return tid;
}

Ptr<Socket>
KernelSctpSocketFactory::CreateSocket()
{
    return MakeSocket<KernelSctpSocket>(*this);
}

TypeId
KernelMptcpSocketFactory::GetTypeId()
{
    static TypeId tid = TypeId("ns3::KernelMptcpSocketFactory")
                            .SetParent<SocketFactory>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<KernelMptcpSocketFactory>();
    return tid;
}

Ptr<Socket>
KernelMptcpSocketFactory::CreateSocket()
{
    return MakeSocket<KernelMptcpSocket>(*this);
}

} // namespace ns3
