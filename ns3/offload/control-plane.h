/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_CONTROL_PLANE_H
#define VIADUCT_CONTROL_PLANE_H

#include "ns3/event-id.h"
#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include "base/fd.h"
#include "plane/fib/data_plane.h"
#include "port/control/control_port.h"

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * Determines which ports, protocols and EtherTypes a node's protocols use, and opens kernel sockets
 * for exactly those ports, protocols and EtherTypes.
 *
 * The ports, protocols and EtherTypes are derived from the node: UDP sockets that are bound to a
 * port, raw sockets, IP protocols other than TCP, UDP and ICMP, and EtherTypes other than IP and
 * ARP that have a protocol handler. Sockets bound to a loopback address are ignored. The node is
 * scanned when the simulation starts, then every ScanInterval; between two scans, the first packet
 * that a new ns-3 socket sends opens the kernel socket. Kernel sockets stay open until the run
 * ends.
 */
class ControlPlane : public Object
{
  public:
    using Claim = viaduct::io::ControlClaim; //!< the packets that one kernel socket carries

    /** Opens a kernel socket for a claim on an interface; throws viaduct::Error. */
    using Open = std::function<viaduct::UniqueFd(const std::string& interface, const Claim& claim)>;

    /**
     * TracedCallback signature for opened kernel sockets.
     * @param node the node's id
     * @param interface the kernel's name of the interface
     * @param claim the packets that the socket carries
     */
    typedef void (*OpenedTracedCallback)(uint32_t node,
                                         const std::string& interface,
                                         const Claim& claim);

    /** @return the object TypeId */
    static TypeId GetTypeId();

    /**
     * @param node the node whose sockets are scanned
     * @param plane the node's data plane
     * @param open opens kernel sockets
     */
    void SetNode(Ptr<Node> node, const viaduct::fib::DataPlane& plane, Open open);
    /**
     * Leaves ICMP to the kernel: ns-3's own ICMP and ICMPv6 no longer send anything. Otherwise ns-3
     * would also receive echo requests as soon as its ICMP sends a packet or a raw socket for ICMP
     * is opened, and each request would be answered twice. Raw sockets still send and receive ICMP.
     * @param node a node whose kernel has the node's addresses and resolves the node's next hops
     */
    static void LeaveIcmpToKernel(Ptr<Node> node);
    /**
     * Adds an interface.
     * @param device the interface's ns-3 device
     * @param name the kernel's name of the interface
     * @param port the port that serves the interface; owned by the device. Null: a filtered packet
     * socket reads the interface's control packets, and the kernel sockets are only held open, so
     * that the kernel does not answer with ICMP errors
     */
    void AddInterface(Ptr<NetDevice> device,
                      const std::string& name,
                      viaduct::io::ControlPort* port);
    /** Scans the node's sockets at once and then periodically. Must be called when the node is
     * initialized. */
    void Start();
    /** Scans the node's sockets once. */
    void Scan();

    /**
     * @param device a device, or null for sockets that are not bound to a device
     * @return the claims of the node's protocols on the device
     */
    std::set<Claim> FindClaims(Ptr<NetDevice> device) const;
    /** @return the ports, protocols and EtherTypes that no kernel socket can serve, one line each;
     * empty if there are none */
    std::vector<std::string> GetUnsupported() const;

  protected:
    void DoDispose() override;

  private:
    /** An interface of the node. */
    struct Interface
    {
        Ptr<NetDevice> device;                   //!< the interface's ns-3 device
        std::string name;                        //!< the kernel's name of the interface
        viaduct::io::ControlPort* port;          //!< serves the interface; null: `held` is used
        std::set<Claim> claims;                  //!< claims whose kernel sockets are open
        std::map<Claim, viaduct::UniqueFd> held; //!< open kernel sockets if `port` is null
        std::set<Claim> refused;                 //!< claims that could not be opened
    };

    void FindUdp(Ptr<NetDevice> device, std::set<Claim>& claims) const;
    void FindRaw(Ptr<NetDevice> device, std::set<Claim>& claims) const;
    void FindIpProtocols(std::set<Claim>& claims) const;
    void FindEtherTypes(Ptr<NetDevice> device, std::set<Claim>& claims) const;
    void OpenClaim(Interface& interface, const Claim& claim);
    void ScanAndSchedule();

    Ptr<Node> m_node;                                //!< the scanned node
    const viaduct::fib::DataPlane* m_plane{nullptr}; //!< the node's data plane
    Open m_open;                                     //!< opens kernel sockets
    std::list<Interface> m_interfaces;               //!< the node's interfaces
    std::set<Claim> m_ipProtocols;                   //!< claims of IP protocols; searched for once
    bool m_ipProtocolsFound{false};                  //!< whether m_ipProtocols is complete
    std::vector<std::string> m_unsupported;          //!< refused claims, one line each
    Time m_scanInterval;                             //!< time between scans
    EventId m_scan;                                  //!< the next scan
    /** Reports opened sockets. */
    TracedCallback<uint32_t, const std::string&, const Claim&> m_openedTrace;
};

} // namespace ns3

#endif // VIADUCT_CONTROL_PLANE_H
