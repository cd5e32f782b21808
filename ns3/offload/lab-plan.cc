/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/offload/lab-plan.h"

#include "ns3/base/ip-family.h"
#include "ns3/base/path-seed.h"
#include "ns3/frames/frame-forwarder.h"
#include "ns3/loopback-net-device.h"
#include "ns3/path/channel-spec.h"
#include "ns3/path/path-channel.h"
#include "ns3/routes/on-demand.h"

#include "base/error.h"
#include "base/file.h"
#include "base/wire/address_scope.h"
#include "lab/client.h"
#include "remote/tunnel/client_wire.h"

#include <algorithm>

namespace ns3
{

using viaduct::UsageError;
using viaduct::lab::Link;
using viaduct::path::Spec;
using viaduct::wire::IpPrefix;
using wireconversion::ToWire;

namespace
{

std::string
Where(const std::string& nodeName, Ptr<NetDevice> device)
{
    return "node " + nodeName + " device " + std::to_string(device->GetIfIndex()) + " (" +
           device->GetInstanceTypeId().GetName() + ")";
}

/** @return the addresses of a device, without the autoconfigured link-local address, which the
 * kernel creates itself */
std::vector<IpPrefix>
AddressesOf(Ptr<Node> node, Ptr<NetDevice> device)
{
    auto addresses = ipfamily::AddressesOf(node, device);
    const auto linkLocal =
        ToWire(Ipv6Address::MakeAutoconfiguredLinkLocalAddress(device->GetAddress()));
    std::erase_if(addresses, [&](const IpPrefix& address) { return address.address == linkLocal; });
    return addresses;
}

/** @return whether any interface but loopback forwards packets */
template <class Ip>
bool
Forwards(Ptr<Ip> ip)
{
    for (uint32_t i = 1; ip && i < ip->GetNInterfaces(); i++)
    {
        if (ip->IsForwarding(i))
        {
            return true;
        }
    }
    return false;
}

/** @return the value of @p key in @p own, a map of the user's settings; @p usual if the map does
 * not have the key */
template <class Key, class Value>
Value
OwnOr(const std::map<Key, Value>& own, const Key& key, Value usual)
{
    const auto found = own.find(key);
    return found == own.end() ? usual : found->second;
}

} // namespace

LabPlanner::LabPlanner(const LabSettings& settings) : m_settings(settings)
{
}

LabPlan
LabPlanner::MakePlan(const NodeContainer& nodes)
{
    m_plan = {};
    m_plan.topology.name = m_settings.name;
    m_plan.topology.seed = PathSeed();
    m_plan.topology.directory = viaduct::CurrentFolder();
    for (auto i = nodes.Begin(); i != nodes.End(); ++i)
    {
        PlanNode(*i);
    }
    for (const Wire& wire : Wires())
    {
        PlanLink(wire);
    }
    for (auto i = nodes.Begin(); i != nodes.End(); ++i)
    {
        if (const auto client = m_settings.clients.find(*i); client != m_settings.clients.end())
        {
            PlanClient(*std::ranges::find(
                           m_plan.topology.nodes, LabNodeName(*i), &viaduct::lab::Node::name),
                       client->second);
        }
    }
    std::erase_if(m_plan.attachments, [this](const LabAttachment& attachment) {
        return m_settings.remotes.contains(attachment.node); // remote nodes are not in the lab
    });
    m_plan.topology.hub = m_settings.hub;
    m_plan.topology.others = m_settings.others;
    return m_plan;
}

void
LabPlanner::PlanRemote(Ptr<Node> node, viaduct::lab::Remote planned)
{
    planned.name = LabNodeName(node);
    for (uint32_t i = 0; i < node->GetNDevices(); i++)
    {
        Ptr<NetDevice> device = node->GetDevice(i);
        if (DynamicCast<LoopbackNetDevice>(device))
        {
            continue;
        }
        if (!planned.interface.name.empty() || m_settings.physical.contains(device) ||
            !IsWired(device))
        {
            throw UsageError(Where(planned.name, device) +
                             ": the node is remote, and a remote node must have exactly one "
                             "device, which must be wired");
        }
        planned.interface = InterfaceOf(node, device);
        planned.interface.name = "eth0";
        m_plan.attachments.push_back({node, planned.name, "eth0", device, nullptr});
    }
    m_plan.topology.remotes.push_back(std::move(planned));
}

void
LabPlanner::PlanClient(const viaduct::lab::Node& node, viaduct::lab::Remote planned)
{
    planned.programs_of = node.name;
    planned.name = viaduct::lab::ClientNameOf(node.name);
    planned.interface = node.interfaces.back();
    planned.interface.name = "eth0";
    planned.interface.mac.bytes.back()++; // a placeholder: the client has its own MAC address
    Link link;
    link.name = FreeLinkName(node.name + "-client");
    link.endpoints = {{node.name, node.interfaces.back().name},
                      {planned.name, planned.interface.name}};
    m_plan.topology.links.push_back(link);
    m_plan.topology.remotes.push_back(std::move(planned));
}

void
LabPlanner::PlanNode(Ptr<Node> node)
{
    if (const auto remote = m_settings.remotes.find(node); remote != m_settings.remotes.end())
    {
        return PlanRemote(node, remote->second);
    }
    viaduct::lab::Node planned;
    planned.name = LabNodeName(node);
    planned.data_plane = OwnOr(m_settings.planes, node, m_settings.plane);
    if (const auto forwarder = node->GetObject<FrameForwarder>())
    {
        // Only the simulator or the forwarder's process can forward the frames of a FrameForwarder.
        // Any data plane outside the simulator is therefore replaced by the forwarder's process.
        if (!planned.data_plane->in_simulator())
        {
            planned.data_plane = &viaduct::fib::kUserspaceProgram;
            planned.program = forwarder->GetDescription();
        }
    }
    planned.forwards_ipv4 = Forwards(node->GetObject<Ipv4>());
    planned.forwards_ipv6 = Forwards(node->GetObject<Ipv6>());
    if (planned.data_plane->layout.kernel_forwards)
    {
        planned.sysctls["net.ipv4.ip_forward"] = planned.forwards_ipv4 ? "1" : "0";
        if (node->GetObject<Ipv6>())
        {
            planned.sysctls["net.ipv6.conf.all.forwarding"] = planned.forwards_ipv6 ? "1" : "0";
        }
    }
    planned.by_hop = OwnOr(m_settings.byHop, node, {});
    if (MayFindRoutesOnDemand<ipfamily::V4>(node) || MayFindRoutesOnDemand<ipfamily::V6>(node))
    {
        planned.by_hop =
            "the node's routing protocol may choose the next hop separately for each packet";
    }
    for (const auto& [name, value] : OwnOr(m_settings.sysctls, node, {}))
    {
        planned.sysctls[name] = value;
    }
    planned.container = OwnOr(m_settings.containers, node, {});
    if (!planned.container.empty())
    {
        // A lab with sysctls for a container is refused later.
        planned.sysctls = OwnOr(m_settings.sysctls, node, {});
        planned.by_hop = "the node is a container";
    }
    m_plan.topology.nodes.push_back(planned);
    for (uint32_t i = 0; i < node->GetNDevices(); i++)
    {
        Ptr<NetDevice> device = node->GetDevice(i);
        if (!DynamicCast<LoopbackNetDevice>(device))
        {
            PlanDevice(node, device);
            continue;
        }
        PlanLoopback(node, AddressesOf(node, device));
    }
    for (const std::string& name : OwnOr(m_settings.kernelOnly, node, {}))
    {
        // No MAC address is set: the interface keeps its own MAC address.
        viaduct::lab::Interface interface;
        interface.name = name;
        interface.physical = name;
        m_plan.topology.nodes.back().interfaces.push_back(interface);
    }
    if (m_settings.clients.contains(node))
    {
        auto& interfaces = m_plan.topology.nodes.back().interfaces;
        viaduct::lab::Interface interface;
        interface.name = viaduct::lab::kClientInterface;
        interface.mac = viaduct::tunnel::ClientWire::kMac;
        interface.mtu = std::ranges::max(interfaces, {}, &viaduct::lab::Interface::mtu).mtu;
        interfaces.push_back(interface);
    }
}

bool
LabPlanner::HasPrograms(Ptr<Node> node) const
{
    return m_settings.programs && !m_settings.clients.contains(node);
}

viaduct::lab::Interface
LabPlanner::InterfaceOf(Ptr<Node> node, Ptr<NetDevice> device) const
{
    viaduct::lab::Interface interface;
    interface.mac = ToWire(Mac48Address::ConvertFrom(device->GetAddress()));
    if (interface.mac == viaduct::wire::MacAddress{})
    {
        throw UsageError(Where(LabNodeName(node), device) +
                         ": the device has no MAC address; set an address with SetAddress()");
    }
    interface.mtu = device->GetMtu();
    interface.addresses = AddressesOf(node, device);
    return interface;
}

void
LabPlanner::PlanLoopback(Ptr<Node> node, std::vector<IpPrefix> addresses)
{
    viaduct::lab::Node& planned = m_plan.topology.nodes.back();
    std::erase_if(addresses, [](const IpPrefix& each) {
        return viaduct::wire::IsLoopback(each.address) || viaduct::wire::IsLinkLocal(each.address);
    });
    planned.loopback = addresses;
    if (!planned.data_plane->layout.addresses_on_interfaces && HasPrograms(node))
    {
        planned.program_addresses.insert(
            planned.program_addresses.end(), addresses.begin(), addresses.end());
    }
}

void
LabPlanner::PlanDevice(Ptr<Node> node, Ptr<NetDevice> device)
{
    viaduct::lab::Node& planned = m_plan.topology.nodes.back();
    const std::string where = Where(planned.name, device);
    auto physical = m_settings.physical.find(device);
    if (physical == m_settings.physical.end() && !IsWired(device))
    {
        throw UsageError(where + ": this device type cannot be part of a lab; use "
                                 "PointToPointNetDevice, CsmaNetDevice or SimpleNetDevice, or "
                                 "replace the device by an interface of the machine "
                                 "(AddPhysicalInterface)");
    }
    viaduct::lab::Interface interface = InterfaceOf(node, device);
    interface.name = "eth" + std::to_string(planned.interfaces.size());
    if (physical != m_settings.physical.end())
    {
        interface.physical = physical->second.interface;
        interface.name = physical->second.interface;
        interface.link = physical->second.link;
    }
    if (!planned.data_plane->layout.addresses_on_interfaces && HasPrograms(node))
    {
        planned.program_addresses.insert(planned.program_addresses.end(),
                                         interface.addresses.begin(),
                                         interface.addresses.end());
    }
    m_plan.attachments.push_back({node, planned.name, interface.name, device, nullptr});
    planned.interfaces.push_back(interface);
}

std::vector<LabPlanner::Wire>
LabPlanner::Wires() const
{
    std::vector<Wire> wires;
    for (const LabAttachment& attachment : m_plan.attachments)
    {
        if (m_settings.physical.contains(attachment.original))
        {
            continue;
        }
        Ptr<Channel> channel = attachment.original->GetChannel();
        if (!channel)
        {
            throw UsageError(Where(attachment.nodeName, attachment.original) +
                             ": the device is not attached to a channel; attach or remove the "
                             "device");
        }
        auto found = std::find_if(
            wires.begin(), wires.end(), [&](const Wire& known) { return known.first == channel; });
        if (found == wires.end())
        {
            found = wires.insert(wires.end(), {channel, {}});
        }
        found->second.push_back(attachment);
    }
    return wires;
}

void
LabPlanner::PlanLink(const Wire& wire)
{
    const auto& [channel, ends] = wire;
    if (const auto tunnel = m_settings.tunnels.find(ends.front().original);
        tunnel != m_settings.tunnels.end())
    {
        return PlanTunnel(ends.front(), tunnel->second);
    }
    if (channel->GetNDevices() != ends.size())
    {
        throw UsageError(Where(ends[0].nodeName, ends[0].original) +
                         ": the device's channel reaches a node that is not in the lab; pass all "
                         "nodes of the scenario to Install()");
    }
    Link link;
    link.kind = ends.size() == 2 ? Link::Kind::kPair : Link::Kind::kBridge;
    link.name = LinkName(wire);
    link.emulator = OwnOr(m_settings.emulators, channel, m_settings.emulator);
    // The link's ends are in the order of the channel's devices, not of the nodes: packets from the
    // first end have the direction "up".
    std::vector<LabAttachment> ordered;
    for (std::size_t i = 0; i < channel->GetNDevices(); i++)
    {
        const Ptr<NetDevice> device = channel->GetDevice(i);
        const auto end = std::find_if(ends.begin(), ends.end(), [&](const LabAttachment& each) {
            return each.original == device;
        });
        ordered.insert(ordered.end(), end, end == ends.end() ? end : std::next(end));
    }
    for (const LabAttachment& end : ordered)
    {
        link.endpoints.push_back({end.nodeName, end.interface});
        link.specs.push_back(SpecFor(end, ends, link.name));
    }
    link.live = m_settings.live.contains(channel);
    const auto path = DynamicCast<PathChannel>(channel);
    link.classes = OwnOr(m_settings.classes,
                         channel,
                         path ? path->GetClasses() : std::vector<viaduct::path::TrafficClass>{});
    if (link.IsPlainWire() && !link.live)
    {
        link.specs.clear();
    }
    m_plan.topology.links.push_back(link);
}

void
LabPlanner::PlanTunnel(const LabAttachment& end, const LabTunnel& settings)
{
    Link link;
    link.kind = Link::Kind::kTunnel;
    link.name = settings.link;
    link.endpoints = {{end.nodeName, end.interface}};
    link.tunnel = settings.tunnel;
    link.live = settings.live;
    link.classes = settings.classes;
    if (link.live || !settings.spec.IsPlainWire() || !settings.classes.empty())
    {
        link.specs = {settings.spec};
    }
    m_plan.topology.links.push_back(link);
}

std::string
LabPlanner::LinkName(const Wire& wire) const
{
    const auto& [channel, ends] = wire;
    auto own = m_settings.linkNames.find(channel);
    if (own != m_settings.linkNames.end())
    {
        return own->second;
    }
    if (auto path = DynamicCast<PathChannel>(channel))
    {
        return path->GetName();
    }
    if (ends.size() != 2)
    {
        return "lan" + std::to_string(channel->GetId());
    }
    return FreeLinkName(ends[0].nodeName + "-" + ends[1].nodeName);
}

std::string
LabPlanner::FreeLinkName(const std::string& base) const
{
    const auto& links = m_plan.topology.links;
    std::string name = base;
    const auto isTaken = [&](const Link& link) { return link.name == name; };
    for (int copy = 2; std::any_of(links.begin(), links.end(), isTaken); copy++)
    {
        name = base + "-" + std::to_string(copy);
    }
    return name;
}

Spec
LabPlanner::SpecFor(const LabAttachment& sender,
                    const std::vector<LabAttachment>& all,
                    const std::string& link)
{
    auto own = m_settings.specs.find(sender.original);
    if (own != m_settings.specs.end())
    {
        return own->second;
    }
    std::vector<Ptr<NetDevice>> receivers;
    for (const LabAttachment& end : all)
    {
        if (end.original != sender.original)
        {
            receivers.push_back(end.original);
        }
    }
    Spec spec = ChannelSpec(sender.original, receivers, Where(sender.nodeName, sender.original));
    LeaveOut(spec, link);
    return spec;
}

void
LabPlanner::LeaveOut(Spec& spec, const std::string& link)
{
    auto ignore = [&](const char* name, auto& member) {
        if (m_settings.ignore.contains(name) && member)
        {
            member.reset();
            m_plan.ignored.push_back(link + ": " + name);
            return true;
        }
        return false;
    };
    if (ignore("rate", spec.link.rate))
    {
        spec.queue = {};
    }
    ignore("delay", spec.delay.base);
    ignore("loss", spec.loss);
    ignore("ber", spec.errors);
    ignore("aqm", spec.queue.aqm);
}

} // namespace ns3
