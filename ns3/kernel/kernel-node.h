/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_NODE_H
#define VIADUCT_KERNEL_NODE_H

#include "ns3/kernel/kernel-device-bridge.h"
#include "ns3/kernel/kernel-guest.h"
#include "ns3/kernel/kernel-upcalls.h"
#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/routes/route-source.h"
#include "ns3/socket/kernel-socket-stack.h"

#include "base/wire/address.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ns3
{
/**
 * @ingroup viaduct
 * @brief The kernel part of a node whose IP stack is a real kernel: keeps the kernel's interfaces,
 * addresses and routes equal to the interfaces, addresses and routes of the node's ns-3 objects.
 */
class KernelNode : public Object
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    /** Makes a guest the IP stack of a node. The IP layers must be aggregated to the node already.
     * @param node the node
     * @param guest the guest whose kernel is the stack
     */
    void Install(Ptr<Node> node, Ptr<KernelGuest> guest);
    /** Sets a kernel parameter of the node.
     * @param name the parameter's name, e.g. "net.ipv4.tcp_congestion_control"
     * @param value the parameter's value, set before the node's devices go up
     */
    void SetSysctl(const std::string& name, const std::string& value);
    /**
     * Sets the interval of requests for a neighbour's address. Two kernels with equal intervals
     * that send a first request at the same instant also repeat the request at the same instants.
     * On a radio channel, if the two senders do not receive each other, all requests would be lost.
     * @param device a device of the node
     * @param interval the time between two requests for a neighbour's address (ARP and neighbour
     * solicitation; retrans_time_ms of the device), in whole milliseconds
     */
    void SetRequestInterval(Ptr<NetDevice> device, Time interval);
    /**
     * Writes a capture file for each of the node's devices.
     * @param prefix the prefix of the files, which are PREFIX-NODE-DEVICE.pcap
     */
    void EnablePcap(const std::string& prefix)
    {
        m_pcapPrefix = prefix;
    }

    /** Registers the addresses of a device as endpoints of MPTCP (RFC 8684 section 3.4).
     * @param device a device of the node; addresses that the device gets later are not endpoints
     * @param flags a combination of the flags MPTCP_PM_ADDR_FLAG_... of linux/mptcp.h
     */
    void AddMptcpEndpoint(Ptr<NetDevice> device, uint32_t flags);
    /** Sets the limits of the node's MPTCP connections.
     * @param subflows the maximum number of subflows of a connection in addition to its first
     * subflow; at most 8
     * @param addresses the maximum number of addresses announced by the peer that a connection
     * uses; at most 8
     */
    void SetMptcpLimits(uint32_t subflows, uint32_t addresses);
    /** Makes the node send packets whose source is an address of a device through that device (with
     * ip rules and the routing tables from 1000 on).
     * @param device a device of the node; addresses that the device gets later have no such rule
     * @param gateway the gateway to destinations beyond the device's networks; none: such
     * destinations have no route through the device
     */
    void AddSourceRoute(Ptr<NetDevice> device,
                        const std::optional<viaduct::wire::IpAddress>& gateway);

    /** Adds the node's devices to the guest; called before the boot. */
    void Prepare();
    /** @return whether the kernel has all devices of the node */
    bool IsConfigured() const;
    /**
     * Passes the node's routes to the kernel, at the call and when routes change. Called when
     * IsConfigured() returns true.
     */
    void StartRoutes();

    /** @return the name of the node and of its namespace in the guest */
    std::string GetName() const
    {
        return m_name;
    }

    /**
     * @return the port through which the node's routing protocols receive packets for which the
     * kernel has no route; null if none of the protocols may find routes on demand
     */
    Ptr<UpcallPort> GetUpcalls() const
    {
        return m_upcalls ? m_upcalls->GetPort() : nullptr;
    }

    /** @return the node's guest */
    Ptr<KernelGuest> GetGuest() const
    {
        return m_guest;
    }

    /**
     * @param device a device of the node
     * @return the bridge that carries the device's frames; null before the start of the simulation
     */
    Ptr<KernelDeviceBridge> GetBridge(Ptr<NetDevice> device) const;

    /**
     * @param device a device of the node
     * @return the device's name in the kernel; "" before the start of the simulation
     */
    std::string GetInterface(Ptr<NetDevice> device) const;

    /**
     * @name Functions that KernelIpv4 and KernelIpv6 call to report changes; at the boot KernelNode
     * itself reads the state of the node's IP layers @{
     */
    void AddressAdded(Ptr<NetDevice> device, const viaduct::wire::IpPrefix& address);
    void AddressRemoved(Ptr<NetDevice> device, const viaduct::wire::IpPrefix& address);
    void UpChanged(Ptr<NetDevice> device);
    void ForwardingChanged(Ptr<NetDevice> device, bool ipv6);
    void RoutesMayHaveChanged();
    /** @} */

  protected:
    void DoInitialize() override;
    void DoDispose() override;

  private:
    /** A device of the node. */
    struct Port
    {
        Ptr<NetDevice> device;          //!< the ns-3 device
        Ptr<KernelDeviceBridge> bridge; //!< carries frames between ns-3 and the kernel
        std::string name;               //!< device's name in the kernel
        int ifindex{0};                 //!< device's index in the kernel; 0: not known yet
        uint32_t mtu{0};                //!< device's initial MTU in the kernel
    };

    /** Work for a device that is done when the kernel has the device and its addresses. */
    struct Later
    {
        Ptr<NetDevice> device;                 //!< the ns-3 device
        std::function<void(const Port&)> work; //!< function, called with the port of `device`
    };

    void WhenConfigured(Ptr<NetDevice> device, std::function<void(const Port&)> work);
    void AddSourceRules(const Port& port);
    void AddSourceRoutes(const Port& port, const std::optional<viaduct::wire::IpAddress>& gateway);
    Port* Find(Ptr<NetDevice> device);
    void AddPort(Ptr<NetDevice> device);
    void AddAddress(const Port& port, const viaduct::wire::IpPrefix& address);
    void StartUpcalls();
    void AddLoopbacks(Ptr<NetDevice> device);
    void Configure(Port& port);
    uint32_t SourceTable(const Port& port) const;
    void WriteForwarding(const Port& port);
    void WriteForwarding6(const Port& port);
    void SetUp(const Port& port);
    bool IsUp(const Port& port) const;
    bool HasIpv6(const Port& port) const;
    void WriteSysctl(const std::string& name, const std::string& value);
    viaduct::guest::AgentClient& Agent() const;

    Ptr<Node> m_node;                             //!< the node
    Ptr<KernelGuest> m_guest;                     //!< the node's guest
    Ptr<KernelSocketStack> m_sockets;             //!< the node's sockets
    Ptr<RouteSource> m_routes;                    //!< copies the node's routes to the kernel
    Ptr<KernelUpcalls> m_upcalls;                 //!< handles packets without a route
    std::set<viaduct::wire::Family> m_onDemand;   //!< families with routes found on demand
    uint32_t m_number{0};                         //!< node's number in the guest
    std::string m_name;                           //!< node's name in the guest
    std::map<std::string, std::string> m_sysctls; //!< values of kernel parameters, by name
    bool m_forwards6{false};                      //!< whether the kernel forwards IPv6
    bool m_forwardingChosen{false};               //!< whether SetForwarding() was called for IPv4
    bool m_forwardingChosen6{false};              //!< whether SetForwarding() was called for IPv6
    std::string m_pcapPrefix;                     //!< prefix of capture files; empty: no files
    std::vector<Port> m_ports;                    //!< the node's devices
    std::vector<Later> m_later;                   //!< work that waits for a device, oldest first
    /** The gateways of AddSourceRoute(), by device, to add the source routes again: the kernel
     * removes the routes when the device goes down. */
    std::map<Ptr<NetDevice>, std::optional<viaduct::wire::IpAddress>> m_sourceGateways;
};

} // namespace ns3

#endif // VIADUCT_KERNEL_NODE_H
