/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/kernel/kernel-mptcp-helper.h"

#include "ns3/base/wire-conversion.h"
#include "ns3/ipv4-address.h"
#include "ns3/ipv6-address.h"
#include "ns3/kernel/kernel-node.h"
#include "ns3/node.h"

#include "base/error.h"

#include <optional>
#include <string>

namespace ns3
{

namespace
{

Ptr<KernelNode>
KernelOf(Ptr<Node> node)
{
    auto kernel = node->GetObject<KernelNode>();
    if (!kernel)
    {
        throw viaduct::UsageError("node " + std::to_string(node->GetId()) +
                                  " has no kernel, which KernelMptcpHelper requires: install "
                                  "KernelStackHelper on the node");
    }
    return kernel;
}

std::optional<viaduct::wire::IpAddress>
GatewayOf(const Address& address)
{
    if (Ipv4Address::IsMatchingType(address))
    {
        return wireconversion::ToWire(Ipv4Address::ConvertFrom(address));
    }
    if (Ipv6Address::IsMatchingType(address))
    {
        return wireconversion::ToWire(Ipv6Address::ConvertFrom(address));
    }
    if (!address.IsInvalid())
    {
        throw viaduct::UsageError("the gateway of AddSourceRoute() is neither an Ipv4Address nor "
                                  "an Ipv6Address");
    }
    return std::nullopt;
}

} // namespace

void
KernelMptcpHelper::SetLimits(const NodeContainer& nodes, uint32_t subflows, uint32_t addresses)
{
    for (uint32_t i = 0; i < nodes.GetN(); ++i)
    {
        KernelOf(nodes.Get(i))->SetMptcpLimits(subflows, addresses);
    }
}

void
KernelMptcpHelper::AddEndpoint(Ptr<NetDevice> device, uint32_t flags)
{
    KernelOf(device->GetNode())->AddMptcpEndpoint(device, flags);
}

void
KernelMptcpHelper::AddSourceRoute(Ptr<NetDevice> device, const Address& gateway)
{
    KernelOf(device->GetNode())->AddSourceRoute(device, GatewayOf(gateway));
}

} // namespace ns3
