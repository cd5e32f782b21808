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
 * @brief An interface of this machine, opened by RingNetDevice itself.
 */
struct InterfacePort
{
    std::unique_ptr<viaduct::io::AnyPort> port;         //!< carries the interface's frames
    std::unique_ptr<viaduct::sys::LinkMonitor> monitor; //!< reports changes of the state
    int ifindex = 0;                                    //!< the interface's index
    bool running = false;                               //!< whether it is up, with a carrier
    std::unique_ptr<viaduct::io::TimedSender> timed;    //!< through the qdisc; null: no times kept
    std::string departures; //!< text: the keeper of the times of DepartureTags, and the reason
    std::string reason;     //!< reason for the kind of `port` if the kind was left open; else empty
};

/**
 * @ingroup viaduct
 * @brief The means by which an interface of this machine is read and written.
 */
enum class InterfacePortKind
{
    PACKET, //!< AF_PACKET: viaduct::io::RingPort
    XDP,    //!< AF_XDP: viaduct::io::XdpPort; else an error
    DPDK,   //!< a device of DPDK's (port/dpdk/open.h); else an error
    NETMAP, //!< netmap's rings (port/netmap/open.h); else an error
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
    int mtu = 0;                  //!< bytes that the interface must be able to carry
    std::string filter;           //!< frames to receive, in tcpdump's syntax; empty: all
    bool qdiscBypass = true;      //!< whether sent frames bypass the queueing discipline
    InterfacePortKind kind = InterfacePortKind::PACKET; //!< the means of access
    /** The number of queues of a TAP device. With AF_PACKET: of sockets that share the frames
     * (fanout). AF_XDP always has all queues of the interface. */
    uint32_t queues = 1;
    bool blocks = false; //!< with AF_PACKET: viaduct::io::RingOptions::blocks
};

/**
 * @ingroup viaduct
 * @brief Opens an interface in promiscuous mode. Needs CAP_NET_RAW, and CAP_SYS_ADMIN for another
 * network namespace; root for AF_XDP; for a TAP device CAP_NET_ADMIN, or that the user owns it.
 *
 * @param request the interface and the means
 * @return the interface
 * @throws viaduct::Error with the reason, if the interface cannot be opened in this way
 */
InterfacePort OpenInterfacePort(const InterfaceRequest& request);

} // namespace ns3

#endif /* VIADUCT_INTERFACE_PORT_H */
