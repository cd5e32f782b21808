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

/**
 * @file
 * @ingroup viaduct
 * Declarations of ns3::KernelTcpSocketFactory and its kin.
 */

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief Makes sockets of TCP of the node's kernel.
 *
 * On a node of KernelStackHelper it is what applications find that ask for ns3::TcpSocketFactory,
 * and its kin for ns3::UdpSocketFactory, ns3::Ipv4RawSocketFactory and ns3::Ipv6RawSocketFactory.
 */
class KernelTcpSocketFactory : public TcpSocketFactory
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();
    Ptr<Socket> CreateSocket() override;
};

/** @ingroup viaduct @brief Makes sockets of UDP of the node's kernel. */
class KernelUdpSocketFactory : public UdpSocketFactory
{
  public:
    /** @copydoc KernelTcpSocketFactory::GetTypeId */
    static TypeId GetTypeId();
    Ptr<Socket> CreateSocket() override;
};

/** @ingroup viaduct @brief Makes raw sockets of the node's kernel, of both families. */
class KernelRawSocketFactory : public Ipv4RawSocketFactory
{
  public:
    /** @copydoc KernelTcpSocketFactory::GetTypeId */
    static TypeId GetTypeId();
    Ptr<Socket> CreateSocket() override;
};

/** @ingroup viaduct @brief The same for those who ask for ns3::Ipv6RawSocketFactory. */
class KernelRaw6SocketFactory : public Ipv6RawSocketFactory
{
  public:
    /** @copydoc KernelTcpSocketFactory::GetTypeId */
    static TypeId GetTypeId();
    Ptr<Socket> CreateSocket() override;
};

/** @ingroup viaduct @brief Makes sockets of DCCP of the node's kernel. */
class KernelDccpSocketFactory : public SocketFactory
{
  public:
    /** @copydoc KernelTcpSocketFactory::GetTypeId */
    static TypeId GetTypeId();
    Ptr<Socket> CreateSocket() override;
};

/** @ingroup viaduct @brief Makes sockets of SCTP of the node's kernel. */
class KernelSctpSocketFactory : public SocketFactory
{
  public:
    /** @copydoc KernelTcpSocketFactory::GetTypeId */
    static TypeId GetTypeId();
    Ptr<Socket> CreateSocket() override;
};

/** @ingroup viaduct @brief Makes sockets of Multipath TCP of the node's kernel. */
class KernelMptcpSocketFactory : public SocketFactory
{
  public:
    /** @copydoc KernelTcpSocketFactory::GetTypeId */
    static TypeId GetTypeId();
    Ptr<Socket> CreateSocket() override;
};

} // namespace ns3

#endif /* VIADUCT_KERNEL_SOCKET_FACTORY_H */
