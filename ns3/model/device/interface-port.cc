/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "interface-port.h"

#include "base/error.h"
#include "io/ring_port.h"
#include "sys/network/filter.h"
#include "sys/network/netns.h"

#include <fcntl.h>
#include <linux/if_packet.h>
#include <optional>
#include <sys/socket.h>

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

/** @return an unbound AF_PACKET socket */
viaduct::UniqueFd
OpenPacketSocket(const std::string& interface)
{
    return viaduct::UniqueFd(
        viaduct::SystemCall("open a packet socket on " + interface + " (needs root)",
                            ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
}

/** @return one by which viaduct::io::RingPort receives */
viaduct::UniqueFd
OpenReceiver(int ifindex, const std::string& interface, const std::string& filter)
{
    const auto program = viaduct::sys::PacketFilter::Compile(filter);
    viaduct::UniqueFd socket = OpenPacketSocket(interface);
    program.Attach(socket.get());
    packet_mreq promiscuous{};
    promiscuous.mr_ifindex = ifindex;
    promiscuous.mr_type = PACKET_MR_PROMISC;
    viaduct::SystemCall(
        "make " + interface + " promiscuous",
        setsockopt(
            socket.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous, sizeof(promiscuous)));
    return socket;
}

} // namespace

InterfacePort
OpenInterfacePort(const std::string& networkNamespace,
                  const std::string& interface,
                  const std::string& filter,
                  bool qdiscBypass)
{
    const viaduct::UniqueFd target = OpenNamespace(networkNamespace);
    std::optional<viaduct::sys::NamespaceScope> scope;
    if (!networkNamespace.empty())
    {
        scope.emplace(target.get());
    }
    const auto info = viaduct::sys::Netlink().FindLink(interface);
    if (!info)
    {
        throw viaduct::UsageError("there is no interface " + interface +
                                  (networkNamespace.empty() ? "" : " in " + networkNamespace) +
                                  ": see `ip link`");
    }
    InterfacePort opened;
    viaduct::io::RingOptions options;
    options.ifindex = info->ifindex;
    options.qdisc_bypass = qdiscBypass;
    opened.port = viaduct::io::Hold(viaduct::io::RingPort(
        OpenReceiver(info->ifindex, interface, filter), options, OpenPacketSocket(interface)));
    opened.monitor = std::make_unique<viaduct::sys::LinkMonitor>(target.get());
    opened.ifindex = info->ifindex;
    opened.mtu = info->mtu;
    opened.running = info->running;
    return opened;
}

} // namespace ns3
