/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "network.h"

#include "type-check.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/csma-helper.h"
#include "ns3/data-rate.h"
#include "ns3/error-model.h"
#include "ns3/global-value.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/ipv4-list-routing.h"
#include "ns3/ipv4-routing-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/ipv4-static-routing.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/ipv6-list-routing.h"
#include "ns3/ipv6-routing-helper.h"
#include "ns3/ipv6-static-routing.h"
#include "ns3/kernel-node.h"
#include "ns3/kernel-stack-helper.h"
#include "ns3/names.h"
#include "ns3/olsr-routing-protocol.h"
#include "ns3/path-channel.h"
#include "ns3/path-helper.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/pointer.h"
#include "ns3/rip.h"
#include "ns3/ripng.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/simple-net-device.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/wire-conversion.h"

#include "base/error.h"

#include <algorithm>
#include <optional>
#include <set>

namespace ns3
{
namespace sim
{

using viaduct::UsageError;
using viaduct::path::Spec;
using viaduct::scenario::LinkSettings;
using viaduct::scenario::Mode;
using viaduct::scenario::NodeSettings;
using viaduct::wire::Family;
using viaduct::wire::IpPrefix;
using wireconversion::ToIpv4;
using wireconversion::ToIpv6;

namespace
{

bool
HasIpv6(const viaduct::scenario::Scenario& scenario)
{
    for (const LinkSettings& link : scenario.links)
    {
        for (const IpPrefix& address : link.addresses)
        {
            if (address.address.family == Family::kIpv6)
            {
                return true;
            }
        }
    }
    return false;
}

/**
 * Address resolution as a kernel does it (net.ipv4.neigh.default: unres_qlen_bytes is worth about
 * 101 full packets, the first request is sent at once): ns-3's own waits up to 10 ms before it asks
 * and keeps three packets, which on links that are Ethernet would be lost at the start of each
 * flow.
 */
void
ResolveAddressesAsKernelsDo()
{
    const UintegerValue packets(101);
    const StringValue atOnce("ns3::ConstantRandomVariable[Constant=0]");
    Config::SetDefault("ns3::ArpCache::PendingQueueSize", packets);
    Config::SetDefault("ns3::ArpL3Protocol::RequestJitter", atOnce);
    Config::SetDefault("ns3::NdiscCache::UnresolvedQueueSize", packets);
    Config::SetDefault("ns3::Icmpv6L4Protocol::SolicitationJitter", atOnce);
}

Ptr<RateErrorModel>
LossOf(double probability)
{
    auto model = CreateObject<RateErrorModel>();
    model->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    model->SetRate(probability);
    return model;
}

DataRateValue
RateOf(const LinkSettings& link)
{
    return DataRateValue(DataRate(static_cast<uint64_t>(link.spec.link.rate.value())));
}

bool
HasBitErrors(const viaduct::scenario::Scenario& scenario)
{
    return std::any_of(scenario.links.begin(), scenario.links.end(), [](const LinkSettings& link) {
        return Network::SpecOf(link, 0).errors || Network::SpecOf(link, 1).errors;
    });
}

} // namespace

Network::Network(const viaduct::scenario::Scenario& scenario, const std::set<std::string>& plain)
    : m_scenario(scenario),
      m_plain(plain),
      m_simulate(scenario.mode == Mode::kSimulate),
      m_ipv6(HasIpv6(scenario))
{
    if (m_simulate)
    {
        ResolveAddressesAsKernelsDo();
    }
    if (HasBitErrors(scenario))
    {
        // A corrupted packet must not be taken for a good one.
        GlobalValue::Bind("ChecksumEnabled", BooleanValue(true));
    }
    if (scenario.routing.protocol != "static")
    {
        m_protocol =
            CheckedFactory(scenario.routing.protocol,
                           {Ipv4RoutingProtocol::GetTypeId(), Ipv6RoutingProtocol::GetTypeId()},
                           scenario.routing.attributes);
        m_protocolIsIpv6 = m_protocol.GetTypeId().IsChildOf(Ipv6RoutingProtocol::GetTypeId());
    }
    else if (!scenario.routing.attributes.empty())
    {
        throw UsageError("routing.attributes: static routes have none; leave them out");
    }
    CheckAddresses();
    MakeNodes();
    MakeLinks();
    InstallStacks();
    AssignAddresses();
    RouteHosts();
    if (scenario.routing.protocol == "static")
    {
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    }
}

void
Network::CheckAddresses() const
{
    // Ipv6L3Protocol::IpForward() drops them; the kernel does not.
    for (const LinkSettings& link : m_scenario.links)
    {
        for (const IpPrefix& prefix : link.addresses)
        {
            if (m_scenario.mode != Mode::kOffload && prefix.address.family == Family::kIpv6 &&
                ToIpv6(prefix.address).IsDocumentation())
            {
                throw UsageError("link " + link.name + ": ns-3 does not forward packets to " +
                                 prefix.address.ToString() +
                                 " (documentation prefix 2001:db8::/32); use another, as "
                                 "fd00::/48, or mode offload");
            }
        }
    }
}

const NodeContainer&
Network::GetNodes() const
{
    return m_nodes;
}

Ptr<Node>
Network::GetNode(const std::string& name) const
{
    return m_byName.at(name);
}

const std::vector<NetworkLink>&
Network::GetLinks() const
{
    return m_links;
}

const NetworkLink&
Network::GetLink(const std::string& name) const
{
    return *std::find_if(m_links.begin(), m_links.end(), [&](const NetworkLink& link) {
        return link.settings->name == name;
    });
}

const Spec&
Network::SpecOf(const LinkSettings& link, size_t end)
{
    const auto& direction = end == 0 ? link.up : link.down;
    return link.kind == viaduct::lab::Link::Kind::kPair && direction ? *direction : link.spec;
}

bool
Network::IsHost(const std::string& name) const
{
    return std::any_of(m_scenario.nodes.begin(), m_scenario.nodes.end(), [&](const auto& node) {
        return node.name == name && node.host;
    });
}

viaduct::wire::IpAddress
Network::AddressOf(const std::string& node) const
{
    for (const Family family : {Family::kIpv4, Family::kIpv6})
    {
        for (const LinkSettings& link : m_scenario.links)
        {
            for (size_t i = 0; i < link.addresses.size(); i++)
            {
                if (link.nodes[i % link.nodes.size()] == node &&
                    link.addresses[i].address.family == family)
                {
                    return link.addresses[i].address;
                }
            }
        }
    }
    throw UsageError("node " + node + " has no address; connect it by a link");
}

void
Network::MakeNodes()
{
    m_nodes.Create(m_scenario.nodes.size());
    for (uint32_t i = 0; i < m_scenario.nodes.size(); i++)
    {
        const std::string& name = m_scenario.nodes[i].name;
        Names::Add(name, m_nodes.Get(i));
        m_byName[name] = m_nodes.Get(i);
    }
}

void
Network::MakeLinks()
{
    for (const LinkSettings& settings : m_scenario.links)
    {
        NetworkLink link = !m_simulate                        ? MakeSimple(settings)
                           : !m_plain.contains(settings.name) ? MakePath(settings)
                           : settings.kind == viaduct::lab::Link::Kind::kPair
                               ? MakePointToPoint(settings)
                               : MakeCsma(settings);
        link.settings = &settings;
        for (const auto& device : link.devices)
        {
            device->SetMtu(settings.mtu);
        }
        m_links.push_back(link);
    }
    for (const NodeSettings& node : m_scenario.nodes)
    {
        MakePhysical(node);
    }
}

NetworkLink
Network::LinkOf(const LinkSettings& settings, const NetDeviceContainer& devices)
{
    return {&settings, devices.Get(0)->GetChannel(), {devices.Begin(), devices.End()}, {}};
}

NodeContainer
Network::NodesOf(const LinkSettings& settings) const
{
    NodeContainer nodes;
    for (const auto& name : settings.nodes)
    {
        nodes.Add(GetNode(name));
    }
    return nodes;
}

NetworkLink
Network::MakePath(const LinkSettings& settings)
{
    PathHelper helper;
    helper.SetChannelAttribute("Name", StringValue(settings.name));
    NetworkLink link = LinkOf(settings, helper.Install(NodesOf(settings)));
    try
    {
        DynamicCast<PathChannel>(link.channel)->SetSpecs(SpecOf(settings, 0), SpecOf(settings, 1));
    }
    catch (const UsageError& error)
    {
        throw UsageError("link " + settings.name + ": " + error.what());
    }
    return link;
}

NetworkLink
Network::MakePointToPoint(const LinkSettings& settings)
{
    PointToPointHelper helper;
    helper.SetDeviceAttribute("DataRate", RateOf(settings));
    return LinkOf(settings, helper.Install(NodesOf(settings)));
}

NetworkLink
Network::MakeCsma(const LinkSettings& settings)
{
    CsmaHelper helper;
    helper.SetChannelAttribute("DataRate", RateOf(settings));
    return LinkOf(settings, helper.Install(NodesOf(settings)));
}

NetworkLink
Network::MakeSimple(const LinkSettings& settings)
{
    SimpleNetDeviceHelper helper;
    return LinkOf(settings, helper.Install(NodesOf(settings)));
}

void
Network::MakePhysical(const NodeSettings& settings)
{
    if (m_simulate && !settings.physical_interfaces.empty())
    {
        throw UsageError("node " + settings.name +
                         ": physical interfaces need a real mode; leave them out in mode simulate");
    }
}

namespace
{

/** Hands out routing protocols that were made before; the helpers of stacks want a helper. */
template <class Helper, class Protocol>
class GivenRouting : public Helper
{
  public:
    /**
     * @param node a node
     * @param protocol what Create() returns for it
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
    std::map<Ptr<Node>, Ptr<Protocol>> m_protocols; //!< what Create() returns
};

/** Nodes that one kernel, or none, is the stack of, and their routing protocols. */
struct StackGroup
{
    NodeContainer nodes;                                       //!< the nodes
    GivenRouting<Ipv4RoutingHelper, Ipv4RoutingProtocol> ipv4; //!< their protocols
    GivenRouting<Ipv6RoutingHelper, Ipv6RoutingProtocol> ipv6; //!< their protocols
};

void
InstallKernel(const StackGroup& group, const std::string& version)
{
    KernelStackHelper stack;
    stack.SetAttribute("Kernel", StringValue(version));
    stack.SetRoutingHelper(group.ipv4);
    stack.SetRoutingHelper(group.ipv6);
    stack.Install(group.nodes);
}

} // namespace

void
Network::InstallStacks()
{
    std::map<std::optional<std::string>, StackGroup> groups; // by the version of the kernel
    for (uint32_t i = 0; i < m_scenario.nodes.size(); i++)
    {
        const Ptr<Node> node = m_nodes.Get(i);
        StackGroup& group = groups[m_scenario.nodes[i].kernel];
        group.nodes.Add(node);
        const auto [list4, list6] = MakeRouting(node, m_scenario.nodes[i]);
        group.ipv4.Add(node, list4);
        group.ipv6.Add(node, list6);
    }
    for (const auto& [version, group] : groups)
    {
        if (version)
        {
            InstallKernel(group, *version);
            continue;
        }
        InternetStackHelper stack;
        stack.SetIpv6StackInstall(m_ipv6);
        stack.SetRoutingHelper(group.ipv4);
        stack.SetRoutingHelper(group.ipv6);
        stack.Install(group.nodes);
    }
    for (uint32_t i = 0; i < m_scenario.nodes.size(); i++)
    {
        ConfigureStack(m_nodes.Get(i), m_scenario.nodes[i]);
    }
}

std::pair<Ptr<Ipv4ListRouting>, Ptr<Ipv6ListRouting>>
Network::MakeRouting(Ptr<Node> node, const NodeSettings& settings)
{
    auto list4 = CreateObject<Ipv4ListRouting>();
    auto list6 = CreateObject<Ipv6ListRouting>();
    list4->AddRoutingProtocol(CreateObject<Ipv4StaticRouting>(), 0);
    list6->AddRoutingProtocol(CreateObject<Ipv6StaticRouting>(), 0);
    if (!settings.host && m_scenario.routing.protocol == "static")
    {
        list4->AddRoutingProtocol(Ipv4GlobalRoutingHelper().Create(node), -10);
    }
    else if (!settings.host)
    {
        Ptr<Object> protocol = m_protocol.Create<Object>();
        // OLSR, RIP, DSDV and AODV look for their node among what they are aggregated to.
        node->AggregateObject(protocol);
        if (m_protocolIsIpv6)
        {
            list6->AddRoutingProtocol(DynamicCast<Ipv6RoutingProtocol>(protocol), 10);
        }
        else
        {
            list4->AddRoutingProtocol(DynamicCast<Ipv4RoutingProtocol>(protocol), 10);
        }
    }
    return {list4, list6};
}

void
Network::ConfigureStack(Ptr<Node> node, const NodeSettings& settings)
{
    if (m_ipv6)
    {
        node->GetObject<Ipv6L3Protocol>()->SetAttribute("IpForward", BooleanValue(!settings.host));
    }
    if (const auto kernel = node->GetObject<KernelNode>())
    {
        for (const auto& [name, value] : settings.sysctls)
        {
            kernel->SetSysctl(name, value);
        }
    }
}

void
Network::AssignAddresses()
{
    for (const NetworkLink& link : m_links)
    {
        const auto& addresses = link.settings->addresses;
        // Device by device, so that every IP interface has the index of its device.
        for (size_t end = 0; end < link.devices.size(); end++)
        {
            Ptr<NetDevice> device = link.devices[end];
            Ptr<Ipv4> ipv4 = device->GetNode()->GetObject<Ipv4>();
            Ptr<Ipv6> ipv6 = device->GetNode()->GetObject<Ipv6>();
            for (size_t i = end; i < addresses.size(); i += link.devices.size())
            {
                const IpPrefix& prefix = addresses[i];
                if (prefix.address.family == Family::kIpv4)
                {
                    const int32_t known = ipv4->GetInterfaceForDevice(device);
                    const uint32_t index =
                        known >= 0 ? static_cast<uint32_t>(known) : ipv4->AddInterface(device);
                    const uint32_t mask = prefix.length == 0 ? 0 : ~0U << (32 - prefix.length);
                    ipv4->AddAddress(index,
                                     Ipv4InterfaceAddress(ToIpv4(prefix.address), Ipv4Mask(mask)));
                    ipv4->SetUp(index);
                }
                else
                {
                    const int32_t known = ipv6->GetInterfaceForDevice(device);
                    const uint32_t index =
                        known >= 0 ? static_cast<uint32_t>(known) : ipv6->AddInterface(device);
                    ipv6->SetUp(index);
                    ipv6->AddAddress(
                        index,
                        Ipv6InterfaceAddress(ToIpv6(prefix.address), Ipv6Prefix(prefix.length)));
                }
            }
        }
    }
}

void
Network::RouteHosts()
{
    for (const NodeSettings& node : m_scenario.nodes)
    {
        if (node.host)
        {
            AddDefaultRoute(node);
        }
        else
        {
            AnnounceHosts(GetNode(node.name), node.name);
        }
    }
}

void
Network::AddDefaultRoute(const NodeSettings& host)
{
    for (const NetworkLink& link : m_links)
    {
        const auto& nodes = link.settings->nodes;
        const auto own = std::find(nodes.begin(), nodes.end(), host.name);
        const auto gateway = std::find(nodes.begin(), nodes.end(), host.gateway);
        if (own == nodes.end() || gateway == nodes.end())
        {
            continue;
        }
        Ptr<Node> node = GetNode(host.name);
        Ptr<NetDevice> device = link.devices[own - nodes.begin()];
        for (size_t i = gateway - nodes.begin(); i < link.settings->addresses.size();
             i += nodes.size())
        {
            const auto& address = link.settings->addresses[i].address;
            if (address.family == Family::kIpv4)
            {
                Ptr<Ipv4> ip = node->GetObject<Ipv4>();
                Ipv4StaticRoutingHelper().GetStaticRouting(ip)->SetDefaultRoute(
                    ToIpv4(address), ip->GetInterfaceForDevice(device));
            }
            else
            {
                Ptr<Ipv6> ip = node->GetObject<Ipv6>();
                auto list = DynamicCast<Ipv6ListRouting>(ip->GetRoutingProtocol());
                int16_t priority;
                DynamicCast<Ipv6StaticRouting>(list->GetRoutingProtocol(0, priority))
                    ->SetDefaultRoute(ToIpv6(address), ip->GetInterfaceForDevice(device));
            }
        }
        return;
    }
}

void
Network::AnnounceHosts(Ptr<Node> router, const std::string& name)
{
    std::set<uint32_t> stubs4;
    std::set<uint32_t> stubs6;
    Ptr<Ipv4> ipv4 = router->GetObject<Ipv4>();
    Ptr<Ipv6> ipv6 = router->GetObject<Ipv6>();
    auto olsr = router->GetObject<olsr::RoutingProtocol>();
    for (const NetworkLink& link : m_links)
    {
        const auto& nodes = link.settings->nodes;
        const auto own = std::find(nodes.begin(), nodes.end(), name);
        const bool stub = std::all_of(nodes.begin(), nodes.end(), [&](const std::string& other) {
            return other == name || IsHost(other);
        });
        if (own == nodes.end() || !stub)
        {
            continue;
        }
        Ptr<NetDevice> device = link.devices[own - nodes.begin()];
        const int32_t index4 = ipv4->GetInterfaceForDevice(device);
        const int32_t index6 = ipv6 ? ipv6->GetInterfaceForDevice(device) : -1;
        if (index4 >= 0)
        {
            stubs4.insert(index4);
        }
        if (index6 >= 0)
        {
            stubs6.insert(index6);
        }
        if (olsr && index4 >= 0)
        {
            const Ipv4InterfaceAddress address = ipv4->GetAddress(index4, 0);
            olsr->AddHostNetworkAssociation(address.GetLocal().CombineMask(address.GetMask()),
                                            address.GetMask());
        }
    }
    if (olsr)
    {
        olsr->SetInterfaceExclusions(stubs4);
    }
    if (auto rip = router->GetObject<Rip>())
    {
        rip->SetInterfaceExclusions(stubs4);
    }
    if (auto ripng = router->GetObject<RipNg>())
    {
        ripng->SetInterfaceExclusions(stubs6);
    }
}

void
Network::SetLinkUp(const std::string& name, bool up)
{
    NetworkLink& link = *std::find_if(m_links.begin(), m_links.end(), [&](const NetworkLink& l) {
        return l.settings->name == name;
    });
    if (auto path = DynamicCast<PathChannel>(link.channel))
    {
        path->SetLinkUp(up);
        return;
    }
    const bool isUp = link.errorModels.empty();
    if (isUp == up)
    {
        return;
    }
    for (size_t i = 0; i < link.devices.size(); i++)
    {
        Ptr<NetDevice> device = link.devices[i];
        if (up)
        {
            // Where there was none, one that loses nothing: ns-3 takes no null pointer.
            Ptr<Object> old = link.errorModels[i];
            device->SetAttribute("ReceiveErrorModel",
                                 PointerValue(old ? old : Ptr<Object>(LossOf(0))));
            continue;
        }
        PointerValue old;
        device->GetAttribute("ReceiveErrorModel", old);
        link.errorModels.push_back(old.GetObject());
        device->SetAttribute("ReceiveErrorModel", PointerValue(LossOf(1)));
    }
    if (up)
    {
        link.errorModels.clear();
    }
}

} // namespace sim
} // namespace ns3
