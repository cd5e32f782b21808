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
 * Passes up the packets for which a node's kernel in virtual time has no route.
 *
 * The kernel has an additional device, which leads to this object. After the rules that find routes
 * there is one rule for each interface by which a packet may have arrived: the default route of the
 * rule's table has a separate next hop on that device, whose MAC address identifies the interface.
 * So the kernel itself reports the origin. Routes in use are observed at the bridges of the node's
 * other devices.
 */
class KernelUpcalls : public Object
{
  public:
    /** A device of the node. */
    struct Interface
    {
        Ptr<NetDevice> device;          //!< the ns-3 device
        Ptr<KernelDeviceBridge> bridge; //!< carries its frames
        std::string name;               //!< name in the kernel
        int ifindex;                    //!< index in the kernel
    };

    /** @return the object TypeId */
    static TypeId GetTypeId();

    /**
     * @param node a node that has its routing protocols
     * @return the versions of IP for which one of them finds routes on demand, or may do so
     */
    static std::set<viaduct::wire::Family> FamiliesOf(Ptr<Node> node);

    /**
     * Adds the device, while the guest is being prepared.
     * @param node the node whose packets are passed up
     * @param guest the node's kernel
     * @param number the node's number in the guest
     * @param configured called when the kernel has the device
     */
    void Prepare(Ptr<Node> node,
                 Ptr<KernelGuest> guest,
                 uint32_t number,
                 std::function<void()> configured);

    /** @return whether the kernel has the device */
    bool IsConfigured() const
    {
        return m_ifindex != 0;
    }

    /**
     * Begins to pass up packets without a route.
     * @param interfaces all interfaces of the node
     */
    void Start(const std::vector<Interface>& interfaces);

    /** @return the port that passes the packets to the protocols */
    Ptr<UpcallPort> GetPort() const
    {
        return m_port;
    }

  protected:
    void DoDispose() override;

  private:
    class Kernel;
    /** The place at which a flow was seen: its interface, whether the node sent it, its addresses.
     */
    using Flow = std::tuple<int, bool, viaduct::wire::IpAddress, viaduct::wire::IpAddress>;

    void AddOrigin(const std::set<viaduct::wire::Family>& families, int origin, uint32_t number);
    void Watch(int ifindex, std::span<const std::byte> frame, bool isSent);
    bool IsOwn(const viaduct::wire::IpAddress& address) const;
    void GiveUp(int ifindex, bool isCopy, std::span<const std::byte> packet);

    Ptr<Node> m_node;              //!< node whose packets are passed up
    Ptr<KernelGuest> m_guest;      //!< the node's kernel
    uint32_t m_number{0};          //!< the node's number in the guest
    int m_ifindex{0};              //!< the device's index; 0 until it is known
    Ptr<UpcallPort> m_port;        //!< passes packets to the protocols
    std::map<Flow, Time> m_copied; //!< time at which a packet of the flow was copied last
};

} // namespace ns3

#endif // VIADUCT_KERNEL_UPCALLS_H
