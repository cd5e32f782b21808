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
 * What all ports of an RBridge have in common.
 */
struct RBridgePortSettings
{
    viaduct::rbridge::SystemId system; //!< of the RBridge
    Time helloInterval;                //!< between two Hellos
    uint32_t holdMultiplier{3};        //!< Hello intervals until a silent neighbour is gone
    Time inhibition;                   //!< until a port that could serve terminals does
    uint8_t priority{64};              //!< to become a link's designated RBridge
    Ptr<UniformRandomVariable> jitter; //!< of when Hellos are sent
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
    /** Who is told about changes. The port's entries in the tables have been changed before. */
    class User
    {
      public:
        virtual ~User() = default;
        /** A neighbour is there, or is gone.
         * @param port the port
         * @param up it is there
         */
        virtual void AdjacencyChanged(RBridgePort& port, bool up) = 0;
        /** The port serves terminals, or does not any more.
         * @param port the port
         */
        virtual void ServiceChanged(RBridgePort& port) = 0;
    };

    /**
     * @param user is told about changes; must outlive the port
     * @param settings of the RBridge; must outlive the port
     * @param tables of the RBridge; must outlive the port
     * @param index of the port in them
     * @param terminals whether it may serve terminals
     */
    RBridgePort(User& user,
                const RBridgePortSettings& settings,
                viaduct::rbridge::Tables& tables,
                viaduct::rbridge::PortIndex index,
                bool terminals);

    /** @param device the port's device, or the one that takes its place */
    void SetDevice(Ptr<NetDevice> device);
    /** Begins to send Hellos. */
    void Start();
    /** Forgets everything and sends nothing. */
    void Stop();
    /** The state of the device's link may have changed. */
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

    /** Whether nobody on the link needs this RBridge to hear another: true on an Ethernet; by radio
     * there may be neighbours that do not hear each other.
     * @param sender the MAC address of a port on the link
     * @return whether all neighbours but itself hear it
     */
    bool IsHeardByAll(const viaduct::wire::MacAddress& sender) const;
    /** @return whether this RBridge has to send complete sequence numbers: it is the designated
     * one, or somebody does not hear that one
     */
    bool SendsSummaries() const;
    /** @return whether there is an adjacency on this port */
    bool HasAdjacencies() const;
    /** @return the adjacencies on this port */
    std::vector<viaduct::rbridge::OwnAdjacency> GetAdjacencies() const;

  private:
    /** An RBridge's port that is heard on the link; also another one of this RBridge itself. */
    struct Neighbour
    {
        viaduct::rbridge::SystemId system;                               //!< whose port
        uint8_t priority;                                                //!< to be designated
        std::vector<viaduct::wire::MacAddress> heard;                    //!< whom it hears
        viaduct::rbridge::AdjacencyIndex index{viaduct::rbridge::kNone}; //!< if it hears this one
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

    User& m_user;                          //!< is told about changes
    const RBridgePortSettings& m_settings; //!< of the RBridge
    viaduct::rbridge::Tables& m_tables;    //!< of the RBridge
    viaduct::rbridge::PortIndex m_index;   //!< in the tables
    bool m_terminals;                      //!< may serve terminals
    Ptr<NetDevice> m_device;               //!< the device
    bool m_running{false};                 //!< between Start() and Stop()
    bool m_up{false};                      //!< running, and the link is up
    bool m_designated{false};              //!< result of the last election
    Neighbours m_neighbours;               //!< by the MAC addresses of their ports
    EventId m_hello;                       //!< the next Hello
    EventId m_inhibited;                   //!< the end of inhibition
};

} // namespace ns3

#endif // VIADUCT_RBRIDGE_PORT_H
