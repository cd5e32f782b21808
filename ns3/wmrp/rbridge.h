/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_RBRIDGE_H
#define VIADUCT_RBRIDGE_H

#include "ns3/wmrp/rbridge-flooding.h"
#include "ns3/wmrp/rbridge-plane.h"
#include "ns3/wmrp/rbridge-port.h"

#include "ns3/mac48-address.h"
#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"
#include "ns3/traced-value.h"

#include "plane/rbridge/forward.h"
#include "plane/rbridge/terminals.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief WMRP: a node that carries terminals' Ethernet frames through a network of such nodes, by
 * shortest paths on layer 2.
 *
 * A proactive link-state protocol with TRILL's formats and rules (docs/wmrp.md lists them). It is
 * aggregated to a node, some or all of whose devices are its ports (AddPort()); RBridgeHelper does
 * this. Terminals need no changes: they see one Ethernet.
 *
 * Ports must be Ethernet-like: CSMA, PathNetDevice, RingNetDevice; a device that cannot send with
 * another source address (ad hoc Wi-Fi) connects RBridges only. Point-to-point devices carry PPP
 * and are refused. Frames between RBridges are 24 bytes longer than terminals' frames
 * (GetOverhead()).
 */
class RBridge : public Object, private RBridgePort::User
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    RBridge();
    ~RBridge() override;

    /** Makes a device of the node a port. The first port's address is the identifier of this
     * RBridge.
     * @param device the device; its node is the node to which this object is aggregated
     * @param terminals whether it may serve terminals; false: it is between RBridges only
     */
    void AddPort(Ptr<NetDevice> device, bool terminals = true);
    /** Replaces a port's device by a new one; does nothing if the old device is no port.
     * @param oldDevice the port
     * @param newDevice a device of the same node
     */
    void ReplaceDevice(Ptr<NetDevice> oldDevice, Ptr<NetDevice> newDevice);

    /** Stops as if the node had lost its power: nothing is remembered or announced. */
    void Stop();
    /** Starts; a node's initialization also starts it. */
    void Start();

    /** @return the growth of a terminal's packet between RBridges, bytes */
    static uint32_t GetOverhead()
    {
        return viaduct::rbridge::kOverhead;
    }

    /** @return this RBridge's name in frames; 0: none yet */
    uint16_t GetNickname() const
    {
        return m_nickname;
    }

    /** @return this RBridge's identifier in PDUs, "0200.0000.0001" */
    std::string GetSystemId() const;
    /** Returns the next hop of frames for another RBridge.
     * @param nickname the other RBridge's nickname
     * @return the MAC address of the next RBridge; all zero if the other RBridge is out of reach
     */
    Mac48Address GetNextHop(uint16_t nickname) const;
    /** @return the nicknames of all RBridges in reach except this one */
    std::vector<uint16_t> GetReachable() const;
    /**
     * @param device a port
     * @return whether it serves terminals now
     */
    bool IsServing(Ptr<NetDevice> device) const;
    /** Returns the known location of a terminal.
     * @param terminal the terminal's address
     * @return the nickname of its RBridge, this RBridge's for a local terminal; 0: it is unknown
     */
    uint16_t FindTerminal(const Mac48Address& terminal) const;

    /**
     * @param outcome an outcome of forwarding
     * @return the number of frames with it
     */
    uint64_t GetFrames(viaduct::rbridge::Outcome outcome) const
    {
        return m_outcomes[static_cast<size_t>(outcome)];
    }

    /**
     * @return frames that were forwarded and did not leave, because they are longer than their
     * link's MTU or the link is down
     */
    uint64_t GetNotSent() const
    {
        return m_notSent;
    }

    /** Lets another data plane forward instead of the simulator. After this call the RBridge only
     * receives PDUs; it passes its tables to the plane, which reports where terminals are
     * (Learn()).
     * @param plane the data plane
     */
    void SetPlane(std::unique_ptr<RBridgePlane> plane);

    /** Handles a report of the data plane that it has seen a terminal.
     * @param terminal the terminal's address and VLAN
     * @param nickname the nickname of the RBridge that sent its frame; 0: this RBridge
     * @param port the index in the tables of the port where it is, if it is at this RBridge
     */
    void Learn(viaduct::rbridge::TerminalKey terminal,
               uint16_t nickname,
               viaduct::rbridge::PortIndex port);

    /**
     * @param device a device
     * @return the device's index in the tables; viaduct::rbridge::kNone if it is no port
     */
    viaduct::rbridge::PortIndex GetPortIndex(Ptr<NetDevice> device) const;

    /** @return the tables by which the RBridge forwards */
    const viaduct::rbridge::Tables& GetTables() const
    {
        return *m_tables;
    }

    /**
     * @param stream the number of the first random stream
     * @return the number of streams used
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * TracedCallback signature for Frame.
     * @param [in] packet the packet after the Ethernet header
     * @param [in] device the port by which it arrived
     * @param [in] outcome the outcome, as in "forwarded" or "wrong_path"
     */
    typedef void (*FrameTracedCallback)(Ptr<const Packet> packet,
                                        Ptr<NetDevice> device,
                                        std::string outcome);
    /**
     * TracedCallback signature for Adjacency.
     * @param [in] device the port
     * @param [in] up whether a neighbour is there; false: it has gone
     */
    typedef void (*AdjacencyTracedCallback)(Ptr<NetDevice> device, bool up);
    /**
     * TracedCallback signature for Routes.
     * @param [in] reachable the number of other RBridges in reach
     */
    typedef void (*RoutesTracedCallback)(uint32_t reachable);

  protected:
    void DoInitialize() override;
    void DoDispose() override;

  private:
    // Inherited from RBridgePort::User
    void AdjacencyChanged(RBridgePort& port, bool up) override;
    void ServiceChanged(RBridgePort& port) override;

    // Handles frames; registered with the node for each port's device.
    void Receive(Ptr<NetDevice> device,
                 Ptr<const Packet> packet,
                 uint16_t protocol,
                 const Address& from,
                 const Address& to,
                 NetDevice::PacketType type);
    void ReceivePdu(RBridgePort& port,
                    Ptr<const Packet> packet,
                    const viaduct::wire::MacAddress& from);
    void Listen(Ptr<NetDevice> device);
    RBridgePort* FindPort(Ptr<NetDevice> device) const;

    void OriginateSoon();
    void Originate();
    void ComputeSoon();
    void Compute();
    /** Takes another nickname if an RBridge with more right to it has this one's. */
    void CheckNickname(const viaduct::rbridge::LinkStates& states);
    void ChooseNickname(const viaduct::rbridge::LinkStates& states);
    viaduct::rbridge::LspContent GetContent() const;
    void SendSummaries();
    void AgeLinkStates();
    void AgeTerminals();
    void Learn(const viaduct::rbridge::Seen& seen);
    void PublishSoon();
    void Publish();

    Time m_csnpInterval;          //!< attribute CsnpInterval
    Time m_lspInterval;           //!< attribute LspInterval
    Time m_lspLifetime;           //!< attribute LspLifetime
    Time m_lspRefresh;            //!< attribute LspRefresh
    Time m_terminalAge;           //!< attribute TerminalAge
    uint16_t m_wantedNickname;    //!< attribute Nickname
    uint8_t m_nicknamePriority;   //!< attribute NicknamePriority
    uint16_t m_rootPriority;      //!< attribute RootPriority
    uint16_t m_trees;             //!< attribute Trees
    uint32_t m_metric;            //!< attribute Metric
    uint8_t m_hopCount;           //!< attribute HopCount
    Time m_helloInterval;         //!< attribute HelloInterval
    uint32_t m_holdMultiplier;    //!< attribute HoldMultiplier
    Time m_inhibition;            //!< attribute Inhibition
    uint8_t m_priority;           //!< attribute Priority
    RBridgePortSettings m_common; //!< settings of all ports, while it runs

    Ptr<Node> m_node;                                         //!< the ports' node
    std::unique_ptr<viaduct::rbridge::Tables> m_tables;       //!< the tables that Forward() uses
    std::vector<std::unique_ptr<RBridgePort>> m_ports;        //!< index: a port's index
    std::map<Ptr<NetDevice>, RBridgePort*> m_byDevice;        //!< the ports by their devices
    Ptr<UniformRandomVariable> m_random;                      //!< jitter, nicknames
    std::unique_ptr<viaduct::rbridge::Database> m_database;   //!< while it runs
    std::unique_ptr<viaduct::rbridge::Routes> m_routes;       //!< while it runs
    std::unique_ptr<viaduct::rbridge::Terminals> m_terminals; //!< while it runs
    std::unique_ptr<RBridgeFlooding> m_flooding;              //!< while it runs
    std::array<uint64_t, viaduct::rbridge::kOutcomes> m_outcomes{}; //!< frames, by outcome
    uint64_t m_notSent = 0;                                         //!< forwarded, but not sent
    std::unique_ptr<viaduct::rbridge::Decision> m_decision;         //!< about the present frame

    std::unique_ptr<RBridgePlane> m_plane; //!< forwards instead of ns-3; null: ns-3 does

    Time m_originated;      //!< time of the last change of own LSPs
    EventId m_originate;    //!< Originate()
    EventId m_compute;      //!< Compute()
    EventId m_summaries;    //!< SendSummaries()
    EventId m_age;          //!< AgeLinkStates()
    EventId m_ageTerminals; //!< AgeTerminals()
    EventId m_publish;      //!< Publish()

    TracedValue<uint16_t> m_nickname{0};                                         //!< trace Nickname
    TracedCallback<Ptr<const Packet>, Ptr<NetDevice>, std::string> m_frameTrace; //!< trace Frame
    TracedCallback<Ptr<NetDevice>, bool> m_adjacencyTrace; //!< trace source Adjacency
    TracedCallback<uint32_t> m_routesTrace;                //!< trace source Routes
};

} // namespace ns3

#endif // VIADUCT_RBRIDGE_H
