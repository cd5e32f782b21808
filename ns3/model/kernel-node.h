/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_NODE_H
#define VIADUCT_KERNEL_NODE_H

#include "ns3/ipv4-interface-address.h"
#include "ns3/ipv6-interface-address.h"
#include "ns3/kernel-device-bridge.h"
#include "ns3/kernel-guest.h"
#include "ns3/kernel-socket-stack.h"
#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/object.h"
#include "ns3/route-source.h"

#include "fib/route.h"
#include "wire/address.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup viaduct
 * ns3::KernelNode declaration.
 */

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief A node whose IP stack is a real kernel: keeps the kernel's interfaces, addresses and
 * routes as ns-3's objects on the node have them.
 */
class KernelNode : public Object
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();
    KernelNode();
    ~KernelNode() override;

    /**
     * Gives the node its stack. The IP layers are aggregated to the node already.
     * @param node the node
     * @param guest the kernel
     */
    void Install(Ptr<Node> node, Ptr<KernelGuest> guest);
    /**
     * @param name of a kernel parameter, e.g. "net.ipv4.tcp_congestion_control"
     * @param value its value, set before the node's devices go up
     */
    void SetSysctl(const std::string& name, const std::string& value);
    /**
     * Captures each of the node's devices.
     * @param prefix the files are PREFIX-NODE-DEVICE.pcap
     */
    void EnablePcap(const std::string& prefix);

    /** Before the boot: adds the node's devices to the guest. */
    void Prepare();

    /** @return its name in the guest, and of its namespace there */
    std::string GetName() const;
    /** @return its guest */
    Ptr<KernelGuest> GetGuest() const;
    /**
     * @param device a device of the node
     * @return what carries its frames; null before the start of the simulation
     */
    Ptr<KernelDeviceBridge> GetBridge(Ptr<NetDevice> device) const;

    /** @name What KernelIpv4 and KernelIpv6 pass on; before the boot it is found there @{ */
    void AddressAdded(Ptr<NetDevice> device, const viaduct::wire::IpPrefix& address);
    void AddressRemoved(Ptr<NetDevice> device, const viaduct::wire::IpPrefix& address);
    void UpChanged(Ptr<NetDevice> device);
    void ForwardingChanged(Ptr<NetDevice> device, bool ipv6, bool on);
    void RoutesMayHaveChanged();
    /** @} */

  protected:
    void DoInitialize() override;
    void DoDispose() override;

  private:
    /** A device of the node. */
    struct Port
    {
        Ptr<NetDevice> device;          //!< in ns-3
        Ptr<KernelDeviceBridge> bridge; //!< between the two
        std::string name;               //!< in the kernel
        int ifindex{0};                 //!< there; 0 until it is known
    };

    Port* Find(Ptr<NetDevice> device);
    void AddPort(Ptr<NetDevice> device);
    void Configure(Port& port);
    bool IsUp(const Port& port) const;
    bool HasIpv6(const Port& port) const;
    std::vector<viaduct::wire::IpPrefix> AddressesOf(const Port& port) const;
    void StartRoutes();
    void Apply(const viaduct::fib::RouteChanges& changes);
    void ApplyRoute(const viaduct::fib::Route& route, bool add);
    void WriteSysctl(const std::string& name, const std::string& value);
    viaduct::kernel::AgentClient& Agent() const;

    Ptr<Node> m_node;                             //!< the node
    Ptr<KernelGuest> m_guest;                     //!< its kernel
    Ptr<KernelSocketStack> m_sockets;             //!< its sockets
    Ptr<RouteSource> m_routes;                    //!< mirrors its routes
    uint32_t m_number{0};                         //!< in the guest
    std::string m_name;                           //!< in the guest
    std::map<std::string, std::string> m_sysctls; //!< the user's
    std::string m_pcapPrefix;                     //!< if captures are wanted
    std::vector<Port> m_ports;                    //!< its devices
};

} // namespace ns3

#endif // VIADUCT_KERNEL_NODE_H
