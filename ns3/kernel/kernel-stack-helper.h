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
 * Devices, addresses and routes are set as on any other node. Kernels are User Mode Linux guests in
 * virtual time, with a network namespace for each node. All nodes of an Install() share one guest,
 * unless the nodes exceed the guest's capacity or SetGuests() sets a larger number. Errors (no
 * kernel built, too many devices, a guest that crashed) are thrown as viaduct::Error from Install()
 * or Simulator::Run().
 */
class KernelStackHelper
{
  public:
    KernelStackHelper();

    /** Sets an attribute of the guests.
     * @param name an attribute of KernelGuest: Kernel, Memory, BootParameters, Place
     * @param value the attribute's value, for guests that Install() creates after this call
     */
    void SetAttribute(const std::string& name, const AttributeValue& value)
    {
        m_guestFactory.Set(name, value);
    }

    /** Sets the number of guests of one Install().
     * @param guests the number of guests over which the nodes are distributed, in blocks of
     * consecutive nodes; 0 (the default): the minimum for nodes with four devices each (image.json
     * has the maximum number of devices of a guest's kernel)
     */
    void SetGuests(uint32_t guests)
    {
        m_nGuests = guests;
    }

    /** Sets a kernel parameter of the nodes on which Install() is called later.
     * @param name the parameter's name, e.g. "net.ipv4.tcp_congestion_control"
     * @param value the parameter's value
     */
    void SetSysctl(const std::string& name, const std::string& value)
    {
        m_sysctls[name] = value;
    }

    /** Sets the IPv4 routing protocols of the nodes. The protocols' routes are copied to the
     * kernel, and the protocols use sockets of the kernel.
     * @param routing the helper that creates the protocols; the default is ns-3's static and global
     * routing
     */
    void SetRoutingHelper(const Ipv4RoutingHelper& routing);
    /** Sets the IPv6 routing protocols of the nodes. The protocols' routes are copied to the
     * kernel, and the protocols use sockets of the kernel.
     * @param routing the helper that creates the protocols; the default is ns-3's static routing
     */
    void SetRoutingHelper(const Ipv6RoutingHelper& routing);

    /** Makes kernels the IP stacks of nodes, which must not have a stack yet.
     * @param nodes the nodes
     */
    void Install(const NodeContainer& nodes);

    /** Captures the Ethernet frames that the kernel sends and receives on every device of nodes.
     * Must be called after Install() and before the start of the simulation.
     * @param prefix the prefix of the files, which are PREFIX-NODE-DEVICE.pcap
     * @param nodes the nodes
     */
    static void EnablePcap(const std::string& prefix, const NodeContainer& nodes);
    /**
     * Writes the state of nodes over time to files of comma-separated values: TCP sockets
     * (TCP_INFO) to PREFIX-NODE-tcp.csv, queueing disciplines to PREFIX-NODE-qdisc.csv, counters
     * that have changed to PREFIX-NODE-nstat.csv (KernelStateCsv). Must be called after Install().
     * @param prefix the files' prefix
     * @param nodes the nodes
     * @param interval the time between two samples of the nodes' state (KernelState)
     */
    static void EnableStateCsv(const std::string& prefix,
                               const NodeContainer& nodes,
                               Time interval);
    /**
     * Writes the state of one node over time to files of comma-separated values.
     * @param prefix the prefix of the files, which are PREFIX-tcp.csv, PREFIX-qdisc.csv and
     * PREFIX-nstat.csv
     * @param node the node
     * @param interval the time between two samples of the node's state (KernelState)
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

    ObjectFactory m_guestFactory;                        //!< factory of guests
    uint32_t m_nGuests{0};                               //!< guests per Install(); 0: the minimum
    std::map<std::string, std::string> m_sysctls;        //!< kernel parameters, by name
    std::shared_ptr<const Ipv4RoutingHelper> m_routing;  //!< IPv4 routing; null: the default
    std::shared_ptr<const Ipv6RoutingHelper> m_routing6; //!< IPv6 routing; null: the default
    std::vector<Ptr<KernelGuest>> m_guests;              //!< guests created so far
};

} // namespace ns3

#endif // VIADUCT_KERNEL_STACK_HELPER_H
