/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_INTERFACE_MIRROR_H
#define VIADUCT_INTERFACE_MIRROR_H

#include "ns3/event-id.h"
#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/object.h"

#include "base/wire/address.h"

#include <memory>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * Passes changes of a node's IP interfaces (SetDown(), SetUp(), AddAddress(), RemoveAddress() of
 * Ipv4 and Ipv6) on to the kernel that forwards the node's packets.
 *
 * ns-3 reports these changes to the routing protocol alone, so the interfaces are compared with
 * their last state every PollInterval. An interface that is down for IPv4 and IPv6 is set down in
 * the kernel; an interface that is down for one version of IP loses the addresses of that version
 * in the kernel. Only changes in ns-3 are passed on, so changes that other programs make to the
 * kernel's interfaces are kept.
 */
class InterfaceMirror : public Object
{
  public:
    /** Changes the kernel's interfaces. SetUp() and SetAddresses() throw viaduct::Error. */
    class Sink
    {
      public:
        virtual ~Sink() = default;
        /** @param interface the interface's name
         * @param up whether the interface is up */
        virtual void SetUp(const std::string& interface, bool up) = 0;
        /** @param interface the interface's name
         * @param addresses all addresses of the interface except link-local addresses */
        virtual void SetAddresses(const std::string& interface,
                                  const std::vector<viaduct::wire::IpPrefix>& addresses) = 0;
    };

    /** @return the object TypeId */
    static TypeId GetTypeId();

    /**
     * @param node the node
     * @param sink the node's interfaces in the kernel
     */
    void SetNode(Ptr<Node> node, std::unique_ptr<Sink> sink);
    /**
     * Adds an interface. The kernel's interface must be up, with the addresses that the device's IP
     * interfaces have at the time of the call.
     * @param device the device
     * @param name the kernel's name of the interface
     */
    void AddInterface(Ptr<NetDevice> device, const std::string& name);
    /** Starts the periodic comparison of the interfaces with their last states. */
    void Start();

    /** @return the changes that the kernel refused, one line each */
    const std::vector<std::string>& GetRefused() const
    {
        return m_refused;
    }

  protected:
    void DoDispose() override;

  private:
    /** The state that the kernel's interface must have. */
    struct State
    {
        /** Whether the interface is up for IPv4 or IPv6. */
        bool up;
        std::vector<viaduct::wire::IpPrefix> addresses; //!< addresses except link-local ones
        bool operator==(const State&) const = default;
    };

    /** An interface of the node. */
    struct Interface
    {
        Ptr<NetDevice> device; //!< the device of the IP interfaces
        std::string name;      //!< the kernel's name of the interface
        State state;           //!< the last state passed to the kernel
    };

    State Look(Ptr<NetDevice> device) const;
    void Apply(Interface& interface, const State& state);
    void Poll();

    Ptr<Node> m_node;                    //!< the node that has the interfaces
    std::unique_ptr<Sink> m_sink;        //!< the kernel's interfaces
    std::vector<Interface> m_interfaces; //!< the node's interfaces in the lab
    std::vector<std::string> m_refused;  //!< refused changes, one line each
    Time m_pollInterval;                 //!< time between comparisons
    EventId m_poll;                      //!< the next comparison
};

} // namespace ns3

#endif // VIADUCT_INTERFACE_MIRROR_H
