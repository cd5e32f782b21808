/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_INTERFACE_PORT_H
#define VIADUCT_INTERFACE_PORT_H

#include "base/fd.h"
#include "port/packet/timed_sender.h"
#include "port/port.h"
#include "sys/network/link.h"

#include <memory>
#include <string>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief An interface of this machine that RingNetDevice itself has opened.
 */
struct InterfacePort
{
    std::unique_ptr<viaduct::io::AnyPort> port;         //!< carries the interface's frames
    std::unique_ptr<viaduct::sys::LinkMonitor> monitor; //!< reports changes of the link
    int ifindex = 0;                                    //!< the interface's index
    bool running = false;                               //!< whether the link is up, with a carrier
    std::unique_ptr<viaduct::io::TimedSender> timed;    //!< sender; null: the qdisc keeps no times
    std::string departures; //!< text: what keeps the times of DepartureTags, and why
    std::string reason;     //!< reason for the kind of `port` if the kind was left open; else empty
};

/**
 * @ingroup viaduct
 * @brief The kind of port with which an interface of this machine is read and written.
 */
enum class InterfacePortKind
{
    PACKET, //!< AF_PACKET: viaduct::io::RingPort
    XDP,    //!< AF_XDP: viaduct::io::XdpPort; an error if not available
    DPDK,   //!< DPDK (port/dpdk/open.h); an error if not available
    NETMAP, //!< netmap's rings (port/netmap/open.h); an error if not available
    AUTO,   //!< XDP if the driver has zero-copy, else PACKET
    TAP,    //!< the user-space end of a TAP device, created if absent: viaduct::io::TunPort
};

/**
 * @ingroup viaduct
 * @brief The description of an interface to open.
 */
struct InterfaceRequest
{
    std::string networkNamespace; //!< the namespace's name or path; empty: the process's namespace
    std::string interface;        //!< the interface's name, or a name of a DPDK device
    int mtu = 0;                  //!< minimum MTU of the interface, bytes
    std::string filter;           //!< frames to receive, in tcpdump's syntax; empty: all
    bool qdiscBypass = true;      //!< whether sent frames bypass the queueing discipline
    InterfacePortKind kind = InterfacePortKind::PACKET; //!< kind of port to open
    /** The number of queues of a TAP device, or of AF_PACKET sockets that share the frames
     * (fanout). AF_XDP always uses all queues of the interface. */
    uint32_t queues = 1;
    /** For AF_PACKET: whether the ring is of blocks (viaduct::io::RingOptions::blocks). */
    bool blocks = false;
};

/**
 * @ingroup viaduct
 * @brief Opens an interface in promiscuous mode. Needs CAP_NET_RAW, and CAP_SYS_ADMIN for another
 * network namespace; root for AF_XDP; for a TAP device CAP_NET_ADMIN, unless the user owns the
 * device.
 *
 * @param request the interface and the kind of port
 * @return the opened interface
 * @throws viaduct::Error with the reason, if the interface cannot be opened with this kind of port
 */
InterfacePort OpenInterfacePort(const InterfaceRequest& request);

} // namespace ns3

#endif /* VIADUCT_INTERFACE_PORT_H */
