/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/device/interface-port.h"

#include "base/error.h"
#include "base/socket_option.h"
#include "port/dpdk/open.h"
#include "port/merged_port.h"
#include "port/netmap/open.h"
#include "port/packet/ring_port.h"
#include "port/packet/tun_port.h"
#include "port/xdp/interface_guardian.h"
#include "port/xdp/open.h"
#include "sys/descriptors.h"
#include "sys/network/filter.h"
#include "sys/network/netns.h"
#include "sys/network/packet_socket.h"
#include "sys/network/qdisc.h"
#include "sys/network/tun.h"

#include <fcntl.h>
#include <optional>
#include <sys/socket.h>
#include <utility>
#include <vector>

namespace ns3
{

namespace
{

/** @return a descriptor of the network namespace @p networkNamespace (a name or a path; empty: the
 * process's namespace) */
viaduct::UniqueFd
OpenNamespace(const std::string& networkNamespace)
{
    if (networkNamespace.empty())
    {
        return viaduct::sys::OpenCurrentNamespace();
    }
    if (networkNamespace.find('/') == std::string::npos)
    {
        return viaduct::sys::OpenNamespace(networkNamespace);
    }
    return viaduct::UniqueFd(
        viaduct::SystemCall("open network namespace " + networkNamespace,
                            open(networkNamespace.c_str(), O_RDONLY | O_CLOEXEC)));
}

/**
 * @return a packet socket for the frames that viaduct::io::RingPort sends. The size of the socket's
 * send buffer is not changed, because queue limits treat this buffer as the queue below the device
 */
viaduct::UniqueFd
OpenSender(const std::string& interface)
{
    return viaduct::UniqueFd(
        viaduct::SystemCall("open a packet socket on " + interface + " (needs root)",
                            ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
}

/** @return a packet socket, without a filter, for the frames that viaduct::io::RingPort receives.
 * The socket's receive buffer holds super-frames, which do not fit into a ring */
viaduct::UniqueFd
OpenReceiver(const InterfaceRequest& request)
{
    return std::move(viaduct::sys::OpenPacketSocket(request.interface, /*promiscuous=*/true).fd);
}

/** The ports of an interface: one port, or several ports that Join() combines. */
using Ports = std::vector<std::unique_ptr<viaduct::io::AnyPort>>;

/**
 * @return AF_PACKET ports, which every kernel supports; @p ifindex is the interface's index in the
 * network namespace of the calling thread
 */
Ports
OpenRings(const InterfaceRequest& request, int ifindex)
{
    const auto program = viaduct::sys::PacketFilter::Compile(request.filter);
    viaduct::io::RingOptions options;
    options.ifindex = ifindex;
    options.qdisc_bypass = request.qdiscBypass;
    options.stamp_on_arrival = true;
    options.blocks = request.blocks;
    Ports ports;
    std::optional<uint16_t> group;
    for (uint32_t i = 0; i < request.queues; ++i)
    {
        viaduct::UniqueFd receiver = OpenReceiver(request);
        // Each socket after the first starts with a filter that drops all frames: otherwise the
        // socket would receive copies of frames until it has joined the fanout group.
        (i == 0 ? program : viaduct::sys::PacketFilter::Compile("less 0")).Attach(receiver.get());
        auto port = std::make_unique<viaduct::io::RingPort>(
            std::move(receiver), options, OpenSender(request.interface));
        if (request.queues > 1)
        {
            group = port->JoinFanout(group);
        }
        if (i > 0)
        {
            viaduct::SetSocketOption(
                port->fd(), SOL_SOCKET, SO_DETACH_FILTER, 0, "SO_DETACH_FILTER");
            program.Attach(port->fd());
        }
        ports.push_back(std::move(port));
    }
    return ports;
}

/**
 * @param request the TAP device to open
 * @param made whether this process creates the device; if so, the function sets the device's MTU
 * and brings the device up
 * @param networkNamespace the network namespace of the device, in which the calling thread is
 * @return the user-space end of the device: a port for each queue
 */
Ports
OpenTap(const InterfaceRequest& request, bool made, int networkNamespace)
{
    if (!request.filter.empty())
    {
        throw viaduct::UsageError("TAP device " + request.interface +
                                  ": no other program receives the device's frames, so frames that "
                                  "a Filter excludes would be lost: leave Filter empty (attribute "
                                  "of ns3::RingNetDevice)");
    }
    Ports ports;
    auto queues = viaduct::sys::OpenTap(request.interface, static_cast<int>(request.queues));
    const auto where =
        std::make_shared<viaduct::UniqueFd>(viaduct::sys::Duplicate(networkNamespace));
    const int number = viaduct::sys::Netlink().IfIndex(request.interface);
    for (auto& queue : queues)
    {
        viaduct::io::TunOptions options;
        options.vnet_header = true;
        if (ports.empty()) // the first port reports the kernel's drops for all queues
        {
            options.kernel_drops = [where, number] {
                return viaduct::sys::TapDrops(where->get(), number);
            };
        }
        ports.push_back(
            viaduct::io::Hold(viaduct::io::TunPort(std::move(queue), std::move(options))));
    }
    viaduct::sys::Netlink session;
    if (made)
    {
        const int ifindex = session.GetLink(request.interface).ifindex;
        session.SetMtu(ifindex, request.mtu);
        session.SetUp(ifindex, true);
    }
    if (session.GetLink(request.interface).up)
    {
        // The wait is needed because the kernel loses frames that it sends before it has processed
        // the change of the carrier.
        session.AwaitRunning(request.interface, viaduct::Duration::Seconds(2));
    }
    return ports;
}

/** @return an AF_XDP port on the interface */
std::unique_ptr<viaduct::io::XdpPort>
OpenXdp(const InterfaceRequest& request)
{
    if (!request.qdiscBypass)
    {
        throw viaduct::UsageError(
            "AF_XDP bypasses the queueing discipline of " + request.interface +
            ", but QdiscBypass is false: set QdiscBypass to true, or Port to AfPacket (attributes "
            "of ns3::RingNetDevice)");
    }
    return std::make_unique<viaduct::io::XdpPort>(
        viaduct::xdp::OpenXdpPort({.interface = request.interface, .filter = request.filter}));
}

/**
 * @return a guard object. While the object exists, the offloads that ports of kind @p kind cannot
 * handle are disabled on the interface
 */
std::shared_ptr<void>
KeepOffloadsOff(const InterfaceRequest& request, const std::string& kind)
{
    return std::make_shared<viaduct::xdp::InterfaceGuardian>(request.interface, kind);
}

/** @return a DPDK port on an interface of the kernel */
std::unique_ptr<viaduct::io::AnyPort>
OpenDpdk(const InterfaceRequest& request)
{
    viaduct::dpdk::CheckUsable(); // throws if DPDK cannot be used, before any offload is changed
    return viaduct::dpdk::OpenPort({.interface = request.interface,
                                    .filter = request.filter,
                                    .qdisc_bypass = request.qdiscBypass,
                                    .keeper = KeepOffloadsOff(request, "DPDK")});
}

/** @return a netmap port on an interface of the kernel */
std::unique_ptr<viaduct::io::AnyPort>
OpenNetmap(const InterfaceRequest& request)
{
    viaduct::netmap::CheckUsable();
    if (!request.filter.empty() || !request.qdiscBypass)
    {
        throw viaduct::UsageError("netmap on interface " + request.interface +
                                  ": netmap bypasses filters and queueing disciplines; leave "
                                  "Filter empty and set QdiscBypass to true (attributes of "
                                  "ns3::RingNetDevice)");
    }
    return viaduct::netmap::OpenPort(request.interface, KeepOffloadsOff(request, "netmap"));
}

/** @return an AF_XDP port if the interface's driver has zero-copy, otherwise AF_PACKET ports; sets
 * @p reason to the reason for this choice */
Ports
OpenEither(const InterfaceRequest& request, int ifindex, std::string& reason)
{
    try
    {
        auto opened = OpenXdp(request);
        if (opened->state().zero_copy)
        {
            reason = "the driver supports zero-copy";
            Ports ports;
            ports.push_back(std::move(opened));
            return ports;
        }
        reason = "not AF_XDP: the driver does not support zero-copy";
    }
    catch (const viaduct::Error& error)
    {
        reason = std::string("not AF_XDP: ") + error.what();
    }
    return OpenRings(request, ifindex);
}

/** @return a single port that combines several ports */
std::unique_ptr<viaduct::io::AnyPort>
Join(Ports ports)
{
    if (ports.size() == 1)
    {
        return std::move(ports[0]);
    }
    return std::make_unique<viaduct::io::MergedPort>(std::move(ports));
}

/** Throws viaduct::UsageError if the interface is not Ethernet or its MTU is less than the
 * device's. */
void
Examine(const InterfaceRequest& request, const viaduct::sys::LinkInfo& link)
{
    if (!link.ethernet)
    {
        throw viaduct::UsageError("interface " + request.interface +
                                  ": the interface does not carry Ethernet frames (it may be a TUN "
                                  "device or an IP tunnel); use an Ethernet interface");
    }
    if (link.mtu < request.mtu)
    {
        throw viaduct::UsageError(
            "interface " + request.interface + " has an MTU of " + std::to_string(link.mtu) +
            " bytes, which is less than the MTU of the ns-3 device: set the attribute Mtu of "
            "ns3::RingNetDevice to at most the MTU of the interface");
    }
}

/**
 * Opens a sender that passes frames with departure times to the qdisc of an interface, if the qdisc
 * supports departure times. The interface is in the calling thread's network namespace.
 * @param request the description of the interface
 * @param[in,out] opened the opened interface, whose members `timed` and `departures` are set
 */
void
OpenDepartures(const InterfaceRequest& request, InterfacePort& opened)
{
    const std::string clock = "timed by the simulator's clock: ";
    if (request.qdiscBypass || request.kind == InterfacePortKind::TAP)
    {
        opened.departures = clock + "frames do not pass through a qdisc";
        return;
    }
    viaduct::sys::Netlink session;
    const std::string keeper =
        viaduct::sys::QdiscOfDepartureTimes(viaduct::sys::Qdiscs(session, opened.ifindex));
    if (keeper.empty())
    {
        opened.departures = clock + "the qdisc (" +
                            viaduct::sys::RootQdisc(session, opened.ifindex) +
                            ") does not support departure times";
        return;
    }
    using viaduct::io::TimedSender;
    opened.timed = std::make_unique<TimedSender>(OpenSender(request.interface),
                                                 opened.ifindex,
                                                 keeper == "etf" ? TimedSender::Clock::kTai
                                                                 : TimedSender::Clock::kMonotonic);
    opened.departures = "timed by the qdisc (" + keeper + ", SO_TXTIME)";
}

/** @return a port on a DPDK device that is unknown to the kernel, so that the kernel does not
 * report changes of the device's link */
InterfacePort
OpenDpdkDevice(const InterfaceRequest& request, int networkNamespace)
{
    InterfacePort opened;
    opened.port = viaduct::dpdk::OpenPort({.interface = request.interface,
                                           .filter = request.filter,
                                           .qdisc_bypass = request.qdiscBypass,
                                           .mtu = static_cast<uint32_t>(request.mtu)});
    opened.departures = "timed by the simulator's clock: frames do not pass through a qdisc";
    opened.monitor = std::make_unique<viaduct::sys::LinkMonitor>(networkNamespace);
    opened.running = opened.port->Up();
    return opened;
}

/** Throws viaduct::UsageError for an attribute that the requested kind of port does not have. */
void
CheckKind(const InterfaceRequest& request)
{
    const auto refuse = [&](const std::string& attribute, const std::string& of) {
        throw viaduct::UsageError(attribute + " requires " + of + ", but interface " +
                                  request.interface +
                                  " has a different Port: change Port or the other attribute (both "
                                  "are attributes of ns3::RingNetDevice)");
    };
    const bool packet = request.kind == InterfacePortKind::PACKET;
    if (request.queues > 1 && !packet && request.kind != InterfacePortKind::TAP)
    {
        refuse("Queues", "Port=AfPacket or Port=Tap");
    }
    if (request.blocks && !packet)
    {
        refuse("RingBlocks", "Port=AfPacket");
    }
}

} // namespace

InterfacePort
OpenInterfacePort(const InterfaceRequest& request)
{
    const viaduct::UniqueFd target = OpenNamespace(request.networkNamespace);
    std::optional<viaduct::sys::NamespaceScope> scope;
    if (!request.networkNamespace.empty())
    {
        scope.emplace(target.get());
    }
    CheckKind(request);
    if (request.kind == InterfacePortKind::DPDK && viaduct::dpdk::IsDevice(request.interface))
    {
        return OpenDpdkDevice(request, target.get());
    }
    Ports ports;
    auto info = viaduct::sys::Netlink().FindLink(request.interface);
    if (request.kind == InterfacePortKind::TAP)
    {
        ports = OpenTap(request, /*made=*/!info, target.get());
        info = viaduct::sys::Netlink().FindLink(request.interface);
    }
    if (!info)
    {
        throw viaduct::UsageError(
            "there is no interface " + request.interface +
            (request.networkNamespace.empty() ? "" : " in " + request.networkNamespace) +
            ": see `ip link`");
    }
    Examine(request, *info);
    InterfacePort opened;
    switch (request.kind)
    {
    case InterfacePortKind::PACKET:
        ports = OpenRings(request, info->ifindex);
        break;
    case InterfacePortKind::XDP:
        ports.push_back(OpenXdp(request));
        break;
    case InterfacePortKind::DPDK:
        ports.push_back(OpenDpdk(request));
        break;
    case InterfacePortKind::NETMAP:
        ports.push_back(OpenNetmap(request));
        break;
    case InterfacePortKind::AUTO:
        ports = OpenEither(request, info->ifindex, opened.reason);
        break;
    case InterfacePortKind::TAP:
        break;
    }
    opened.port = Join(std::move(ports));
    opened.ifindex = info->ifindex;
    OpenDepartures(request, opened);
    opened.monitor = std::make_unique<viaduct::sys::LinkMonitor>(target.get());
    // The interface's state is read again, because the monitor does not report events that happened
    // while the port was opened.
    const auto now = viaduct::sys::Netlink().FindLink(info->ifindex);
    opened.running = now && now->up && now->carrier;
    return opened;
}

} // namespace ns3
