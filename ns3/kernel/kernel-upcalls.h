/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_UPCALLS_H
#define VIADUCT_KERNEL_UPCALLS_H

#include "ns3/kernel/kernel-device-bridge.h"
#include "ns3/kernel/kernel-guest.h"
#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/offload/upcall-port.h"

#include "base/wire/address.h"
#include "plane/bpf/upcall_program.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * Passes packets to a node's routing protocols if the node's kernel, in virtual time, has no route
 * for the packets.
 *
 * The kernel has an additional device, the upcall device, whose frames are sent to this object.
 * After the rules that find routes, the kernel has a rule for each interface on which a packet may
 * have arrived. The default route of the rule's table has a separate next hop on the upcall device,
 * and the MAC address of this next hop identifies the interface. So a frame's destination address
 * identifies on which interface the packet arrived.
 * Routes in use are observed at the bridges of the node's other devices.
 */
class KernelUpcalls : public Object
{
  public:
    /** A device of the node, except the upcall device. */
    struct Interface
    {
        Ptr<NetDevice> device;          //!< the ns-3 device
        Ptr<KernelDeviceBridge> bridge; //!< carries frames of the device
        std::string name;               //!< device's name in the kernel
        int ifindex;                    //!< device's index in the kernel
    };

    /** @return the object TypeId */
    static TypeId GetTypeId();

    /**
     * @param node a node that has its routing protocols
     * @return the IP versions for which a routing protocol of the node finds, or may find, routes
     * on demand
     */
    static std::set<viaduct::wire::Family> FamiliesOf(Ptr<Node> node);

    /**
     * Adds the upcall device to the guest, while the guest is being prepared.
     * @param node the node whose packets without a route are passed to its protocols
     * @param guest the node's kernel
     * @param number the node's number in the guest
     * @param configured called when the kernel has the upcall device
     */
    void Prepare(Ptr<Node> node,
                 Ptr<KernelGuest> guest,
                 uint32_t number,
                 std::function<void()> configured);

    /** @return whether the kernel has the upcall device */
    bool IsConfigured() const
    {
        return m_ifindex != 0;
    }

    /**
     * Begins to pass packets without a route to the routing protocols.
     * @param interfaces all devices of the node except the upcall device
     */
    void Start(const std::vector<Interface>& interfaces);

    /** @return the port that passes packets to the routing protocols */
    Ptr<UpcallPort> GetPort() const
    {
        return m_port;
    }

  protected:
    void DoDispose() override;

  private:
    class Kernel;
    /** A flow of packets at an interface: the interface's index, whether the node sent the packets,
     * their source, their destination. */
    using Flow = std::tuple<int, bool, viaduct::wire::IpAddress, viaduct::wire::IpAddress>;

    void AddOrigin(const std::set<viaduct::wire::Family>& families, int origin, uint32_t number);
    void Watch(int ifindex, std::span<const std::byte> frame, bool isSent);
    bool IsOwn(const viaduct::wire::IpAddress& address) const;
    void GiveUp(int ifindex, bool isCopy, std::span<const std::byte> packet);

    Ptr<Node> m_node;              //!< node of the packets
    Ptr<KernelGuest> m_guest;      //!< the node's kernel
    uint32_t m_number{0};          //!< the node's number in the guest
    int m_ifindex{0};              //!< index of the upcall device; 0: not known yet
    Ptr<UpcallPort> m_port;        //!< passes packets to the routing protocols
    std::map<Flow, Time> m_copied; //!< time of the last copy, by flow
};

} // namespace ns3

#endif // VIADUCT_KERNEL_UPCALLS_H
