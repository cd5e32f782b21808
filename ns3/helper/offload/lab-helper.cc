/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "lab-helper.h"

#include "ns3/channel-spec.h"

#include "ns3/boolean.h"
#include "ns3/channel.h"
#include "ns3/device-replacement.h"
#include "ns3/fd-net-device.h"
#include "ns3/global-value.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6.h"
#include "ns3/log.h"
#include "ns3/loopback-net-device.h"
#include "ns3/path-channel.h"
#include "ns3/path-seed.h"
#include "ns3/simulator-impl.h"
#include "ns3/simulator.h"
#include "ns3/wire-conversion.h"

#include "base/error.h"
#include "io/ring_port.h"
#include "io/tun_port.h"
#include "lab/impairment.h"

#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include <algorithm>
#include <arpa/inet.h>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <iostream>
#include <sys/socket.h>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("LabHelper");

using viaduct::UsageError;
using viaduct::broker::Client;
using viaduct::fib::DataPlane;
using viaduct::lab::Link;
using viaduct::lab::Topology;
using viaduct::path::Spec;
using viaduct::wire::IpAddress;
using viaduct::wire::IpPrefix;
using wireconversion::ToWire;

/** What is going to be built. */
struct LabHelper::Plan
{
    Topology topology;                   //!< the lab
    std::vector<Attachment> attachments; //!< its interfaces, `device` still null
    std::vector<std::string> ignored;    //!< effects left out
};

/** What was built; lives until the simulator is destroyed. */
struct LabHelper::State
{
    ~State()
    {
        for (auto& [name, offload] : offloads)
        {
            offload.routes->Dispose();
            offload.control->Dispose();
        }
    }

    std::shared_ptr<Client> broker;      //!< who built it
    std::vector<Attachment> attachments; //!< all interfaces
    std::map<std::string, OffloadHelper::Offload>
        offloads; //!< nodes whose data plane left the simulator
    std::map<std::string, Ptr<ProgramPort>> programPorts; //!< nodes with simulator data plane
    std::vector<std::string> ignored;                     //!< effects left out
};

namespace
{

std::string
Where(const std::string& nodeName, Ptr<NetDevice> device)
{
    return "node " + nodeName + " device " + std::to_string(device->GetIfIndex()) + " (" +
           device->GetInstanceTypeId().GetName() + ")";
}

/** The addresses of a device; link-local ones that the kernel makes itself are left out. */
std::vector<IpPrefix>
AddressesOf(Ptr<Node> node, Ptr<NetDevice> device)
{
    std::vector<IpPrefix> addresses;
    Ptr<Ipv4> ipv4 = node->GetObject<Ipv4>();
    const int32_t index4 = ipv4 ? ipv4->GetInterfaceForDevice(device) : -1;
    for (uint32_t i = 0; index4 >= 0 && i < ipv4->GetNAddresses(index4); i++)
    {
        const Ipv4InterfaceAddress address = ipv4->GetAddress(index4, i);
        addresses.push_back({ToWire(address.GetLocal()), address.GetMask().GetPrefixLength()});
    }
    Ptr<Ipv6> ipv6 = node->GetObject<Ipv6>();
    const int32_t index6 = ipv6 ? ipv6->GetInterfaceForDevice(device) : -1;
    for (uint32_t i = 0; index6 >= 0 && i < ipv6->GetNAddresses(index6); i++)
    {
        const Ipv6InterfaceAddress address = ipv6->GetAddress(index6, i);
        if (address.GetAddress() !=
            Ipv6Address::MakeAutoconfiguredLinkLocalAddress(device->GetAddress()))
        {
            addresses.push_back(
                {ToWire(address.GetAddress()), address.GetPrefix().GetPrefixLength()});
        }
    }
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

LabHelper::Mode
ParseMode(const std::string& text)
{
    if (text == "traditional")
    {
        return LabHelper::TRADITIONAL;
    }
    if (text == "emulate")
    {
        return LabHelper::EMULATE;
    }
    if (text == "offload")
    {
        return LabHelper::OFFLOAD;
    }
    throw UsageError("LabHelper: mode \"" + text +
                     "\": unknown; give traditional, emulate or offload");
}

[[noreturn]] void
Quit(const viaduct::Error& error)
{
    std::cerr << error.what() << std::endl;
    std::exit(static_cast<int>(error.status()));
}

} // namespace

LabHelper::LabHelper(Mode mode) : m_mode(mode), m_state(std::make_shared<State>())
{
}

LabHelper::LabHelper(const std::string& mode) : LabHelper(OFFLOAD)
{
    try
    {
        m_mode = ParseMode(mode);
    }
    catch (const viaduct::Error& error)
    {
        Quit(error);
    }
}

void
LabHelper::SetLabName(const std::string& name)
{
    m_labName = name;
}

void
LabHelper::SetDataPlane(Ptr<Node> node, const DataPlane& plane)
{
    m_planes[node] = &plane;
}

void
LabHelper::AddPhysicalInterface(Ptr<Node> node, const std::string& interface, Ptr<NetDevice> device)
{
    if (!device)
    {
        m_kernelOnly[node].push_back(interface);
        return;
    }
    NS_ABORT_MSG_IF(device->GetNode() != node, "AddPhysicalInterface: device of another node");
    m_physical[device] = interface;
}

void
LabHelper::SetSpec(Ptr<NetDevice> device, const Spec& spec)
{
    m_specs[device] = spec;
}

void
LabHelper::SetEmulator(viaduct::lab::Emulator emulator)
{
    m_emulator = emulator;
}

void
LabHelper::SetEmulator(Ptr<Channel> channel, viaduct::lab::Emulator emulator)
{
    m_emulators[channel] = emulator;
}

void
LabHelper::SetLinkName(Ptr<Channel> channel, const std::string& name)
{
    m_linkNames[channel] = name;
}

void
LabHelper::Ignore(const std::string& effect)
{
    NS_ABORT_MSG_UNLESS(effect == "rate" || effect == "delay" || effect == "loss" ||
                            effect == "ber" || effect == "aqm",
                        "LabHelper::Ignore(\"" << effect
                                               << "\"): give rate, delay, loss, ber or aqm");
    m_ignore.insert(effect);
}

void
LabHelper::SetSysctl(Ptr<Node> node, const std::string& name, const std::string& value)
{
    m_sysctls[node][name] = value;
}

void
LabHelper::SetPrograms(bool on)
{
    m_programs = on;
}

void
LabHelper::SetBroker(std::shared_ptr<Client> broker)
{
    m_broker = std::move(broker);
}

OffloadHelper&
LabHelper::Offload()
{
    return m_offload;
}

const std::vector<LabHelper::Attachment>&
LabHelper::GetAttachments() const
{
    return m_state->attachments;
}

const std::map<std::string, OffloadHelper::Offload>&
LabHelper::GetOffloads() const
{
    return m_state->offloads;
}

const std::map<std::string, Ptr<ProgramPort>>&
LabHelper::GetProgramPorts() const
{
    return m_state->programPorts;
}

std::vector<std::string>
LabHelper::GetIgnored() const
{
    return m_state->ignored;
}

std::shared_ptr<Client>
LabHelper::GetBroker() const
{
    return m_state->broker;
}

std::string
LabHelper::NodeName(Ptr<Node> node)
{
    return LabNodeName(node);
}

const DataPlane&
LabHelper::DataPlaneOf(Ptr<Node> node) const
{
    auto found = m_planes.find(node);
    if (found != m_planes.end())
    {
        return *found->second;
    }
    return m_mode == OFFLOAD ? viaduct::fib::kKernelPlane : viaduct::fib::kSimulatorPlane;
}

LabHelper::Plan
LabHelper::MakePlan(const NodeContainer& nodes) const
{
    Plan plan;
    plan.topology.name = m_labName;
    plan.topology.seed = PathSeed();
    plan.topology.directory = std::filesystem::current_path();
    for (auto i = nodes.Begin(); i != nodes.End(); ++i)
    {
        PlanNode(*i, plan);
    }
    PlanLinks(plan);
    return plan;
}

void
LabHelper::PlanNode(Ptr<Node> node, Plan& plan) const
{
    viaduct::lab::Node planned;
    planned.name = NodeName(node);
    planned.data_plane = &DataPlaneOf(node);
    if (planned.data_plane->layout.kernel_forwards)
    {
        planned.sysctls["net.ipv4.ip_forward"] = Forwards(node->GetObject<Ipv4>()) ? "1" : "0";
        if (node->GetObject<Ipv6>())
        {
            planned.sysctls["net.ipv6.conf.all.forwarding"] =
                Forwards(node->GetObject<Ipv6>()) ? "1" : "0";
        }
    }
    auto own = m_sysctls.find(node);
    if (own != m_sysctls.end())
    {
        for (const auto& [name, value] : own->second)
        {
            planned.sysctls[name] = value;
        }
    }
    plan.topology.nodes.push_back(planned);
    for (uint32_t i = 0; i < node->GetNDevices(); i++)
    {
        Ptr<NetDevice> device = node->GetDevice(i);
        if (!DynamicCast<LoopbackNetDevice>(device))
        {
            PlanDevice(node, device, plan);
        }
    }
    auto kernelOnly = m_kernelOnly.find(node);
    if (kernelOnly != m_kernelOnly.end())
    {
        for (const std::string& name : kernelOnly->second)
        {
            viaduct::lab::Interface interface; // no MAC: it keeps its own
            interface.name = name;
            interface.physical = name;
            plan.topology.nodes.back().interfaces.push_back(interface);
        }
    }
}

void
LabHelper::PlanDevice(Ptr<Node> node, Ptr<NetDevice> device, Plan& plan) const
{
    viaduct::lab::Node& planned = plan.topology.nodes.back();
    const std::string where = Where(planned.name, device);
    auto physical = m_physical.find(device);
    if (physical == m_physical.end() && !IsWired(device))
    {
        throw UsageError(where + ": no lab can be made of this type; use PointToPointNetDevice, "
                                 "CsmaNetDevice or SimpleNetDevice, or put an interface of the "
                                 "machine in its place (AddPhysicalInterface)");
    }
    viaduct::lab::Interface interface;
    interface.name = "eth" + std::to_string(planned.interfaces.size());
    interface.mac = ToWire(Mac48Address::ConvertFrom(device->GetAddress()));
    if (interface.mac == viaduct::wire::MacAddress{})
    {
        throw UsageError(where + ": has no MAC address; give it one (SetAddress)");
    }
    interface.mtu = device->GetMtu();
    interface.addresses = AddressesOf(node, device);
    if (physical != m_physical.end())
    {
        interface.physical = physical->second;
        interface.name = physical->second;
    }
    if (!planned.data_plane->layout.addresses_on_interfaces && m_programs)
    {
        planned.program_addresses.insert(planned.program_addresses.end(),
                                         interface.addresses.begin(),
                                         interface.addresses.end());
    }
    plan.attachments.push_back({node, planned.name, interface.name, device, nullptr});
    planned.interfaces.push_back(interface);
}

void
LabHelper::PlanLinks(Plan& plan) const
{
    // Devices by channel, in the order in which nodes and devices were made.
    std::vector<std::pair<Ptr<Channel>, std::vector<Attachment>>> channels;
    for (const Attachment& attachment : plan.attachments)
    {
        if (m_physical.contains(attachment.original))
        {
            continue;
        }
        Ptr<Channel> channel = attachment.original->GetChannel();
        if (!channel)
        {
            throw UsageError(Where(attachment.nodeName, attachment.original) +
                             ": is on no channel; attach it, or remove it");
        }
        auto found = std::find_if(channels.begin(), channels.end(), [&](const auto& known) {
            return known.first == channel;
        });
        if (found == channels.end())
        {
            channels.push_back({channel, {}});
            found = channels.end() - 1;
        }
        found->second.push_back(attachment);
    }
    std::set<std::string> taken;
    for (const auto& [channel, ends] : channels)
    {
        if (channel->GetNDevices() != ends.size())
        {
            throw UsageError(Where(ends[0].nodeName, ends[0].original) +
                             ": its channel reaches a node that is not among the lab's; give "
                             "Install() all nodes of the scenario");
        }
        Link link;
        link.kind = ends.size() == 2 ? Link::Kind::kPair : Link::Kind::kBridge;
        link.name = LinkName(channel, ends, taken);
        taken.insert(link.name);
        auto emulator = m_emulators.find(channel);
        link.emulator = emulator == m_emulators.end() ? m_emulator : emulator->second;
        for (const Attachment& end : ends)
        {
            link.endpoints.push_back({end.nodeName, end.interface});
            link.specs.push_back(SpecFor(end, ends, link.name, plan));
        }
        if (link.IsPlainWire())
        {
            link.specs.clear();
        }
        plan.topology.links.push_back(link);
    }
}

std::string
LabHelper::LinkName(Ptr<Channel> channel,
                    const std::vector<Attachment>& ends,
                    const std::set<std::string>& taken) const
{
    auto own = m_linkNames.find(channel);
    if (own != m_linkNames.end())
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
    const std::string base = ends[0].nodeName + "-" + ends[1].nodeName;
    std::string name = base;
    for (int copy = 2; taken.contains(name); copy++)
    {
        name = base + "-" + std::to_string(copy);
    }
    return name;
}

Spec
LabHelper::SpecFor(const Attachment& sender,
                   const std::vector<Attachment>& all,
                   const std::string& link,
                   Plan& plan) const
{
    auto own = m_specs.find(sender.original);
    if (own != m_specs.end())
    {
        return own->second;
    }
    std::vector<Ptr<NetDevice>> receivers;
    for (const Attachment& end : all)
    {
        if (end.original != sender.original)
        {
            receivers.push_back(end.original);
        }
    }
    Spec spec = ChannelSpec(sender.original, receivers, Where(sender.nodeName, sender.original));
    auto ignore = [&](const char* name, auto& member) {
        if (m_ignore.contains(name) && member)
        {
            member.reset();
            plan.ignored.push_back(link + ": " + name);
            return true;
        }
        return false;
    };
    if (ignore("rate", spec.rate))
    {
        spec.queue.reset();
        spec.aqm.reset();
    }
    ignore("delay", spec.delay);
    ignore("loss", spec.loss);
    ignore("ber", spec.bit_error_rate);
    ignore("aqm", spec.aqm);
    return spec;
}

Topology
LabHelper::Describe(const NodeContainer& nodes) const
{
    return MakePlan(nodes).topology;
}

void
LabHelper::CheckSimulator() const
{
    const std::string type = Simulator::GetImplementation()->GetInstanceTypeId().GetName();
    if (type != "ns3::ReactorSimulatorImpl" && type != "ns3::RealtimeSimulatorImpl")
    {
        throw UsageError(
            "LabHelper: the simulator is " + type +
            ", which does not keep to real time; say at the beginning of main(): "
            "GlobalValue::Bind(\"SimulatorImplementationType\", StringValue(\"ns3::" +
            (m_mode == TRADITIONAL ? "RealtimeSimulatorImpl" : "ReactorSimulatorImpl") + "\"));");
    }
}

void
LabHelper::Install(const NodeContainer& nodes)
{
    try
    {
        InstallOrThrow(nodes);
    }
    catch (const viaduct::Error& error)
    {
        Quit(error);
    }
}

void
LabHelper::InstallOrThrow(const NodeContainer& nodes)
{
    CheckSimulator();
    const Plan plan = MakePlan(nodes);
    viaduct::lab::Validate(plan.topology);
    // Packets go to real programs: checksums must be right, and are looked at.
    GlobalValue::Bind("ChecksumEnabled", BooleanValue(true));
    m_state->broker = m_broker ? m_broker : std::make_shared<Client>(Client::ConnectOrSpawn());
    m_state->broker->CreateLab(plan.topology);
    m_state->ignored = plan.ignored;
    m_state->attachments = plan.attachments;
    Attach(plan);
    // Run after the nodes' own destruction, which was scheduled when the first node was made.
    Simulator::ScheduleDestroy([state = m_state]() {
        auto broker = std::move(state->broker);
        if (broker)
        {
            broker->DestroyLab();
        }
    });
}

void
LabHelper::Attach(const Plan& plan)
{
    for (const auto& node : plan.topology.nodes)
    {
        if (node.data_plane->port_frames == viaduct::fib::PortFrames::kControl)
        {
            AttachOffloadedNode(node, plan);
        }
        else
        {
            AttachSimulatorNode(node, plan);
        }
    }
}

void
LabHelper::AttachOffloadedNode(const viaduct::lab::Node& node, const Plan& plan)
{
    std::vector<IpAddress> known;
    for (const auto& other : plan.topology.nodes)
    {
        for (const auto& interface : other.interfaces)
        {
            for (const IpPrefix& address : interface.addresses)
            {
                known.push_back(address.address);
            }
        }
    }
    Ptr<Node> owner;
    std::vector<OffloadHelper::Interface> interfaces;
    for (const Attachment& attachment : m_state->attachments)
    {
        if (attachment.nodeName == node.name)
        {
            owner = attachment.node;
            interfaces.push_back({attachment.original, attachment.interface});
        }
    }
    if (!owner)
    {
        return; // no devices: nothing to control
    }
    std::vector<Ptr<RingNetDevice>> devices;
    m_state->offloads[node.name] =
        m_offload.Install(owner, node, interfaces, known, m_state->broker, devices);
    auto next = devices.begin();
    for (Attachment& attachment : m_state->attachments)
    {
        if (attachment.nodeName == node.name)
        {
            attachment.device = *next++;
        }
    }
}

void
LabHelper::AttachSimulatorNode(const viaduct::lab::Node& node, const Plan& plan)
{
    Ptr<Node> owner;
    for (Attachment& attachment : m_state->attachments)
    {
        if (attachment.nodeName == node.name)
        {
            owner = attachment.node;
            attachment.device =
                m_mode == TRADITIONAL
                    ? MakeFdDevice(attachment)
                    : MakeRingDevice(
                          attachment,
                          viaduct::lab::HasQdisc(plan.topology, {node.name, attachment.interface}));
            ReplaceDevice(owner, attachment.original, attachment.device);
        }
    }
    if (!node.program_addresses.empty())
    {
        viaduct::io::TunPort port(m_state->broker->OpenTun(node.name));
        m_state->programPorts[node.name] =
            ProgramPort::Install(owner, viaduct::io::Hold(std::move(port)));
    }
}

Ptr<NetDevice>
LabHelper::MakeRingDevice(const Attachment& attachment, bool hasQdisc)
{
    viaduct::broker::PacketSocketOptions options;
    options.node = attachment.nodeName;
    options.interface = attachment.interface;
    auto socket = m_state->broker->OpenPacketSocket(options);
    viaduct::io::RingOptions ring;
    ring.ifindex = socket.ifindex;
    ring.qdisc_bypass = !hasQdisc;
    auto device = CreateObject<RingNetDevice>();
    device->SetAddress(attachment.original->GetAddress());
    device->SetMtu(attachment.original->GetMtu());
    device->SetPort(viaduct::io::Hold(viaduct::io::RingPort(std::move(socket.fd), ring)));
    return device;
}

Ptr<NetDevice>
LabHelper::MakeFdDevice(const Attachment& attachment)
{
    viaduct::broker::PacketSocketOptions options;
    options.node = attachment.nodeName;
    options.interface = attachment.interface;
    auto socket = m_state->broker->OpenPacketSocket(options);
    // As ns-3's EmuFdNetDeviceHelper has it: a blocking socket bound to all protocols.
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = socket.ifindex;
    const int fd = socket.fd.get();
    viaduct::SystemCall("fcntl F_SETFL", fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK));
    viaduct::SystemCall("bind packet socket",
                        bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address));
    auto device = CreateObject<FdNetDevice>();
    device->SetAddress(attachment.original->GetAddress());
    device->SetMtu(attachment.original->GetMtu());
    device->SetFileDescriptor(socket.fd.release()); // the device closes it
    return device;
}

} // namespace ns3
