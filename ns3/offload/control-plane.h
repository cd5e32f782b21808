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
 * that match exactly those.
 *
 * The uses are derived from the node itself: UDP sockets that are bound to a port, raw sockets, IP
 * protocols other than TCP, UDP and ICMP, and EtherTypes other than IP and ARP that have a protocol
 * handler. Sockets bound to a loopback address are ignored. The node is scanned when the simulation
 * starts, then every ScanInterval; a packet sent from a socket that was opened between two scans
 * opens its kernel socket. Sockets stay open until the run ends.
 */
class ControlPlane : public Object
{
  public:
    using Claim = viaduct::io::ControlClaim; //!< the packets that one kernel socket carries

    /** Opens a kernel socket for a claim on an interface; throws viaduct::Error. */
    using Open = std::function<viaduct::UniqueFd(const std::string& interface, const Claim& claim)>;

    /**
     * TracedCallback signature for sockets opened.
     * @param node the node's id
     * @param interface the kernel's name of the interface
     * @param claim what the socket carries
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
     * Leaves ICMP to the kernel: ns-3's own ICMP and ICMPv6 no longer send anything. Otherwise a
     * packet that they send, or a raw socket for ICMP, would let ns-3 see echo requests too, and
     * each would be answered twice. Raw sockets still send and receive ICMP.
     * @param node a node whose kernel has its addresses and resolves its next hops
     */
    static void LeaveIcmpToKernel(Ptr<Node> node);
    /**
     * Adds an interface.
     * @param device the device
     * @param name the kernel's name of the interface
     * @param port the port that serves the interface; owned by the device. Null: the interface's
     * control packets are read in another way (a filtered packet socket), and the kernel sockets
     * are only held, so that the kernel does not answer with ICMP errors
     */
    void AddInterface(Ptr<NetDevice> device,
                      const std::string& name,
                      viaduct::io::ControlPort* port);
    /** Scans now and then periodically. Must be called when the node is initialized. */
    void Start();
    /** Scans once. */
    void Scan();

    /**
     * @param device a device, or null for sockets that are not bound to a device
     * @return the claims of the node's protocols on this device
     */
    std::set<Claim> FindClaims(Ptr<NetDevice> device) const;
    /** @return the uses that no kernel socket can serve, one line each; empty if there are none */
    std::vector<std::string> GetUnsupported() const;

  protected:
    void DoDispose() override;

  private:
    /** An interface of the node. */
    struct Interface
    {
        Ptr<NetDevice> device;                   //!< the device
        std::string name;                        //!< the kernel's name
        viaduct::io::ControlPort* port;          //!< null: sockets are only held
        std::set<Claim> claims;                  //!< open claims
        std::map<Claim, viaduct::UniqueFd> held; //!< sockets if there is no port
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
    std::set<Claim> m_ipProtocols;                   //!< found once: they do not change
    bool m_ipProtocolsFound{false};                  //!< whether they were determined
    std::vector<std::string> m_unsupported;          //!< refused claims
    Time m_scanInterval;                             //!< time between scans
    EventId m_scan;                                  //!< the next scan
    TracedCallback<uint32_t, const std::string&, const Claim&> m_openedTrace; //!< sockets opened
};

} // namespace ns3

#endif // VIADUCT_CONTROL_PLANE_H
