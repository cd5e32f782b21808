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
    Time helloInterval;                //!< between two Hellos
    uint32_t holdMultiplier{3};        //!< Hello intervals until a silent neighbour is gone
    Time inhibition;                   //!< until a port that could serve terminals serves them
    uint8_t priority{64};              //!< to become a link's designated RBridge
    Ptr<UniformRandomVariable> jitter; //!< random part of the Hello interval
};

/**
 * @ingroup viaduct
 * @brief A port of an RBridge: the RBridges on its link, and which of them serves terminals there.
 *
 * Adjacencies are those of RFC 7177 without the test of the link's MTU: Detect, then Two-Way when
 * the neighbour has heard this port. The designated RBridge, by priority and then MAC address among
 * all that are heard (RFC 6325 section 4.2.1), is also the only appointed forwarder of all VLANs,
 * after it has been inhibited for a while (section 4.2.4.3).
 */
class RBridgePort
{
  public:
    /** Receives changes. The port's entries in the tables have been changed before. */
    class User
    {
      public:
        virtual ~User() = default;
        /** Reports that a neighbour has appeared or gone.
         * @param port the port
         * @param up whether it has appeared
         */
        virtual void AdjacencyChanged(RBridgePort& port, bool up) = 0;
        /** Reports that the port has begun or ceased to serve terminals.
         * @param port the port
         */
        virtual void ServiceChanged(RBridgePort& port) = 0;
    };

    /**
     * @param user receives changes; must outlive the port
     * @param settings the RBridge's settings; must outlive the port
     * @param tables the RBridge's tables; must outlive the port
     * @param index the port's index in the tables
     * @param terminals whether it may serve terminals
     */
    RBridgePort(User& user,
                const RBridgePortSettings& settings,
                viaduct::rbridge::Tables& tables,
                viaduct::rbridge::PortIndex index,
                bool terminals);

    /** @param device the port's device, or the device that replaces it */
    void SetDevice(Ptr<NetDevice> device);
    /** Begins to send Hellos. */
    void Start();
    /** Forgets everything and sends nothing. */
    void Stop();
    /** Must be called when the state of the device's link may have changed. */
    void LinkChanged();

    /**
     * @param hello a Hello
     * @param from the MAC address of its sender's port
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

    /** Determines whether no neighbour needs this RBridge to hear another: true on an Ethernet; by
     * radio there may be neighbours that do not hear each other.
     * @param sender the MAC address of a port on the link
     * @return whether all neighbours except the sender hear the sender
     */
    bool IsHeardByAll(const viaduct::wire::MacAddress& sender) const;
    /** @return whether this RBridge must send complete sequence numbers: it is the designated
     * RBridge, or some neighbour does not hear the designated RBridge
     */
    bool SendsSummaries() const;
    /** @return whether there is an adjacency on this port */
    bool HasAdjacencies() const;
    /** @return the adjacencies on this port */
    std::vector<viaduct::rbridge::OwnAdjacency> GetAdjacencies() const;

  private:
    /** A port of an RBridge that is heard on the link; possibly another port of this RBridge
     * itself. */
    struct Neighbour
    {
        viaduct::rbridge::SystemId system;                               //!< the port's RBridge
        uint8_t priority;                                                //!< election priority
        std::vector<viaduct::wire::MacAddress> heard;                    //!< ports that it hears
        viaduct::rbridge::AdjacencyIndex index{viaduct::rbridge::kNone}; //!< if it hears this port
        EventId expiry;                                                  //!< holding time
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

    User& m_user;                          //!< receives changes
    const RBridgePortSettings& m_settings; //!< the RBridge's settings
    viaduct::rbridge::Tables& m_tables;    //!< the RBridge's tables
    viaduct::rbridge::PortIndex m_index;   //!< the port's index in m_tables
    bool m_terminals;                      //!< may serve terminals
    Ptr<NetDevice> m_device;               //!< the device
    bool m_running{false};                 //!< between Start() and Stop()
    bool m_up{false};                      //!< running, and the link is up
    bool m_designated{false};              //!< won the last election
    Neighbours m_neighbours;               //!< key: the MAC address of their port
    EventId m_hello;                       //!< the next Hello
    EventId m_inhibited;                   //!< the end of inhibition
};

} // namespace ns3

#endif // VIADUCT_RBRIDGE_PORT_H
