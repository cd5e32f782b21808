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
    /** Sender that passes frames with departure times to the qdisc; null: the qdisc does not
     * support departure times. */
    std::unique_ptr<viaduct::io::TimedSender> timed;
    std::string departures; //!< description of what sends frames at their departure times, and why
    std::string reason;     //!< reason for the kind that AUTO has chosen; empty for other kinds
};

/**
 * @ingroup viaduct
 * @brief The kind of port with which an interface of this machine is read and written.
 */
enum class InterfacePortKind
{
    PACKET, //!< AF_PACKET: viaduct::io::RingPort
    XDP,    //!< AF_XDP (viaduct::io::XdpPort); if it is not available, the opening fails
    DPDK,   //!< DPDK (port/dpdk/open.h); if it is not available, the opening fails
    NETMAP, //!< netmap's rings (port/netmap/open.h); if not available, the opening fails
    AUTO,   //!< XDP if the driver supports zero-copy, otherwise PACKET
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
    std::string filter;           //!< filter for received frames, tcpdump's syntax; empty: all pass
    bool qdiscBypass = true;      //!< whether sent frames bypass the queueing discipline
    InterfacePortKind kind = InterfacePortKind::PACKET; //!< kind of port to open
    /** The number of queues of a TAP device, or of AF_PACKET sockets that share the frames
     * (fanout). AF_XDP always uses all queues of the interface. */
    uint32_t queues = 1;
    /** For AF_PACKET: whether the ring consists of blocks (viaduct::io::RingOptions::blocks). */
    bool blocks = false;
};

/**
 * @ingroup viaduct
 * @brief Opens an interface in promiscuous mode. Needs CAP_NET_RAW. An interface in another network
 * namespace also needs CAP_SYS_ADMIN, AF_XDP needs root, and a TAP device needs CAP_NET_ADMIN
 * unless the user owns the device.
 *
 * @param request the interface and the kind of port
 * @return the opened interface
 * @throws viaduct::Error with the reason, if the interface cannot be opened with this kind of port
 */
InterfacePort OpenInterfacePort(const InterfaceRequest& request);

} // namespace ns3

#endif /* VIADUCT_INTERFACE_PORT_H */
