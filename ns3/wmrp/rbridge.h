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
 * @brief An RBridge of the routing protocol WMRP: a node that forwards terminals' Ethernet frames
 * through a network of RBridges, by shortest paths on layer 2.
 *
 * WMRP is a proactive link-state protocol with TRILL's formats and rules, which docs/wmrp.md lists.
 * The RBridge is aggregated to a node, and some or all of the node's devices are its ports
 * (AddPort()); RBridgeHelper installs RBridges. Terminals need no changes: for them the network is
 * one Ethernet.
 *
 * Ports must be Ethernet-like devices: CSMA, PathNetDevice, RingNetDevice. A device that cannot
 * send frames with another node's source address (ad hoc Wi-Fi) connects only RBridges, not
 * terminals. Point-to-point devices are refused, because they carry PPP. Frames between RBridges
 * are 24 bytes longer than terminals' frames (GetOverhead()).
 */
class RBridge : public Object, private RBridgePort::User
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    RBridge();
    ~RBridge() override;

    /** Adds a device of the node as a port. The first port's MAC address is the identifier of this
     * RBridge.
     * @param device the device; its node is the node to which this object is aggregated
     * @param terminals whether the port may serve terminals; false: only RBridges are on its link
     */
    void AddPort(Ptr<NetDevice> device, bool terminals = true);
    /** Replaces a port's device by a new device; does nothing if the old device is not a port.
     * @param oldDevice the port's current device
     * @param newDevice a device of the same node
     */
    void ReplaceDevice(Ptr<NetDevice> oldDevice, Ptr<NetDevice> newDevice);

    /** Stops the RBridge as if its node had lost power: all state is deleted, and nothing is
     * announced. */
    void Stop();
    /** Starts the RBridge. The node's initialization also calls this method. */
    void Start();

    /** @return the number of bytes by which a terminal's frame is longer between RBridges */
    static uint32_t GetOverhead()
    {
        return viaduct::rbridge::kOverhead;
    }

    /** @return the nickname that identifies this RBridge in frames; 0: no nickname yet */
    uint16_t GetNickname() const
    {
        return m_nickname;
    }

    /** @return this RBridge's identifier in PDUs, "0200.0000.0001" */
    std::string GetSystemId() const;
    /** Returns the next hop of frames for another RBridge.
     * @param nickname the other RBridge's nickname
     * @return the MAC address of the next RBridge; all zero if the other RBridge is unreachable
     */
    Mac48Address GetNextHop(uint16_t nickname) const;
    /** @return the nicknames of all reachable RBridges except this RBridge */
    std::vector<uint16_t> GetReachable() const;
    /**
     * @param device a port's device
     * @return whether the port serves terminals now
     */
    bool IsServing(Ptr<NetDevice> device) const;
    /** Returns the known location of a terminal.
     * @param terminal the terminal's MAC address
     * @return the nickname of the RBridge that serves the terminal, which may be this RBridge; 0:
     * the terminal is unknown
     */
    uint16_t FindTerminal(const Mac48Address& terminal) const;

    /**
     * @param outcome an outcome of forwarding
     * @return the number of frames with this outcome
     */
    uint64_t GetFrames(viaduct::rbridge::Outcome outcome) const
    {
        return m_outcomes[static_cast<size_t>(outcome)];
    }

    /**
     * @return the number of frames that should have been forwarded and were not sent, because they
     * are longer than the link's MTU or the link is down
     */
    uint64_t GetNotSent() const
    {
        return m_notSent;
    }

    /** Makes another data plane forward frames instead of the simulator. After this call the
     * RBridge handles only PDUs. It passes its tables to the data plane, which reports the
     * locations of terminals (Learn()).
     * @param plane the data plane
     */
    void SetPlane(std::unique_ptr<RBridgePlane> plane);

    /** Handles a report of the data plane about the location of a terminal.
     * @param terminal the terminal's address and VLAN
     * @param nickname the nickname of the RBridge that sent the terminal's frame; 0: the terminal
     * is at this RBridge
     * @param port if the terminal is at this RBridge, the index in the tables of the port to whose
     * link the terminal is attached
     */
    void Learn(viaduct::rbridge::TerminalKey terminal,
               uint16_t nickname,
               viaduct::rbridge::PortIndex port);

    /**
     * @param device a device
     * @return the index of the device's port in the tables; viaduct::rbridge::kNone if the device
     * is not a port
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
     * @param [in] device the port's device at which the packet arrived
     * @param [in] outcome the outcome, such as "forwarded" or "wrong_path"
     */
    typedef void (*FrameTracedCallback)(Ptr<const Packet> packet,
                                        Ptr<NetDevice> device,
                                        std::string outcome);
    /**
     * TracedCallback signature for Adjacency.
     * @param [in] device the port's device
     * @param [in] up true: a neighbour has appeared; false: a neighbour has gone
     */
    typedef void (*AdjacencyTracedCallback)(Ptr<NetDevice> device, bool up);
    /**
     * TracedCallback signature for Routes.
     * @param [in] reachable the number of other RBridges that are reachable
     */
    typedef void (*RoutesTracedCallback)(uint32_t reachable);

  protected:
    void DoInitialize() override;
    void DoDispose() override;

  private:
    // Inherited from RBridgePort::User
    void AdjacencyChanged(RBridgePort& port, bool up) override;
    void ServiceChanged(RBridgePort& port) override;

    // Handles each frame that arrives at a port; registered with the node as the protocol handler
    // of the port's device.
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
    /** Chooses another nickname if another RBridge has the same nickname and takes precedence
     * (viaduct::rbridge::NicknameOwners()). */
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
    RBridgePortSettings m_common; //!< settings of all ports, set by Start()

    Ptr<Node> m_node;                                   //!< the ports' node
    std::unique_ptr<viaduct::rbridge::Tables> m_tables; //!< the tables that Forward() uses
    std::vector<std::unique_ptr<RBridgePort>> m_ports;  //!< the ports, by their index in the tables
    std::map<Ptr<NetDevice>, RBridgePort*> m_byDevice;  //!< the ports, by device
    Ptr<UniformRandomVariable> m_random;                //!< random numbers for jitter and nicknames
    std::unique_ptr<viaduct::rbridge::Database> m_database;   //!< link states; null: stopped
    std::unique_ptr<viaduct::rbridge::Routes> m_routes;       //!< computes routes; null: stopped
    std::unique_ptr<viaduct::rbridge::Terminals> m_terminals; //!< known terminals; null: stopped
    std::unique_ptr<RBridgeFlooding> m_flooding;              //!< distributes LSPs; null: stopped
    /** Number of frames, by outcome. */
    std::array<uint64_t, viaduct::rbridge::kOutcomes> m_outcomes{};
    uint64_t m_notSent = 0; //!< number of frames that GetNotSent() returns
    /** The result of viaduct::rbridge::Forward() for the current frame; reused. */
    std::unique_ptr<viaduct::rbridge::Decision> m_decision;

    /** Data plane that forwards instead of ns-3; null: ns-3 forwards. */
    std::unique_ptr<RBridgePlane> m_plane;

    Time m_originated;      //!< time of the last change of this RBridge's LSPs
    EventId m_originate;    //!< event that calls Originate()
    EventId m_compute;      //!< event that calls Compute()
    EventId m_summaries;    //!< event that calls SendSummaries()
    EventId m_age;          //!< event that calls AgeLinkStates()
    EventId m_ageTerminals; //!< event that calls AgeTerminals()
    EventId m_publish;      //!< event that calls Publish()

    TracedValue<uint16_t> m_nickname{0}; //!< trace source Nickname
    /** Trace source Frame. */
    TracedCallback<Ptr<const Packet>, Ptr<NetDevice>, std::string> m_frameTrace;
    TracedCallback<Ptr<NetDevice>, bool> m_adjacencyTrace; //!< trace source Adjacency
    TracedCallback<uint32_t> m_routesTrace;                //!< trace source Routes
};

} // namespace ns3

#endif // VIADUCT_RBRIDGE_H
