/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "interface-port.h"

#include "base/error.h"
#include "dpdk/open.h"
#include "io/ring_port.h"
#include "netmap/open.h"
#include "sys/network/filter.h"
#include "sys/network/netns.h"
#include "sys/network/packet_socket.h"
#include "sys/network/qdisc.h"
#include "xdp/interface_guardian.h"
#include "xdp/open.h"

#include <fcntl.h>
#include <optional>
#include <sys/socket.h>
#include <utility>

namespace ns3
{

namespace
{

/** @return the descriptor of a namespace: name, path, or empty for the process's own */
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
 * @return a socket by which viaduct::io::RingPort sends. Its buffer is what queue limits see below
 * the device, and stays as it is
 */
viaduct::UniqueFd
OpenSender(const std::string& interface)
{
    return viaduct::UniqueFd(
        viaduct::SystemCall("open a packet socket on " + interface + " (needs root)",
                            ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
}

/** @return one by which it receives, with room for super-frames, which no ring has */
viaduct::UniqueFd
OpenReceiver(const InterfaceRequest& request)
{
    const auto program = viaduct::sys::PacketFilter::Compile(request.filter);
    viaduct::UniqueFd socket =
        std::move(viaduct::sys::OpenPacketSocket(request.interface, /*promiscuous=*/true).fd);
    program.Attach(socket.get());
    return socket;
}

/** @return a port of all kernels; @p ifindex of the interface, in the namespace of the thread */
std::unique_ptr<viaduct::io::AnyPort>
OpenRing(const InterfaceRequest& request, int ifindex)
{
    viaduct::io::RingOptions options;
    options.ifindex = ifindex;
    options.qdisc_bypass = request.qdiscBypass;
    options.stamp_on_arrival = true;
    return viaduct::io::Hold(
        viaduct::io::RingPort(OpenReceiver(request), options, OpenSender(request.interface)));
}

/** @return a port by AF_XDP, likewise */
std::unique_ptr<viaduct::io::XdpPort>
OpenXdp(const InterfaceRequest& request)
{
    if (!request.qdiscBypass)
    {
        throw viaduct::UsageError(
            "AF_XDP sends past the queueing discipline of " + request.interface +
            ": set QdiscBypass to true, or Port to AfPacket (attributes of ns3::RingNetDevice)");
    }
    return std::make_unique<viaduct::io::XdpPort>(
        viaduct::xdp::OpenXdpPort({.interface = request.interface, .filter = request.filter}));
}

/** @return what has the offloads off that would be in the way, as long as it lives */
std::shared_ptr<void>
KeepOffloadsOff(const InterfaceRequest& request)
{
    return std::make_shared<viaduct::xdp::InterfaceGuardian>(request.interface);
}

/** @return a port by DPDK, on an interface of the kernel's */
std::unique_ptr<viaduct::io::AnyPort>
OpenDpdk(const InterfaceRequest& request)
{
    return viaduct::dpdk::OpenPort({.interface = request.interface,
                                    .filter = request.filter,
                                    .qdisc_bypass = request.qdiscBypass,
                                    .keeper = KeepOffloadsOff(request)});
}

/** @return a port by netmap, likewise */
std::unique_ptr<viaduct::io::AnyPort>
OpenNetmap(const InterfaceRequest& request)
{
    if (!request.filter.empty() || !request.qdiscBypass)
    {
        throw viaduct::UsageError("netmap on interface " + request.interface +
                                  ": its frames pass neither filters nor queueing disciplines "
                                  "(attributes Filter and QdiscBypass of ns3::RingNetDevice)");
    }
    return viaduct::netmap::OpenPort(request.interface, KeepOffloadsOff(request));
}

/** @return the better one; says in @p reason which and why */
std::unique_ptr<viaduct::io::AnyPort>
OpenEither(const InterfaceRequest& request, int ifindex, std::string& reason)
{
    try
    {
        auto opened = OpenXdp(request);
        if (opened->state().zero_copy)
        {
            reason = "its driver has zero-copy";
            return opened;
        }
        reason = "not AF_XDP: its driver has no zero-copy";
    }
    catch (const viaduct::Error& error)
    {
        reason = std::string("not AF_XDP: ") + error.what();
    }
    return OpenRing(request, ifindex);
}

/** Throws viaduct::UsageError if an interface cannot be the device's. */
void
Examine(const InterfaceRequest& request, const viaduct::sys::LinkInfo& link)
{
    if (!link.ethernet)
    {
        throw viaduct::UsageError("interface " + request.interface +
                                  ": its frames are not Ethernet's (a TUN device, a tunnel of IP)");
    }
    if (link.mtu < request.mtu)
    {
        throw viaduct::UsageError("interface " + request.interface + " carries " +
                                  std::to_string(link.mtu) +
                                  " bytes at most: set the attribute Mtu of ns3::RingNetDevice to "
                                  "that or less");
    }
}

/** @return InterfacePort::departures, in the namespace of the thread */
std::string
DescribeDepartures(int ifindex, bool passesQdisc)
{
    if (!passesQdisc)
    {
        return "by the simulator's clock: frames pass no qdisc";
    }
    viaduct::sys::Netlink session;
    const std::string keeper =
        viaduct::sys::QdiscOfDepartureTimes(viaduct::sys::Qdiscs(session, ifindex));
    if (keeper.empty())
    {
        return "by the simulator's clock: the qdisc (" + viaduct::sys::RootQdisc(session, ifindex) +
               ") keeps no times";
    }
    return "by the simulator's clock: SO_TXTIME is not used, though the qdisc (" + keeper +
           ") keeps times";
}

/** @return a device of DPDK's own, of which the kernel reports nothing */
InterfacePort
OpenDpdkDevice(const InterfaceRequest& request, int networkNamespace)
{
    InterfacePort opened;
    opened.port = viaduct::dpdk::OpenPort({.interface = request.interface,
                                           .filter = request.filter,
                                           .qdisc_bypass = request.qdiscBypass,
                                           .mtu = static_cast<uint32_t>(request.mtu)});
    opened.departures = "by the simulator's clock: frames pass no qdisc";
    opened.monitor = std::make_unique<viaduct::sys::LinkMonitor>(networkNamespace);
    opened.running = opened.port->Up();
    return opened;
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
    if (request.kind == InterfacePortKind::DPDK && viaduct::dpdk::IsDevice(request.interface))
    {
        return OpenDpdkDevice(request, target.get());
    }
    const auto info = viaduct::sys::Netlink().FindLink(request.interface);
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
        opened.port = OpenRing(request, info->ifindex);
        break;
    case InterfacePortKind::XDP:
        opened.port = OpenXdp(request);
        break;
    case InterfacePortKind::DPDK:
        opened.port = OpenDpdk(request);
        break;
    case InterfacePortKind::NETMAP:
        opened.port = OpenNetmap(request);
        break;
    case InterfacePortKind::AUTO:
        opened.port = OpenEither(request, info->ifindex, opened.reason);
        break;
    }
    opened.departures = DescribeDepartures(info->ifindex, !request.qdiscBypass);
    opened.monitor = std::make_unique<viaduct::sys::LinkMonitor>(target.get());
    opened.ifindex = info->ifindex;
    opened.running = info->running;
    return opened;
}

} // namespace ns3
