/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_RBRIDGE_PORT_H
#define VIADUCT_RBRIDGE_PORT_H

#include "ns3/event-id.h"
#include "ns3/net-device.h"
#include "ns3/nstime.h"
#include "ns3/random-variable-stream.h"

#include "plane/rbridge/isis.h"
#include "plane/rbridge/routes.h"
#include "plane/rbridge/tables.h"

#include <map>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * The settings that all ports of an RBridge share.
 */
struct RBridgePortSettings
{
    viaduct::rbridge::SystemId system; //!< the RBridge's identifier
    Time helloInterval;                //!< interval between two Hellos
    /** Number of Hello intervals after which a silent neighbour expires. */
    uint32_t holdMultiplier{3};
    /** Delay from a port's election as designated RBridge until it serves terminals. */
    Time inhibition;
    uint8_t priority{64};              //!< priority in the election of a link's designated RBridge
    Ptr<UniformRandomVariable> jitter; //!< source of the random part of the Hello interval
};

/**
 * @ingroup viaduct
 * @brief A port of an RBridge: detects the RBridges on its link, and elects the RBridge that serves
 * the link's terminals.
 *
 * Adjacencies have the states of RFC 7177 without the test of the link's MTU: Detect, then Two-Way
 * when the neighbour has heard this port. The designated RBridge has the highest priority, then the
 * highest MAC address, among the ports that are heard (RFC 6325 section 4.2.1). After the time of
 * the attribute Inhibition, the designated RBridge is also the only appointed forwarder of all
 * VLANs (section 4.2.4.3).
 */
class RBridgePort
{
  public:
    /** The interface by which a port reports changes. The port updates its entries in the tables
     * before it reports a change. */
    class User
    {
      public:
        virtual ~User() = default;
        /** Handles the start or end of an adjacency.
         * @param port the port
         * @param up true: a neighbour has appeared; false: a neighbour has gone
         */
        virtual void AdjacencyChanged(RBridgePort& port, bool up) = 0;
        /** Handles a port's start or end of service to terminals.
         * @param port the port
         */
        virtual void ServiceChanged(RBridgePort& port) = 0;
    };

    /**
     * @param user the object to which changes are reported; must outlive the port
     * @param settings the RBridge's settings; must outlive the port
     * @param tables the RBridge's tables; must outlive the port
     * @param index the port's index in the tables
     * @param terminals whether the port may serve terminals
     */
    RBridgePort(User& user,
                const RBridgePortSettings& settings,
                viaduct::rbridge::Tables& tables,
                viaduct::rbridge::PortIndex index,
                bool terminals);

    /** Sets or replaces the port's device.
     * @param device the device */
    void SetDevice(Ptr<NetDevice> device);
    /** Starts the port, which begins to send Hellos. */
    void Start();
    /** Stops the port and removes its adjacencies. A stopped port sends nothing. */
    void Stop();
    /** Handles a change of the state of the device's link. Must be called when the state may have
     * changed. */
    void LinkChanged();

    /**
     * Handles a Hello that has arrived.
     * @param hello the Hello
     * @param from the MAC address of the sender's port
     */
    void Receive(const viaduct::rbridge::Hello& hello, const viaduct::wire::MacAddress& from);
    /** Sends a PDU to all RBridges of the link.
     * @param pdu the PDU
     */
    void Send(const viaduct::rbridge::Octets& pdu) const;

    /** @return the port's device */
    Ptr<NetDevice> GetDevice() const
    {
        return m_device;
    }

    /** @return the port's index in the tables */
    viaduct::rbridge::PortIndex GetIndex() const
    {
        return m_index;
    }

    /** Determines whether a frame from the sender reaches all neighbours on the link, so that this
     * RBridge need not repeat the frame. On an Ethernet, every frame reaches all neighbours; on a
     * radio channel there may be neighbours that do not hear each other.
     * @param sender the MAC address of a port on the link
     * @return whether all neighbours except the sender itself hear the sender
     */
    bool IsHeardByAll(const viaduct::wire::MacAddress& sender) const;
    /** @return whether this RBridge must send complete sequence numbers: true if it is the link's
     * designated RBridge, or if a neighbour does not hear the designated RBridge
     */
    bool SendsSummaries() const;
    /** @return whether there is an adjacency on this port */
    bool HasAdjacencies() const;
    /** @return the adjacencies on this port */
    std::vector<viaduct::rbridge::OwnAdjacency> GetAdjacencies() const;

  private:
    /** A port from which Hellos are heard on the link: a port of another RBridge, or another port
     * of this RBridge. */
    struct Neighbour
    {
        viaduct::rbridge::SystemId system; //!< identifier of the port's RBridge
        uint8_t priority;                  //!< election priority
        /** MAC addresses of the ports that the neighbour hears. */
        std::vector<viaduct::wire::MacAddress> heard;
        /** Index of the adjacency; kNone: the neighbour does not hear this port. */
        viaduct::rbridge::AdjacencyIndex index{viaduct::rbridge::kNone};
        EventId expiry; //!< event at the end of the holding time
    };

    using Neighbours = std::map<viaduct::wire::MacAddress, Neighbour>;

    viaduct::wire::MacAddress GetMac() const;
    Neighbours::const_iterator Designated() const;
    void SendHello();
    void HelloSoon();
    void SetTwoWay(const viaduct::wire::MacAddress& mac, Neighbour& neighbour, bool twoWay);
    void Expire(viaduct::wire::MacAddress mac);
    void Elect();
    void UpdateService();
    void ForgetNeighbours();

    User& m_user;                          //!< object to which changes are reported
    const RBridgePortSettings& m_settings; //!< the RBridge's settings
    viaduct::rbridge::Tables& m_tables;    //!< the RBridge's tables
    viaduct::rbridge::PortIndex m_index;   //!< the port's index in m_tables
    bool m_terminals;                      //!< whether the port may serve terminals
    Ptr<NetDevice> m_device;               //!< the port's device
    bool m_running{false};                 //!< whether the port has been started and not stopped
    bool m_up{false};                      //!< whether the port is running and its link is up
    bool m_designated{false}; //!< whether this port won the last election of the designated RBridge
    Neighbours m_neighbours;  //!< ports heard on the link, by MAC address
    EventId m_hello;          //!< event of the next Hello
    EventId m_inhibited;      //!< event at the end of the inhibition of service
};

} // namespace ns3

#endif // VIADUCT_RBRIDGE_PORT_H
