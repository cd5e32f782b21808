/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_STACK_HELPER_H
#define VIADUCT_KERNEL_STACK_HELPER_H

#include "ns3/ipv4-routing-helper.h"
#include "ns3/ipv6-routing-helper.h"
#include "ns3/kernel/kernel-guest.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief Gives nodes a real Linux kernel as their IP stack, instead of InternetStackHelper.
 *
 * Devices, addresses and routes are then set as on any node. Kernels are User Mode Linux guests in
 * virtual time, with a network namespace for each node. All nodes of an Install() share one guest,
 * unless they exceed its capacity or SetGuests() asks for more. Errors (no kernel built, too many
 * devices, a guest that crashed) are thrown as viaduct::Error from Install() or Simulator::Run().
 */
class KernelStackHelper
{
  public:
    KernelStackHelper();

    /**
     * @param name an attribute of KernelGuest: Kernel, Memory, BootParameters, Place
     * @param value the attribute's value, for guests that Install() creates after this call
     */
    void SetAttribute(const std::string& name, const AttributeValue& value)
    {
        m_guestFactory.Set(name, value);
    }

    /**
     * @param guests the number of guests over which the nodes of one Install() are distributed, in
     * blocks; 0 (the default): the minimum that can hold the nodes with four devices each (a
     * guest's kernel has a limit, see image.json)
     */
    void SetGuests(uint32_t guests)
    {
        m_nGuests = guests;
    }

    /**
     * @param name the name of a kernel parameter, e.g. "net.ipv4.tcp_congestion_control"
     * @param value the parameter's value
     */
    void SetSysctl(const std::string& name, const std::string& value)
    {
        m_sysctls[name] = value;
    }

    /**
     * @param routing creates the nodes' IPv4 routing protocols; the default is ns-3's static and
     * global routing. Their routes are copied to the kernel, and their sockets are the kernel's
     */
    void SetRoutingHelper(const Ipv4RoutingHelper& routing);
    /** @copydoc SetRoutingHelper(const Ipv4RoutingHelper&) */
    void SetRoutingHelper(const Ipv6RoutingHelper& routing);

    /** Gives nodes their stack. They must not have one yet.
     * @param nodes the nodes
     */
    void Install(const NodeContainer& nodes);

    /** Captures the Ethernet frames that the kernel sends and receives on every device of nodes.
     * Call it after Install() and before the start of the simulation.
     * @param prefix the files are PREFIX-NODE-DEVICE.pcap
     * @param nodes the nodes
     */
    static void EnablePcap(const std::string& prefix, const NodeContainer& nodes);
    /**
     * Writes the state of nodes over time to files of comma-separated values: TCP sockets
     * (TCP_INFO) to PREFIX-NODE-tcp.csv, queueing disciplines to PREFIX-NODE-qdisc.csv, counters
     * that have changed to PREFIX-NODE-nstat.csv (KernelStateCsv). Call it after Install().
     * @param prefix the files' prefix
     * @param nodes the nodes
     * @param interval the interval of KernelState on these nodes
     */
    static void EnableStateCsv(const std::string& prefix,
                               const NodeContainer& nodes,
                               Time interval);
    /**
     * Writes the state of one node over time to files of comma-separated values.
     * @param prefix the files are PREFIX-tcp.csv, PREFIX-qdisc.csv and PREFIX-nstat.csv
     * @param node the node
     * @param interval the interval of KernelState on the node
     */
    static void EnableStateCsv(const std::string& prefix, Ptr<Node> node, Time interval);

    /** @return the guests that Install() created */
    const std::vector<Ptr<KernelGuest>>& GetGuests() const
    {
        return m_guests;
    }

  private:
    void InstallOn(Ptr<Node> node, Ptr<KernelGuest> guest) const;
    Ptr<KernelGuest> MakeGuest();
    uint32_t GuestsFor(uint32_t nodes, Ptr<KernelGuest> guest) const;

    ObjectFactory m_guestFactory;                        //!< makes guests
    uint32_t m_nGuests{0};                               //!< per call of Install(); 0: as needed
    std::map<std::string, std::string> m_sysctls;        //!< the nodes' kernel parameters
    std::shared_ptr<const Ipv4RoutingHelper> m_routing;  //!< the user's; null: the default
    std::shared_ptr<const Ipv6RoutingHelper> m_routing6; //!< the user's; null: the default
    std::vector<Ptr<KernelGuest>> m_guests;              //!< created so far
};

} // namespace ns3

#endif // VIADUCT_KERNEL_STACK_HELPER_H
