/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/node-stacks.h"

#include "ns3/sim/dont-fragment-routing.h"
#include "ns3/sim/source-multicast-routing.h"
#include "ns3/sim/type-check.h"

#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/icmpv6-l4-protocol.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-routing-helper.h"
#include "ns3/ipv4-static-routing.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/ipv6-list-routing.h"
#include "ns3/ipv6-routing-helper.h"
#include "ns3/ipv6-static-routing.h"
#include "ns3/kernel/kernel-guest.h"
#include "ns3/kernel/kernel-node.h"
#include "ns3/kernel/kernel-stack-helper.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include "base/error.h"
#include "scenario/protocols.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

namespace ns3::sim
{

using viaduct::scenario::NodeSettings;
using viaduct::scenario::Scenario;

namespace
{

bool
HasIpv6(const Scenario& scenario)
{
    const auto hasIpv6 = [](const auto& prefixes) {
        return std::any_of(prefixes.begin(), prefixes.end(), [](const auto& prefix) {
            return prefix.address.family == viaduct::wire::Family::kIpv6;
        });
    };
    return std::any_of(scenario.links.begin(),
                       scenario.links.end(),
                       [&](const auto& link) { return hasIpv6(link.addresses); }) ||
           std::any_of(scenario.nodes.begin(), scenario.nodes.end(), [&](const auto& node) {
               return hasIpv6(node.loopback);
           });
}

/** A routing helper that returns existing routing protocols: the stack helpers accept only a
 * helper. */
template <class Helper, class Protocol>
class GivenRouting : public Helper
{
  public:
    /**
     * @param node a node
     * @param protocol the protocol that Create() returns for the node
     */
    void Add(Ptr<Node> node, Ptr<Protocol> protocol)
    {
        m_protocols[node] = protocol;
    }

    GivenRouting* Copy() const override
    {
        return new GivenRouting(*this);
    }

    Ptr<Protocol> Create(Ptr<Node> node) const override
    {
        return m_protocols.at(node);
    }

  private:
    std::map<Ptr<Node>, Ptr<Protocol>> m_protocols; //!< the protocols that Create() returns
};

/**
 * The nodes whose stack is a kernel of one version, or the nodes that have ns-3's own stack; and
 * the routing protocols of these nodes.
 */
struct StackGroup
{
    NodeContainer nodes;                                       //!< the nodes
    GivenRouting<Ipv4RoutingHelper, Ipv4RoutingProtocol> ipv4; //!< routing protocols for IPv4
    GivenRouting<Ipv6RoutingHelper, Ipv6RoutingProtocol> ipv6; //!< routing protocols for IPv6
};

void
InstallKernel(const StackGroup& group, const std::string& version, const Scenario& scenario)
{
    using viaduct::scenario::GuestPlace;
    KernelStackHelper stack;
    if (scenario.kernel_memory)
    {
        stack.SetAttribute("Memory", UintegerValue(*scenario.kernel_memory));
    }
    stack.SetAttribute("Kernel", StringValue(version));
    // Programs may run as other users than the simulator does, so a scenario with programs runs its
    // guests in processes of their own by default (docs/security.md).
    const GuestPlace place = scenario.guests.value_or(
        scenario.programs.empty() ? GuestPlace::kEmbedded : GuestPlace::kProcess);
    stack.SetAttribute(
        "Place",
        EnumValue(place == GuestPlace::kEmbedded ? KernelGuest::EMBEDDED : KernelGuest::PROCESS));
    stack.SetRoutingHelper(group.ipv4);
    stack.SetRoutingHelper(group.ipv6);
    stack.Install(group.nodes);
}

void
InstallNs3(const StackGroup& group, bool ipv6)
{
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(ipv6);
    stack.SetRoutingHelper(group.ipv4);
    stack.SetRoutingHelper(group.ipv6);
    stack.Install(group.nodes);
}

/** Adds a node to a group, and gives the node static routing; a router also gets the routing
 * protocol. */
void
AddNode(StackGroup& group, Ptr<Node> node, bool runsProtocol, const ObjectFactory& protocols)
{
    auto list4 = CreateObject<DontFragmentRouting>();
    auto list6 = CreateObject<Ipv6ListRouting>();
    list4->AddRoutingProtocol(CreateObject<Ipv4SourceStaticRouting>(), 0);
    list6->AddRoutingProtocol(CreateObject<Ipv6SourceStaticRouting>(), 0);
    if (runsProtocol && protocols.IsTypeIdSet())
    {
        Ptr<Object> protocol = protocols.Create<Object>();
        // OLSR, RIP, DSDV and AODV find their node among the objects that are aggregated to them.
        node->AggregateObject(protocol);
        if (auto ipv6 = DynamicCast<Ipv6RoutingProtocol>(protocol))
        {
            list6->AddRoutingProtocol(ipv6, 10);
        }
        else
        {
            list4->AddRoutingProtocol(DynamicCast<Ipv4RoutingProtocol>(protocol), 10);
        }
    }
    group.nodes.Add(node);
    group.ipv4.Add(node, list4);
    group.ipv6.Add(node, list6);
}

void
ConfigureStack(Ptr<Node> node, const NodeSettings& settings, bool ipv6)
{
    if (const auto ip = node->GetObject<Ipv4>())
    {
        ip->SetAttribute("IpForward", BooleanValue(!settings.host));
    }
    if (ipv6)
    {
        Ptr<Ipv6L3Protocol> ip = node->GetObject<Ipv6L3Protocol>();
        ip->SetAttribute("IpForward", BooleanValue(!settings.host));
        // A node accepts packets to any of its addresses on all of its links, as kernels and ns-3's
        // IPv4 do (the weak end system model of RFC 1122). Otherwise the single route to a network
        // might not reach all of the network's nodes.
        ip->SetAttribute("StrongEndSystemModel", BooleanValue(false));
        // Duplicate address detection (DAD) is off, as in a lab's kernels: each frame of DAD would
        // count as a loss.
        node->GetObject<Icmpv6L4Protocol>()->SetAttribute("DAD", BooleanValue(false));
    }
    if (const auto kernel = node->GetObject<KernelNode>())
    {
        for (const auto& [name, value] : settings.sysctls)
        {
            kernel->SetSysctl(name, value);
        }
    }
}

} // namespace

std::vector<std::string>
IgnoredSettings(const Scenario& scenario)
{
    const auto isOfNeighbours = [](const std::string& name) {
        return name.starts_with("net.ipv4.neigh.") || name.starts_with("net.ipv6.neigh.");
    };
    std::vector<std::string> sentences;
    for (const NodeSettings& node : scenario.nodes)
    {
        std::string names;
        for (const auto& [name, value] : node.sysctls)
        {
            if (!node.kernel && !isOfNeighbours(name))
            {
                names += (names.empty() ? "" : ", ") + name;
            }
        }
        if (!names.empty())
        {
            sentences.push_back("sysctls of " + node.name + ": ns-3's own stack does not support " +
                                names + "; set stack: kernel for the node");
        }
    }
    return sentences;
}

ObjectFactory
ProtocolFactory(const Scenario& scenario)
{
    if (viaduct::scenario::FrameNodesOf(scenario))
    {
        return {}; // nodes that forward frames have no routing protocol above IP
    }
    const viaduct::scenario::Routing& routing = scenario.routing;
    const bool isNone = routing.protocol == viaduct::scenario::kNoProtocol;
    if (!isNone && routing.protocol != "static")
    {
        return CheckedFactory(routing.protocol,
                              {Ipv4RoutingProtocol::GetTypeId(), Ipv6RoutingProtocol::GetTypeId()},
                              routing.attributes);
    }
    if (!routing.attributes.empty())
    {
        throw viaduct::UsageError("routing.attributes: " + routing.protocol +
                                  " has no attributes; remove routing.attributes");
    }
    return {};
}

void
InstallStacks(const Scenario& scenario, const Network& network)
{
    const NodeContainer& nodes = network.GetNodes();
    const ObjectFactory protocols = ProtocolFactory(scenario);
    const bool ipv6 = HasIpv6(scenario);
    // The groups of nodes, by the version of the kernel; no version: ns-3's own stack.
    std::map<std::optional<std::string>, StackGroup> groups;
    for (uint32_t i = 0; i < scenario.nodes.size(); i++)
    {
        const NodeSettings& settings = scenario.nodes[i];
        if (!network.IsLocal(settings.name))
        {
            continue;
        }
        AddNode(groups[settings.kernel],
                nodes.Get(i),
                viaduct::scenario::RunsProtocol(scenario, settings),
                protocols);
    }
    for (const auto& [version, group] : groups)
    {
        if (version)
        {
            InstallKernel(group, *version, scenario);
        }
        else
        {
            InstallNs3(group, ipv6);
        }
    }
    for (uint32_t i = 0; i < scenario.nodes.size(); i++)
    {
        if (network.IsLocal(scenario.nodes[i].name))
        {
            ConfigureStack(nodes.Get(i), scenario.nodes[i], ipv6);
        }
    }
}

} // namespace ns3::sim
