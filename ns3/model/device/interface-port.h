/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_INTERFACE_PORT_H
#define VIADUCT_INTERFACE_PORT_H

#include "base/fd.h"
#include "io/port.h"
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
    int mtu = 0;                                        //!< bytes
    bool running = false;                               //!< up, with a carrier
};

/**
 * @ingroup viaduct
 * @brief Open an interface in promiscuous mode. Needs CAP_NET_RAW, and CAP_SYS_ADMIN for another
 * network namespace.
 *
 * @param networkNamespace name or path of its namespace; empty for the process's own
 * @param interface its name
 * @param filter the frames to receive, in tcpdump's syntax; empty for all
 * @param qdiscBypass whether frames sent go past its queueing discipline
 * @return the interface
 * @throws viaduct::Error if it cannot be opened, saying why
 */
InterfacePort OpenInterfacePort(const std::string& networkNamespace,
                                const std::string& interface,
                                const std::string& filter,
                                bool qdiscBypass);

} // namespace ns3

#endif /* VIADUCT_INTERFACE_PORT_H */
