/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/offload/host-socket-helper.h"

#include "ns3/base/global-routing-class.h"
#include "ns3/base/path-seed.h"
#include "ns3/ipv4-list-routing.h"
#include "ns3/ipv4-static-routing.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6-list-routing.h"
#include "ns3/ipv6-static-routing.h"
#include "ns3/ipv6.h"
#include "ns3/socket/host-sockets.h"

#include "base/error.h"
#include "base/fd.h"
#include "sys/descriptor_limit.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"

#include <memory>
#include <set>
#include <sys/socket.h>
#include <utility>
#include <vector>

namespace ns3
{

namespace
{

using viaduct::UniqueFd;
using viaduct::UsageError;

UniqueFd
OpenNamespaceOrOwn(const std::string& name)
{
    return name.empty() ? viaduct::sys::OpenCurrentNamespace() : viaduct::sys::OpenNamespace(name);
}

HostSockets::Opener
OpenerIn(const std::string& networkNamespace)
{
    const auto space = std::make_shared<UniqueFd>(OpenNamespaceOrOwn(networkNamespace));
    return [space](const HostSockets::Request& request) {
        const viaduct::sys::NamespaceScope scope(space->get());
        return UniqueFd(viaduct::SystemCall("open a socket",
                                            socket(request.family,
                                                   request.type | SOCK_NONBLOCK | SOCK_CLOEXEC,
                                                   static_cast<int>(request.protocol))));
    };
}

HostSockets::Opener
OpenerOf(std::shared_ptr<viaduct::broker::Client> broker, const std::string& node)
{
    using Options = viaduct::broker::TransportSocketOptions;
    return [broker, node](const HostSockets::Request& request) {
        return broker->OpenTransportSocket(
            {node,
             request.family == AF_INET ? viaduct::wire::Family::kIpv4
                                       : viaduct::wire::Family::kIpv6,
             request.type == SOCK_STREAM ? Options::Kind::kTcp : Options::Kind::kUdp});
    };
}

/** Tells a stack the kernel's interfaces of a lab node's devices: of the simulated devices and of
 * the devices that have replaced the simulated devices. */
void
SetInterfaces(KernelSocketStack& stack, const LabHelper& lab, const std::string& node)
{
    for (const auto& attachment : lab.GetAttachments())
    {
        if (attachment.nodeName == node)
        {
            const int ifindex = lab.GetBroker()->IfIndex({node, attachment.interface});
            stack.SetDevice(attachment.original, ifindex, attachment.interface);
            stack.SetDevice(attachment.device, ifindex, attachment.interface);
        }
    }
}

void
RequireNoSockets(Ptr<Node> node)
{
    if (node->GetObject<KernelSocketStack>())
    {
        throw UsageError("HostSocketHelper: node " + LabNodeName(node) +
                         " already has kernel sockets; install only one kind of sockets");
    }
}

/** @return the routing protocols of a node's Ip object; for a list, the member protocols of the
 * list */
template <class Ip, class List>
std::vector<Ptr<Object>>
RoutingProtocols(Ptr<Node> node)
{
    const auto ip = node->GetObject<Ip>();
    const auto protocol = ip ? ip->GetRoutingProtocol() : nullptr;
    const auto list = DynamicCast<List>(protocol);
    if (!list)
    {
        return {protocol};
    }
    std::vector<Ptr<Object>> protocols;
    for (uint32_t i = 0; i < list->GetNRoutingProtocols(); ++i)
    {
        int16_t priority;
        protocols.push_back(list->GetRoutingProtocol(i, priority));
    }
    return protocols;
}

void
RequireNoProtocol(Ptr<Node> node)
{
    auto protocols = RoutingProtocols<Ipv4, Ipv4ListRouting>(node);
    const auto ofIpv6 = RoutingProtocols<Ipv6, Ipv6ListRouting>(node);
    protocols.insert(protocols.end(), ofIpv6.begin(), ofIpv6.end());
    const std::set<TypeId> silent = {Ipv4StaticRouting::GetTypeId(),
                                     Ipv4GlobalRouting::GetTypeId(),
                                     Ipv6StaticRouting::GetTypeId()};
    for (const auto& protocol : protocols)
    {
        if (protocol && !silent.contains(protocol->GetInstanceTypeId()))
        {
            throw UsageError("HostSocketHelper: the sockets of " +
                             protocol->GetInstanceTypeId().GetName() + " on node " +
                             LabNodeName(node) +
                             " would also become host sockets by default; do not call "
                             "SetDefault(), and set the socket factory in the applications "
                             "instead");
        }
    }
}

} // namespace

void
HostSocketHelper::Check(Ptr<Node> node) const
{
    RequireNoSockets(node);
    if (m_default)
    {
        RequireNoProtocol(node);
    }
}

void
HostSocketHelper::Finish(Ptr<Node> node) const
{
    viaduct::sys::RaiseDescriptorLimit();
    if (m_default)
    {
        HostSockets::MakeDefault(node);
    }
}

void
HostSocketHelper::Install(const NodeContainer& nodes, const LabHelper& lab) const
{
    for (auto i = nodes.Begin(); i != nodes.End(); ++i)
    {
        Check(*i);
        const std::string name = LabNodeName(*i);
        const auto stack = HostSockets::Install(*i, OpenerOf(lab.GetBroker(), name));
        const auto offload = lab.GetOffloads().find(name);
        if (offload != lab.GetOffloads().end())
        {
            SetInterfaces(*stack, lab, name);
            stack->SetRouteUpdate([routes = offload->second.routes] { routes->Update(); });
        }
        Finish(*i);
    }
}

void
HostSocketHelper::Install(Ptr<Node> node, const std::string& networkNamespace) const
{
    Check(node);
    HostSockets::Install(node, OpenerIn(networkNamespace));
    Finish(node);
}

void
HostSocketHelper::SetInterface(Ptr<NetDevice> device,
                               const std::string& networkNamespace,
                               const std::string& interface)
{
    const auto stack = device->GetNode()->GetObject<KernelSocketStack>();
    NS_ABORT_MSG_UNLESS(stack,
                        "HostSocketHelper::SetInterface() was called before Install(); call "
                        "Install() first");
    const UniqueFd space = OpenNamespaceOrOwn(networkNamespace);
    const int ifindex = viaduct::sys::Netlink(space.get()).IfIndex(interface);
    stack->SetDevice(device, ifindex, interface);
}

} // namespace ns3
