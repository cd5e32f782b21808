/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/offload/lab-helper.h"

#include "ns3/offload/frame-planes.h"

#include "ns3/base/path-seed.h"
#include "ns3/boolean.h"
#include "ns3/device/interface-port.h"
#include "ns3/device/lab-fd-net-device.h"
#include "ns3/device/link-watch.h"
#include "ns3/enum.h"
#include "ns3/frames/frame-forwarder.h"
#include "ns3/global-value.h"
#include "ns3/log.h"
#include "ns3/neighbour/address-resolution.h"
#include "ns3/offload/client-programs.h"
#include "ns3/offload/device-replacement.h"
#include "ns3/simulator-impl.h"
#include "ns3/simulator.h"
#include "ns3/wmrp/rbridge-shared-plane.h"

#include "base/error.h"
#include "base/socket_option.h"
#include "base/text/terminal_text.h"
#include "lab/client.h"
#include "lab/host_limits.h"
#include "port/packet/ring_port.h"
#include "port/packet/tun_port.h"
#include "sys/descriptor_limit.h"
#include "sys/network/packet_socket.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <iostream>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <list>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("LabHelper");

using viaduct::UsageError;
using viaduct::broker::Client;
using viaduct::fib::DataPlane;
using viaduct::lab::Topology;
using viaduct::wire::IpPrefix;

/** The lab and its objects; exists until the simulator is destroyed. */
struct LabHelper::State
{
    ~State()
    {
        for (auto& [name, offload] : offloads)
        {
            offload.routes->Dispose();
            offload.control->Dispose();
            offload.interfaces->Dispose();
            offload.upcalls->Dispose();
            offload.multicast->Dispose();
        }
    }

    std::shared_ptr<Client> broker;      //!< the broker, which has built the lab
    std::vector<Attachment> attachments; //!< all interfaces of the lab
    std::map<std::string, OffloadHelper::Offload>
        offloads; //!< objects installed on nodes whose data plane is outside the simulator
    std::map<std::string, Ptr<ProgramPort>> programPorts; //!< program ports by node name
    std::map<std::string, Ptr<TransportGuard>> guards;    //!< UDP guards by node name
    std::list<LinkWatch> links;                           //!< a link monitor for each node
    /** RBridges with their planes outside ns-3; each RBridge owns its plane. */
    std::vector<std::pair<Ptr<RBridge>, RBridgeSharedPlane*>> planes;
    std::vector<std::string> ignored;  //!< effects of channels that Ignore() left out of the lab
    std::vector<std::string> exceeded; //!< limits of the machine that the lab may exceed
};

namespace
{

[[noreturn]] void
Quit(const viaduct::Error& error)
{
    std::cerr << viaduct::TerminalText(error.what()) << std::endl;
    std::exit(static_cast<int>(error.status()));
}

/** Ends the run soon after the broker has ended: without a broker no process changes the lab's
 * routes. */
void
WatchBroker(std::weak_ptr<Client> watched)
{
    const Time interval = Seconds(1);
    if (const auto broker = watched.lock())
    {
        broker->CheckAlive();
        Simulator::Schedule(interval, &WatchBroker, watched);
    }
}

/** The terminate handler that was set before QuitOnUncaught(). */
std::terminate_handler g_terminate = nullptr;

/** Handles a viaduct::Error that an event of the simulator threw and that was not caught: prints
 * the error and exits with its status, as Quit() does. */
[[noreturn]] void
QuitOnUncaught()
{
    try
    {
        if (const std::exception_ptr error = std::current_exception())
        {
            std::rethrow_exception(error);
        }
    }
    catch (const viaduct::Error& error)
    {
        std::cout.flush();
        std::cerr << viaduct::TerminalText(error.what()) << std::endl;
        std::_Exit(static_cast<int>(error.status())); // not exit(): other threads may run
    }
    catch (...)
    {
    }
    g_terminate();
    std::abort();
}

/** Requires file descriptors for a plan: for each interface, its port and the sockets of the
 * protocols on the interface; for each node, its link monitor and its program device. */
void
RequireDescriptors(const LabPlan& plan)
{
    constexpr size_t PER_INTERFACE = 4;
    constexpr size_t PER_NODE = 2;
    constexpr size_t RESERVED_FDS = 64;
    const size_t nodes = plan.topology.nodes.size();
    viaduct::sys::RequireDescriptors(RESERVED_FDS + PER_INTERFACE * plan.attachments.size() +
                                         PER_NODE * nodes,
                                     "the simulator of " + std::to_string(nodes) + " nodes needs");
}

LabAddresses
AddressesOf(const Topology& topology, const LabSettings& settings)
{
    auto addresses = std::make_shared<LabAddressMap>();
    for (const auto& node : topology.nodes)
    {
        for (const auto& interface : node.interfaces)
        {
            for (const IpPrefix& address : interface.addresses)
            {
                addresses->emplace(address.address, interface.mac);
            }
        }
    }
    for (const auto& [device, tunnel] : settings.tunnels)
    {
        for (const auto& address : tunnel.neighbours)
        {
            addresses->emplace(address, tunnel.neighbour);
        }
    }
    return addresses;
}

LabHelper::Mode
ParseMode(const std::string& text)
{
    const std::map<std::string, LabHelper::Mode> modes = {{"traditional", LabHelper::TRADITIONAL},
                                                          {"emulate", LabHelper::EMULATE},
                                                          {"offload", LabHelper::OFFLOAD}};
    const auto found = modes.find(text);
    if (found == modes.end())
    {
        Quit(UsageError("LabHelper: mode \"" + text +
                        "\": unknown; expected traditional, emulate or offload"));
    }
    return found->second;
}

} // namespace

LabHelper::LabHelper(Mode mode) : m_mode(mode), m_state(std::make_shared<State>())
{
    m_settings.plane =
        mode == OFFLOAD ? &viaduct::fib::kKernelPlane : &viaduct::fib::kSimulatorPlane;
}

LabHelper::LabHelper(const std::string& mode) : LabHelper(ParseMode(mode))
{
}

void
LabHelper::SetDataPlane(Ptr<Node> node, const DataPlane& plane)
{
    m_settings.planes[node] = &plane;
}

void
LabHelper::AddPhysicalInterface(Ptr<Node> node,
                                const std::string& interface,
                                Ptr<NetDevice> device,
                                const std::string& link)
{
    if (!device)
    {
        m_settings.kernelOnly[node].push_back(interface);
        return;
    }
    NS_ABORT_MSG_IF(device->GetNode() != node,
                    "AddPhysicalInterface: the device belongs to another node");
    m_settings.physical[device] = {interface, link.empty() ? interface : link};
}

void
LabHelper::Ignore(const std::string& effect)
{
    NS_ABORT_MSG_UNLESS(effect == "rate" || effect == "delay" || effect == "loss" ||
                            effect == "ber" || effect == "aqm",
                        "LabHelper::Ignore(\"" << effect
                                               << "\"): expected rate, delay, loss, ber or aqm");
    m_settings.ignore.insert(effect);
}

void
LabHelper::SetBroker(std::shared_ptr<Client> broker)
{
    m_broker = std::move(broker);
}

std::shared_ptr<Client>
LabHelper::GetBroker() const
{
    return m_state->broker;
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

const std::map<std::string, Ptr<TransportGuard>>&
LabHelper::GetTransportGuards() const
{
    return m_state->guards;
}

std::vector<std::string>
LabHelper::GetExceededLimits() const
{
    return m_state->exceeded;
}

std::vector<std::string>
LabHelper::GetIgnored() const
{
    return m_state->ignored;
}

Topology
LabHelper::Describe(const NodeContainer& nodes) const
{
    return LabPlanner(m_settings).MakePlan(nodes).topology;
}

void
LabHelper::CheckSimulator() const
{
    const std::string type = Simulator::GetImplementation()->GetInstanceTypeId().GetName();
    if (type != "ns3::ReactorSimulatorImpl" && type != "ns3::RealtimeSimulatorImpl")
    {
        throw UsageError(
            "LabHelper: the simulator is " + type +
            ", which does not run in real time; call at the beginning of main(): "
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
    if (const auto before = std::set_terminate(QuitOnUncaught); before != QuitOnUncaught)
    {
        g_terminate = before;
    }
}

void
LabHelper::InstallOrThrow(const NodeContainer& nodes)
{
    CheckSimulator();
    const LabPlan plan = LabPlanner(m_settings).MakePlan(nodes);
    viaduct::lab::Validate(plan.topology);
    // ns-3 must compute checksums: packets are sent to real programs, which verify them.
    GlobalValue::Bind("ChecksumEnabled", BooleanValue(true));
    m_state->broker = m_broker ? m_broker : std::make_shared<Client>(Client::ConnectOrSpawn());
    RequireDescriptors(plan);
    m_adopts ? m_state->broker->AdoptLab(plan.topology) : m_state->broker->CreateLab(plan.topology);
    m_state->ignored = plan.ignored;
    m_state->exceeded = viaduct::lab::ExceededLimits(plan.topology, viaduct::lab::ReadHostLimit);
    m_state->attachments = plan.attachments;
    Attach(plan);
    SilenceOriginals();
    std::for_each(
        nodes.Begin(), nodes.End(), [](Ptr<Node> node) { ResolveAddressesAsKernelsDo(node); });
    GuardUdp(nodes);
    Simulator::ScheduleNow(&WatchBroker, std::weak_ptr<Client>(m_state->broker));
    // The lab is destroyed after the nodes, because ns-3 scheduled the destruction of the nodes
    // when the first node was created.
    Simulator::ScheduleDestroy([state = m_state]() {
        auto broker = std::move(state->broker);
        if (broker)
        {
            broker->DestroyLab();
        }
    });
}

void
LabHelper::SilenceOriginals() const
{
    if (m_settings.remotes.empty())
    {
        return;
    }
    for (const Attachment& attachment : m_state->attachments)
    {
        attachment.original->SetReceiveCallback(
            [](Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&) { return true; });
    }
}

void
LabHelper::Release()
{
    for (const auto& [name, offload] : m_state->offloads)
    {
        offload.routes->Release();
        offload.multicast->Release();
    }
    for (const auto& [rbridge, plane] : std::exchange(m_state->planes, {}))
    {
        plane->Release();
    }
    for (const Attachment& attachment : m_state->attachments)
    {
        if (const auto forwarder = attachment.node->GetObject<FrameForwarder>())
        {
            forwarder->Release();
        }
    }
}

void
LabHelper::GuardUdp(const NodeContainer& nodes)
{
    for (auto i = nodes.Begin(); i != nodes.End(); ++i)
    {
        if (Ptr<TransportGuard> guard = TransportGuard::Install(*i))
        {
            m_state->guards[LabNodeName(*i)] = guard;
        }
    }
}

void
LabHelper::Attach(const LabPlan& plan)
{
    const LabAddresses known = AddressesOf(plan.topology, m_settings);
    for (const auto& node : plan.topology.nodes)
    {
        switch (node.data_plane->port_frames)
        {
        case viaduct::fib::PortFrames::kControl:
            AttachOffloadedNode(node, known);
            break;
        case viaduct::fib::PortFrames::kPdus:
            AttachSimulatorNode(node, {.etherType = viaduct::rbridge::kIsIsType});
            if (const auto plane =
                    AttachRBridge(node, m_state->attachments, *m_state->broker, m_adopts);
                plane.second && m_adopts)
            {
                m_state->planes.push_back(plane);
            }
            break;
        case viaduct::fib::PortFrames::kOfProtocol:
            AttachSimulatorNode(node, ControlFramesOf(*node.program));
            AttachFrameForwarder(node, m_state->attachments, *m_state->broker, m_adopts);
            break;
        case viaduct::fib::PortFrames::kAll:
            AttachSimulatorNode(node, {});
            break;
        }
        WatchLinks(node.name);
    }
}

void
LabHelper::WatchLinks(const std::string& node)
{
    std::map<std::string, Ptr<RingNetDevice>> devices;
    for (const Attachment& attachment : m_state->attachments)
    {
        auto ring = DynamicCast<RingNetDevice>(attachment.device);
        if (ring && attachment.nodeName == node)
        {
            devices[attachment.interface] = ring;
        }
    }
    if (!devices.empty())
    {
        m_state->links.emplace_back(m_state->broker->OpenLinkMonitor(node), std::move(devices));
    }
}

void
LabHelper::AttachOffloadedNode(const viaduct::lab::Node& node, const LabAddresses& known)
{
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
        return; // a node without devices needs no control plane
    }
    std::vector<Ptr<RingNetDevice>> devices;
    m_state->offloads[node.name] =
        m_offload.Install(owner, node, interfaces, known, m_state->broker, devices);
    if (m_adopts)
    {
        const OffloadHelper::Offload& offload = m_state->offloads[node.name];
        offload.routes->Hold(m_state->broker->ReadRoutes(node.name));
        offload.multicast->Hold();
    }
    auto next = devices.begin();
    for (Attachment& attachment : m_state->attachments)
    {
        if (attachment.nodeName == node.name)
        {
            attachment.device = *next++;
        }
    }
}

LabHelper::Frames
LabHelper::ControlFramesOf(const viaduct::forward::ProgramDescription& program)
{
    // A filter selects control frames. A socket of the control frames' EtherType would also get
    // frames with a VLAN tag, and would get them without the tag (__netif_receive_skb_core() of
    // net/core/dev.c). Frames with a VLAN tag belong to the program, as in the simulator.
    // Type 0: the program has no control frames.
    const std::string type = std::to_string(program.control_type);
    return type == "0" ? Frames{.etherType = 0} : Frames{.filter = "ether proto " + type};
}

void
LabHelper::AttachSimulatorNode(const viaduct::lab::Node& node, const Frames& frames)
{
    Ptr<Node> owner;
    for (Attachment& attachment : m_state->attachments)
    {
        if (attachment.nodeName == node.name)
        {
            owner = attachment.node;
            attachment.device = m_mode == TRADITIONAL ? MakeFdDevice(attachment)
                                                      : MakeRingDevice(attachment, frames);
            ReplaceDevice(owner, attachment.original, attachment.device);
        }
    }
    if (!node.program_addresses.empty())
    {
        viaduct::io::TunPort port(m_state->broker->OpenTun(node.name));
        m_state->programPorts[node.name] =
            ProgramPort::Install(owner, viaduct::io::Hold(std::move(port)));
    }
    if (m_settings.clients.contains(owner))
    {
        m_state->programPorts[node.name] =
            InstallClient(owner, OpenRing(node.name, viaduct::lab::kClientInterface, {}));
    }
}

Ptr<NetDevice>
LabHelper::MakeRingDevice(const Attachment& attachment, const Frames& frames)
{
    auto device = CreateObject<RingNetDevice>();
    EnumValue<InterfacePortKind> kind;
    device->GetAttribute("Port", kind);
    if (kind.Get() == InterfacePortKind::XDP)
    {
        throw viaduct::UsageError("a lab's devices use AF_PACKET: set ns3::RingNetDevice::Port to "
                                  "AfXdp only for devices whose attribute Interface is set");
    }
    device->SetAddress(attachment.original->GetAddress());
    device->SetMtu(attachment.original->GetMtu());
    device->SetPort(OpenRing(attachment.nodeName, attachment.interface, frames));
    return device;
}

std::unique_ptr<viaduct::io::AnyPort>
LabHelper::OpenRing(const std::string& node,
                    const std::string& interface,
                    const Frames& frames) const
{
    viaduct::broker::PacketSocketOptions options{node, interface, frames.etherType};
    options.filter = viaduct::sys::PacketFilter::Compile(frames.filter);
    auto socket = m_state->broker->OpenPacketSocket(options);
    viaduct::io::RingOptions ring;
    ring.ifindex = socket.ifindex;
    ring.ether_type = frames.etherType;
    ring.qdisc_bypass = !socket.has_qdisc;
    return viaduct::io::Hold(viaduct::io::RingPort(std::move(socket.fd), ring));
}

Ptr<NetDevice>
LabHelper::MakeFdDevice(const Attachment& attachment)
{
    auto socket = m_state->broker->OpenPacketSocket(
        {.node = attachment.nodeName, .interface = attachment.interface});
    // The socket must have the settings of ns-3's EmuFdNetDeviceHelper: blocking, bound to all
    // protocols.
    const int fd = socket.fd.get();
    viaduct::SystemCall("fcntl F_SETFL", fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK));
    viaduct::SetSocketOption(fd, SOL_PACKET, PACKET_AUXDATA, 1, "PACKET_AUXDATA");
    viaduct::sys::BindPacketSocket(fd, socket.ifindex, ETH_P_ALL);
    auto device = CreateObject<LabFdNetDevice>();
    device->SetAddress(attachment.original->GetAddress());
    device->SetMtu(attachment.original->GetMtu());
    device->SetFileDescriptor(socket.fd.release()); // the device closes the socket
    return device;
}

} // namespace ns3
