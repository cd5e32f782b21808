/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_EXAMPLE_H
#define VIADUCT_KERNEL_EXAMPLE_H

#include "ns3/node.h"
#include "ns3/simulator.h"
#include "ns3/socket-factory.h"

#include "base/error.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iostream>
#include <string>

/**
 * @file
 * Common code of the examples with kernel nodes.
 */

/** Checks the factory of the applications' sockets: for a wrong factory, ns-3 would end the program
 * without a helpful message. Throws UsageError if the node does not have the factory or the factory
 * is not suitable.
 * @param name the TypeId, as given with --factory
 * @param node a node that must have the factory
 * @param bulk whether BulkSendApplication uses the factory's sockets, which must have connections
 */
inline void
CheckFactory(const std::string& name, ns3::Ptr<const ns3::Node> node, bool bulk)
{
    ns3::TypeId id;
    if (!ns3::TypeId::LookupByNameFailSafe(name, &id) ||
        !id.IsChildOf(ns3::SocketFactory::GetTypeId()) || !node->GetObject<ns3::Object>(id))
    {
        throw viaduct::UsageError("--factory=" + name +
                                  ": the nodes have no such socket factory; nodes with a kernel "
                                  "have, for example, ns3::KernelTcpSocketFactory");
    }
    constexpr std::array CONNECTED{"ns3::TcpSocketFactory",
                                   "ns3::KernelTcpSocketFactory",
                                   "ns3::KernelMptcpSocketFactory",
                                   "ns3::KernelSctpSocketFactory",
                                   "ns3::KernelDccpSocketFactory"};
    if (bulk && std::find(CONNECTED.begin(), CONNECTED.end(), name) == CONNECTED.end())
    {
        throw viaduct::UsageError("--factory=" + name +
                                  ": this transfer requires connection-oriented sockets; use "
                                  "ns3::Kernel{Tcp,Mptcp,Sctp,Dccp}SocketFactory");
    }
}

/** Runs a simulation to its end and destroys it.
 * @param name the program's name
 * @param run runs the simulation; a viaduct::Error that it throws is printed as one line
 * @return the program's exit status
 */
inline int
RunKernelExample(const std::string& name, const std::function<void()>& run)
{
    int status = 0;
    try
    {
        run();
    }
    catch (const viaduct::Error& error)
    {
        std::cerr << name << ": " << error.what() << std::endl;
        status = static_cast<int>(error.status());
    }
    ns3::Simulator::Destroy();
    return status;
}

#endif // VIADUCT_KERNEL_EXAMPLE_H
