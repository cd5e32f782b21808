/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_LINK_WATCH_H
#define VIADUCT_LINK_WATCH_H

#include "ns3/device/ring-net-device.h"

#include "base/fd.h"
#include "sys/network/link.h"

#include <cstdint>
#include <map>
#include <string>

namespace ns3
{

/**
 * @ingroup viaduct
 * Keeps the link state of devices equal to that of their interfaces in the kernel: a link is up if
 * the interface is administratively up and has a carrier. Does nothing unless the simulator is
 * ReactorSimulatorImpl.
 */
class LinkWatch
{
  public:
    /**
     * @param monitor a socket that receives reports about the states of links (sys::LinkMonitor)
     * @param devices the devices by the names of their interfaces
     */
    LinkWatch(viaduct::UniqueFd monitor, std::map<std::string, Ptr<RingNetDevice>> devices);
    ~LinkWatch();
    LinkWatch(const LinkWatch&) = delete;
    LinkWatch& operator=(const LinkWatch&) = delete;

  private:
    bool Read();

    viaduct::sys::LinkMonitor m_monitor;                 //!< reports changes of links
    std::map<std::string, Ptr<RingNetDevice>> m_devices; //!< devices by interface name
    uint32_t m_pollable{0};                              //!< id of the monitor in the reactor
};

} // namespace ns3

#endif // VIADUCT_LINK_WATCH_H
