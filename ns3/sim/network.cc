/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/network.h"

#include "ns3/sim/addressing.h"
#include "ns3/sim/frame-nodes.h"
#include "ns3/sim/node-stacks.h"
#include "ns3/sim/placement.h"
#include "ns3/sim/wireless.h"

#include "ns3/base/wire-conversion.h"
#include "ns3/boolean.h"
#include "ns3/csma-helper.h"
#include "ns3/data-rate.h"
#include "ns3/error-model.h"
#include "ns3/global-value.h"
#include "ns3/kernel/kernel-node.h"
#include "ns3/names.h"
#include "ns3/neighbour/address-resolution.h"
#include "ns3/path/path-channel.h"
#include "ns3/path/path-helper.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/pointer.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/simple-net-device.h"
#include "ns3/string.h"

#include "base/error.h"
#include "base/within.h"
#include "scenario/events.h"
#include "scenario/machines.h"
#include "scenario/places.h"
#include "scenario/protocols.h"
#include "sys/network/link.h"

#include <algorithm>

namespace ns3::sim
{

using viaduct::UsageError;
using viaduct::path::Spec;
using viaduct::scenario::LinkSettings;
using viaduct::scenario::Mode;
using viaduct::scenario::NodeSettings;
using viaduct::wire::Family;
using viaduct::wire::IpPrefix;
using wireconversion::ToIpv6;

namespace
{

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

NetworkLink
LinkOf(const LinkSettings& settings, const NetDeviceContainer& devices)
{
    return {&settings, devices.Get(0)->GetChannel(), {devices.Begin(), devices.End()}, {}};
}

/** @return whether the routing protocol is a user's, not one of ns-3 */
bool
IsUsers(const viaduct::scenario::Routing& routing)
{
    return routing.protocol != "static" && routing.protocol != viaduct::scenario::kNoProtocol &&
           !viaduct::scenario::FindRoutingProtocol(routing.protocol);
}

/** Sets the MAC address of a device to that of the machine's interface that the device represents.
 * A missing interface is ignored: the lab reports it when it is built.
 */
void
KeepAddress(const std::string& interface, Ptr<NetDevice> device)
{
    if (const auto link = viaduct::sys::Netlink().FindLink(interface))
    {
        device->SetAddress(wireconversion::ToMac48(link->mac));
    }
}

/** @return whether a SPEC damages frames */
bool
Damages(const Spec& spec)
{
    return spec.errors || spec.corruption;
}

/** @return whether any link damages frames, from the start or after an event */
bool
HasDamage(const viaduct::scenario::Scenario& scenario)
{
    return std::any_of(scenario.links.begin(),
                       scenario.links.end(),
                       [](const LinkSettings& link) {
                           const auto classes = viaduct::scenario::ClassesOf(link);
                           return Damages(Network::SpecOf(link, 0)) ||
                                  Damages(Network::SpecOf(link, 1)) ||
                                  std::ranges::any_of(classes, [](const auto& each) {
                                      return Damages(each.up) || Damages(each.down);
                                  });
                       }) ||
           std::any_of(
               scenario.link_events.begin(), scenario.link_events.end(), [](const auto& event) {
                   return Damages(event.up_spec) || Damages(event.down_spec);
               });
}

/** Gives the kernels on a Wi-Fi link different intervals between requests for one neighbour. A
 * kernel's timers of a second expire at multiples of 64 ms (kernel/time/timer.c, HZ=1000). In
 * virtual time the timers of all kernels would expire at one instant, and requests that are sent at
 * one instant are lost.
 */
void
SpreadRequestsOfKernels(const std::vector<NetworkLink>& links)
{
    constexpr int64_t LEAST = 1000; // ms: the default of net.ipv4.neigh.default.retrans_time_ms
    constexpr int64_t STEP = 64;    // ms, difference between the request intervals of two kernels
    constexpr std::size_t STEPS = 16;
    for (const NetworkLink& link : links)
    {
        for (std::size_t i = 0; i < link.devices.size(); i++)
        {
            const auto kernel = link.devices[i]->GetNode()->GetObject<KernelNode>();
            if (kernel && viaduct::scenario::IsWifi(*link.settings))
            {
                const int64_t own = LEAST + STEP * static_cast<int64_t>(i % STEPS);
                kernel->SetRequestInterval(link.devices[i], MilliSeconds(own));
            }
        }
    }
}

} // namespace

Network::Network(const viaduct::scenario::Scenario& scenario,
                 const std::set<std::string>& plain,
                 const std::string& host)
    : m_scenario(scenario),
      m_plain(plain),
      m_simulate(scenario.mode == Mode::kSimulate),
      m_host(host)
{
    if (HasDamage(scenario) || !viaduct::scenario::CapturedLinks(scenario).empty())
    {
        // Checksums are computed for two reasons: a damaged packet must not be accepted, unless its
        // checksum is correct (checksum=fix), and a capture must show packets as on a wire.
        GlobalValue::Bind("ChecksumEnabled", BooleanValue(true));
    }
    CheckAddresses();
    MakeNodes();
    PlaceNodes(m_scenario, m_nodes);
    MakeLinks();
    InstallStacks(m_scenario, *this);
    if (viaduct::scenario::FrameNodesOf(m_scenario))
    {
        InstallFrameNodes(m_scenario, *this);
    }
    AssignAddresses(m_scenario, *this);
    for (const auto& settings : m_scenario.nodes)
    {
        if (IsLocal(settings.name))
        {
            ResolveAddressesAsKernelsDo(m_byName.at(settings.name),
                                        viaduct::scenario::IsOnWifi(m_scenario, settings.name),
                                        settings.sysctls);
        }
    }
    SpreadRequestsOfKernels(m_links);
    RouteHosts(m_scenario, *this);
    if (scenario.routing.protocol == "static")
    {
        AddStaticRoutes(m_scenario, *this);
    }
    AddMulticastRoutes(m_scenario, *this);
}

void
Network::CheckAddresses() const
{
    // ns-3's Ipv6L3Protocol::IpForward() drops packets with addresses of the IPv6 documentation
    // prefix; a kernel forwards such packets.
    for (const LinkSettings& link : m_scenario.links)
    {
        for (const IpPrefix& prefix : link.addresses)
        {
            if (m_scenario.mode != Mode::kOffload && prefix.address.family == Family::kIpv6 &&
                ToIpv6(prefix.address).IsDocumentation())
            {
                throw UsageError("link " + link.name + ": ns-3 does not forward packets to " +
                                 prefix.address.ToString() +
                                 " (documentation prefix 2001:db8::/32); use another prefix, such "
                                 "as fd00::/48, or mode offload");
            }
        }
    }
}

bool
Network::IsLocal(const std::string& name) const
{
    return m_host.empty() || viaduct::scenario::MachineOf(m_scenario, name) == m_host;
}

NodeContainer
Network::GetNodesHere() const
{
    NodeContainer here;
    for (const NodeSettings& node : m_scenario.nodes)
    {
        if (IsLocal(node.name))
        {
            here.Add(GetNode(node.name));
        }
    }
    return here;
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
    const bool forwardsFrames = viaduct::scenario::FrameNodesOf(m_scenario) != nullptr;
    for (const LinkSettings& settings : m_scenario.links)
    {
        // ns-3's point-to-point devices carry IP only: no Ethernet frames, and no packet sockets,
        // which a user's protocol may use.
        const bool isPair = settings.kind == viaduct::lab::Link::Kind::kPair &&
                            !viaduct::scenario::IsWifi(settings);
        const bool path = !m_plain.contains(settings.name) || forwardsFrames ||
                          (isPair && IsUsers(m_scenario.routing));
        const NetworkLink link =
            m_simulate && path ? MakePath(settings) : LinkOf(settings, MakePlain(settings));
        for (const auto& device : link.devices)
        {
            device->SetMtu(settings.mtu);
        }
        if (forwardsFrames)
        {
            SetMtusOfFrameNodes(m_scenario, link);
        }
        m_links.push_back(link);
    }
    for (const NodeSettings& node : m_scenario.nodes)
    {
        CheckPhysical(node);
    }
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
Network::MakePath(const LinkSettings& settings) const
{
    PathHelper helper;
    helper.SetChannelAttribute("Name", StringValue(settings.name));
    NetworkLink link = LinkOf(settings, helper.Install(NodesOf(settings)));
    viaduct::Within("link " + settings.name, [&] {
        const auto channel = DynamicCast<PathChannel>(link.channel);
        channel->SetSpecs(SpecOf(settings, 0), SpecOf(settings, 1));
        channel->SetClasses(viaduct::scenario::ClassesOf(settings));
    });
    return link;
}

NetDeviceContainer
Network::MakePlain(const LinkSettings& settings) const
{
    if (!m_simulate)
    {
        NetDeviceContainer devices = SimpleNetDeviceHelper().Install(NodesOf(settings));
        if (!settings.interface.empty())
        {
            KeepAddress(settings.interface, devices.Get(0));
        }
        return devices;
    }
    if (viaduct::scenario::IsWifi(settings))
    {
        return MakeWifi(settings, NodesOf(settings));
    }
    if (settings.kind == viaduct::lab::Link::Kind::kPair)
    {
        PointToPointHelper helper;
        helper.SetDeviceAttribute("DataRate", RateOf(settings));
        return helper.Install(NodesOf(settings));
    }
    CsmaHelper helper;
    helper.SetChannelAttribute("DataRate", RateOf(settings));
    return helper.Install(NodesOf(settings));
}

void
Network::CheckPhysical(const NodeSettings& settings) const
{
    if (m_simulate && !settings.physical_interfaces.empty())
    {
        throw UsageError("node " + settings.name +
                         ": physical interfaces are not supported in mode simulate; remove the "
                         "physical interfaces, or use another mode");
    }
}

void
Network::SetLinkUp(const std::string& name, bool up)
{
    NetworkLink& link = m_links[&GetLink(name) - m_links.data()];
    if (up)
    {
        m_down.erase(name);
    }
    else
    {
        m_down.insert(name);
    }
    if (auto path = DynamicCast<PathChannel>(link.channel))
    {
        path->SetLinkUp(up);
        return;
    }
    if (viaduct::scenario::IsWifi(*link.settings))
    {
        for (const auto& device : link.devices)
        {
            SetReceiving(*link.settings, device, up);
        }
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
            // If the device had no error model before, a model without loss is set, because ns-3
            // does not accept a null pointer.
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

void
Network::SetSpecs(const std::string& name, const Spec& up, const Spec& down) const
{
    DynamicCast<PathChannel>(GetLink(name).channel)->SetSpecs(up, down);
}

} // namespace ns3::sim
