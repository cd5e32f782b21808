/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_OFFLOAD_HELPER_H
#define VIADUCT_OFFLOAD_HELPER_H

#include "ns3/device/ring-net-device.h"
#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/object-factory.h"
#include "ns3/offload/control-plane.h"
#include "ns3/offload/interface-mirror.h"
#include "ns3/offload/multicast-mirror.h"
#include "ns3/offload/upcall-port.h"
#include "ns3/routes/lab-addresses.h"
#include "ns3/routes/route-source.h"

#include "lab/broker/client.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * Moves a node's data plane out of the simulator: its routes are mirrored (RouteSource), and the
 * devices of its protocols carry only the protocols' own traffic (ControlPlane). LabHelper uses
 * this class; a program that builds its lab without LabHelper can use this class directly.
 */
class OffloadHelper
{
  public:
    /** The objects that were installed on a node. */
    struct Offload
    {
        Ptr<RouteSource> routes;         //!< mirrors the routes
        Ptr<ControlPlane> control;       //!< opens the control sockets
        Ptr<InterfaceMirror> interfaces; //!< mirrors the states and addresses of interfaces
        Ptr<UpcallPort> upcalls;         //!< passes packets without a route to protocols
        Ptr<MulticastMirror> multicast;  //!< mirrors the routes to multicast groups
    };

    /** An interface of a node in a lab. */
    struct Interface
    {
        Ptr<NetDevice> device; //!< the ns-3 device to replace
        std::string name;      //!< the kernel's name of the interface
    };

    OffloadHelper();

    /**
     * @param name the name of an attribute of RouteSource
     * @param value the attribute's value
     */
    void SetRouteAttribute(const std::string& name, const AttributeValue& value)
    {
        m_routeFactory.Set(name, value);
    }

    /**
     * @param name the name of an attribute of ControlPlane
     * @param value the attribute's value
     */
    void SetControlAttribute(const std::string& name, const AttributeValue& value)
    {
        m_controlFactory.Set(name, value);
    }

    /**
     * @param name the name of an attribute of InterfaceMirror
     * @param value the attribute's value
     */
    void SetInterfaceAttribute(const std::string& name, const AttributeValue& value)
    {
        m_interfaceFactory.Set(name, value);
    }

    /** Reads a node's control packets through a filtered packet socket, instead of sockets derived
     * from the sockets that the node's protocols have bound. The filter costs each forwarded packet
     * about 0.1 us per hop.
     * @param node the node
     * @param filter a filter in tcpdump's syntax, e.g. "udp port 698"; ARP and IPv6 neighbour
     * discovery are added
     */
    void SetControlFilter(Ptr<Node> node, const std::string& filter)
    {
        m_filters[node] = filter;
    }

    /** Replaces a node's devices and prepares the mirroring of the node's routes. The mirroring
     * begins when the simulation starts.
     * @param node the node
     * @param place the node's name and data plane in the lab
     * @param interfaces the node's interfaces in the lab
     * @param known all addresses of the lab
     * @param broker opens sockets and applies routes
     * @return the installed objects; the devices are in `replacements`
     * @param [out] replacements the new device of each interface, in the order of `interfaces`
     */
    Offload Install(Ptr<Node> node,
                    const viaduct::lab::Node& place,
                    const std::vector<Interface>& interfaces,
                    const LabAddresses& known,
                    std::shared_ptr<viaduct::broker::Client> broker,
                    std::vector<Ptr<RingNetDevice>>& replacements) const;

  private:
    Ptr<RingNetDevice> MakeControlDevice(const Interface& interface,
                                         const std::string& name,
                                         Ptr<ControlPlane> control,
                                         std::shared_ptr<viaduct::broker::Client> broker) const;
    Ptr<RingNetDevice> MakeFilteredDevice(const Interface& interface,
                                          const std::string& name,
                                          const std::string& filter,
                                          Ptr<ControlPlane> control,
                                          viaduct::broker::Client& broker) const;

    ObjectFactory m_routeFactory;               //!< makes RouteSource
    ObjectFactory m_controlFactory;             //!< makes ControlPlane
    ObjectFactory m_interfaceFactory;           //!< makes InterfaceMirror
    std::shared_ptr<PollBudget> m_budget;       //!< limits polling; shared by all nodes
    std::map<Ptr<Node>, std::string> m_filters; //!< filters of SetControlFilter()
};

} // namespace ns3

#endif // VIADUCT_OFFLOAD_HELPER_H
