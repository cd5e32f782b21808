/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/socket/host-socket.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(HostTcpSocket);
NS_OBJECT_ENSURE_REGISTERED(HostUdpSocket);
NS_OBJECT_ENSURE_REGISTERED(HostTcpSocketFactory);
NS_OBJECT_ENSURE_REGISTERED(HostUdpSocketFactory);
NS_OBJECT_ENSURE_REGISTERED(HostTcpDefaultSocketFactory);
NS_OBJECT_ENSURE_REGISTERED(HostUdpDefaultSocketFactory);

TypeId
HostTcpSocket::GetTypeId()
{
    static TypeId tid = TypeId("ns3::HostTcpSocket")
                            .SetParent<KernelTcpSocket>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<HostTcpSocket>();
    return tid;
}

TypeId
HostUdpSocket::GetTypeId()
{
    static TypeId tid = TypeId("ns3::HostUdpSocket")
                            .SetParent<KernelUdpSocket>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<HostUdpSocket>();
    return tid;
}

TypeId
HostTcpDefaultSocketFactory::GetTypeId()
{
    static TypeId tid = TypeId("ns3::HostTcpDefaultSocketFactory")
                            .SetParent<TcpSocketFactory>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<HostTcpDefaultSocketFactory>();
    return tid;
}

TypeId
HostUdpDefaultSocketFactory::GetTypeId()
{
    static TypeId tid = TypeId("ns3::HostUdpDefaultSocketFactory")
                            .SetParent<UdpSocketFactory>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<HostUdpDefaultSocketFactory>();
    return tid;
}

} // namespace ns3
