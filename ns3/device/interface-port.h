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
    std::unique_ptr<viaduct::io::AnyPort> port;         //!< its frames
    std::unique_ptr<viaduct::sys::LinkMonitor> monitor; //!< reports changes of its state
    int ifindex = 0;                                    //!< its number
    bool running = false;                               //!< up, with a carrier
    std::unique_ptr<viaduct::io::TimedSender> timed;    //!< by its qdisc; null: it keeps no times
    std::string departures; //!< what keeps the times of DepartureTags, and why
    std::string reason;     //!< why `port` is of its kind, if that was left open; else empty
};

/**
 * @ingroup viaduct
 * @brief By what an interface of this machine is read and written.
 */
enum class InterfacePortKind
{
    PACKET, //!< AF_PACKET: viaduct::io::RingPort
    XDP,    //!< AF_XDP: viaduct::io::XdpPort, or an error
    DPDK,   //!< a device of DPDK's (port/dpdk/open.h), or an error
    NETMAP, //!< netmap's rings (port/netmap/open.h), or an error
    AUTO,   //!< XDP where the driver has zero-copy, else PACKET
    TAP,    //!< the other end of a TAP device, made if it is not there: viaduct::io::TunPort
};

/**
 * @ingroup viaduct
 * @brief Which interface, and how.
 */
struct InterfaceRequest
{
    std::string networkNamespace; //!< name or path of its namespace; empty: the process's own
    std::string interface;        //!< its name; of DPDK also a device of its own
    int mtu = 0;                  //!< bytes that it has to carry at least
    std::string filter;           //!< the frames to receive, in tcpdump's syntax; empty: all
    bool qdiscBypass = true;      //!< whether frames sent go past its queueing discipline
    InterfacePortKind kind = InterfacePortKind::PACKET; //!< by what
    /** Of a TAP device: its queues. With AF_PACKET: sockets that share the frames (fanout). AF_XDP
     * has all queues of the interface anyway. */
    uint32_t queues = 1;
    bool blocks = false; //!< with AF_PACKET: viaduct::io::RingOptions::blocks
};

/**
 * @ingroup viaduct
 * @brief Open an interface in promiscuous mode. Needs CAP_NET_RAW, and CAP_SYS_ADMIN for another
 * network namespace; root for AF_XDP; for a TAP device CAP_NET_ADMIN, or that it is the user's.
 *
 * @param request which interface
 * @return the interface
 * @throws viaduct::Error if it cannot be opened so, saying why
 */
InterfacePort OpenInterfacePort(const InterfaceRequest& request);

} // namespace ns3

#endif /* VIADUCT_INTERFACE_PORT_H */
