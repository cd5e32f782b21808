/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_REMOTE_HUB_H
#define VIADUCT_REMOTE_HUB_H

#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/object.h"
#include "ns3/offload/program-port.h"
#include "ns3/packet.h"
#include "ns3/reactor/reactor-simulator-impl.h"

#include "remote/tunnel/client_hub.h"
#include "remote/tunnel/client_wire.h"

#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief Nodes whose programs are on other hosts: frames between their devices and VXLAN clients.
 *
 * The device of a remote node is the simulated end of a wire to its client: frames that arrive at
 * the device are sent to the client unchanged, and frames that the client sends leave by the
 * device, with the client's own MAC address. The node's own stack, if it has one, receives and
 * sends nothing: its addresses are those that the client must use.
 *
 * Alternatively the client has the programs of a node that stays a node of the network, with ns-3's
 * IP layer and routing protocol (AddPrograms()): packets that the client sends are routed like
 * packets that the node itself sends, and packets for the node's addresses that no ns-3 socket
 * claims are sent to the client (ProgramPort, viaduct::tunnel::ClientWire). IPv4 only.
 *
 * A client is a VXLAN interface of a Linux kernel (RFC 7348) that has the node's identifier, or
 * `viaduct join`. Frames are taken in the order of their arrival, from all clients, and by fair
 * shares when there are more than the simulation can handle (viaduct::tunnel::FairQueue).
 *
 * Needs ns3::ReactorSimulatorImpl.
 */
class RemoteHub : public Object, private ReactorFlush
{
  public:
    /** The reason why a frame from a client did not enter the simulation. */
    enum DropReason
    {
        RX_MALFORMED,  //!< lengths in its IP, UDP, TCP, ICMP or ARP header are wrong
        RX_IP_OPTIONS, //!< IPv4 options, which ns-3's forwarding would corrupt
        RX_REFUSED,    //!< the device did not send it: link down, longer than its MTU
        N_DROP_REASONS
    };

    /** @return the object TypeId */
    static TypeId GetTypeId();

    RemoteHub();
    ~RemoteHub() override;

    /** The permitted clients of a node. */
    struct Access
    {
        std::string address; //!< the client's; empty: any host that Claim()s the node
        bool anyone = false; //!< if no address: the first host that sends
    };

    /**
     * Make a node remote. Must be called before Start().
     * @param device its device, which can send with another source address
     * (NetDevice::SupportsSendFrom())
     * @param vni the VXLAN identifier; 0: the lowest that is free
     * @param access the permitted clients
     * @return the node's index
     */
    std::size_t Add(Ptr<NetDevice> device, uint32_t vni, const Access& access);

    /**
     * Give the programs of a node to a client. Must be called before Start().
     * @param node the node, which has its Internet stack, devices and addresses
     * @param vni the VXLAN identifier; 0: the lowest that is free
     * @param access the permitted clients
     * @return the node's index
     */
    std::size_t AddPrograms(Ptr<Node> node, uint32_t vni, const Access& access);

    /**
     * Open the socket and serve the clients from this call on.
     * @param innerSocket a UDP socket, owned by this object, that alone serves clients: the socket
     * of an encrypted network (viaduct::tunnel::ClientHub::Options); -1: the port serves them
     * @throws viaduct::UsageError if the port is not available
     */
    void Start(int innerSocket = -1);

    /**
     * @return the data path: claims and counters
     */
    viaduct::tunnel::ClientHub& GetHub()
    {
        return *m_hub;
    }

    /**
     * @param index the result of AddPrograms() or Add()
     * @return the port that takes packets between the node's IP layer and the client; null after
     * Add()
     */
    Ptr<ProgramPort> GetPrograms(std::size_t index) const
    {
        return m_remotes[index].programs;
    }

    /**
     * @param index the result of AddPrograms()
     * @return packets for its client that were dropped, because the client did not report its MAC
     * address in time
     */
    uint64_t GetUnresolved(std::size_t index) const
    {
        return m_remotes[index].wire->unresolved();
    }

    /**
     * @param index the result of Add()
     * @param reason a reason
     * @return the number of its client's frames dropped for it
     */
    uint64_t GetDrops(std::size_t index, DropReason reason) const
    {
        return m_remotes[index].drops[reason];
    }

    /**
     * @param index the result of Add()
     * @return the number of its client's frames that did not enter the simulation
     */
    uint64_t GetTotalDrops(std::size_t index) const
    {
        const auto& drops = m_remotes[index].drops;
        return std::accumulate(drops.begin(), drops.end(), uint64_t{0});
    }

    /**
     * @param index the result of Add()
     * @return the bytes of its client's frames that did not enter the simulation
     */
    uint64_t GetDroppedBytes(std::size_t index) const
    {
        return m_remotes[index].droppedBytes;
    }

    /**
     * @param reason a reason
     * @return its name, as in "malformed"
     */
    static const char* GetDropReasonName(DropReason reason);

  protected:
    void DoDispose() override;

  private:
    /** A remote node. */
    struct Remote
    {
        Ptr<NetDevice> device;                             //!< the node's device; or null, and:
        Ptr<ProgramPort> programs;                         //!< the port for the client's packets
        std::unique_ptr<viaduct::tunnel::ClientWire> wire; //!< between the client and the port
        uint32_t context{0};                               //!< the node's number
        std::array<uint64_t, N_DROP_REASONS> drops{};      //!< dropped frames
        uint64_t droppedBytes{0};                          //!< bytes of dropped frames
    };

    /** Add a node. @param mtu the MTU of its client's interface */
    std::size_t AddNode(Ptr<Node> node, uint32_t mtu, uint32_t vni, const Access& access);
    /** Send a frame to a client at the end of the turn. */
    void SendTo(std::size_t index, std::span<const std::byte> frame);
    /** Call FlushTurn() at the end of the turn. */
    void RequestFlush();
    /** Handle frames that have arrived. @return whether there was work, or some is left */
    bool Serve();
    /** Read datagrams into the queue. @return whether there were any */
    bool Read();
    /** Send a client's frame from the client's node. */
    void Enter(std::size_t index, std::span<const std::byte> frame);
    /** Handle a frame that has arrived at a remote node. */
    void Leave(std::size_t index,
               Ptr<const Packet> payload,
               uint16_t protocol,
               const Address& source,
               const Address& destination);
    bool FlushTurn() override;

    std::string m_address;                             //!< attribute Address
    uint16_t m_port;                                   //!< attribute Port
    uint32_t m_queueSize;                              //!< attribute QueueSize
    int32_t m_readers;                                 //!< attribute Readers
    std::vector<viaduct::tunnel::RemoteNode> m_nodes;  //!< until Start()
    std::vector<Remote> m_remotes;                     //!< index: a node's index
    std::unique_ptr<viaduct::tunnel::ClientHub> m_hub; //!< from Start() on
    Ptr<ReactorSimulatorImpl> m_reactor;               //!< from Start() on
    uint32_t m_pollable = 0;                           //!< number in the reactor
    bool m_flushRequested = false;                     //!< FlushTurn() will be called
};

} // namespace ns3

#endif // VIADUCT_REMOTE_HUB_H
