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
 * @brief A hub for nodes whose programs are on remote hosts: carries frames between the nodes'
 * devices and VXLAN clients.
 *
 * The device of a remote node is the simulated end of a wire to its client: frames that arrive at
 * the device are sent to the client unchanged, and frames that the client sends are sent through
 * the device, with the client's MAC address. The node's stack in ns-3, if it has one, receives and
 * sends nothing: the client must use the stack's addresses.
 *
 * Alternatively the client runs only the programs of a node, which keeps ns-3's IP layer and
 * routing protocol (AddPrograms()): packets that the client sends are routed like
 * packets that the node itself sends, and packets for the node's addresses that no ns-3 socket
 * claims are sent to the client (ProgramPort, viaduct::tunnel::ClientWire). This mode supports only
 * IPv4.
 *
 * A client is a VXLAN interface of a Linux kernel (RFC 7348) that has the node's identifier, or
 * `viaduct join`. Frames of all clients enter the simulation in the order of their arrival; when
 * there are more frames than the simulation can handle, the clients get fair shares
 * (viaduct::tunnel::FairQueue).
 *
 * Needs ns3::ReactorSimulatorImpl.
 */
class RemoteHub : public Object, private ReactorFlush
{
  public:
    /** The reason why a frame from a client did not enter the simulation. */
    enum DropReason
    {
        RX_MALFORMED,  //!< wrong lengths in the IP, UDP, TCP, ICMP or ARP header
        RX_IP_OPTIONS, //!< IPv4 options, which ns-3's forwarding would corrupt
        RX_REFUSED,    //!< not sent by the device: link down, frame longer than the MTU
        N_DROP_REASONS
    };

    /** @return the object TypeId */
    static TypeId GetTypeId();

    RemoteHub();
    ~RemoteHub() override;

    /** The permitted clients of a node. */
    struct Access
    {
        std::string address; //!< client's address; empty: any host that Claim()s the node
        bool anyone = false; //!< if `address` is empty: whether the first sender is the client
    };

    /**
     * Makes a node remote. Must be called before Start().
     * @param device the node's device, which must support sending with another source address
     * (NetDevice::SupportsSendFrom())
     * @param vni the VXLAN identifier of the node; 0: the lowest unused identifier
     * @param access the permitted clients of the node
     * @return the node's index in this hub
     */
    std::size_t Add(Ptr<NetDevice> device, uint32_t vni, const Access& access);

    /**
     * Makes a client run the programs of a node. Must be called before Start().
     * @param node the node, which has its Internet stack, devices and addresses
     * @param vni the VXLAN identifier of the node; 0: the lowest unused identifier
     * @param access the permitted clients of the node
     * @return the node's index in this hub
     */
    std::size_t AddPrograms(Ptr<Node> node, uint32_t vni, const Access& access);

    /**
     * Opens the UDP socket and begins to serve the clients.
     * @param innerSocket a UDP socket of an encrypted network, which this object then owns. Clients
     * are served only through this socket (viaduct::tunnel::ClientHub::Options). -1: clients are
     * served through the port of the attribute Port
     * @throws viaduct::UsageError if the port is not available
     */
    void Start(int innerSocket = -1);

    /**
     * @return the hub's data path, which has the clients' claims and the counters
     */
    viaduct::tunnel::ClientHub& GetHub()
    {
        return *m_hub;
    }

    /**
     * @param index the result of AddPrograms() or Add()
     * @return the port that carries packets between the node's IP layer and the client; null if
     * the node was added by Add()
     */
    Ptr<ProgramPort> GetPrograms(std::size_t index) const
    {
        return m_remotes[index].programs;
    }

    /**
     * @param index the result of AddPrograms()
     * @return the number of packets for the node's client that were dropped because the client did
     * not report its MAC address in time
     */
    uint64_t GetUnresolved(std::size_t index) const
    {
        return m_remotes[index].wire->unresolved();
    }

    /**
     * @param index the result of Add()
     * @param reason the reason of the drops
     * @return the number of frames of the node's client that were dropped for this reason
     */
    uint64_t GetDrops(std::size_t index, DropReason reason) const
    {
        return m_remotes[index].drops[reason];
    }

    /**
     * @param index the result of Add()
     * @return the number of frames of the node's client that did not enter the simulation
     */
    uint64_t GetTotalDrops(std::size_t index) const
    {
        const auto& drops = m_remotes[index].drops;
        return std::accumulate(drops.begin(), drops.end(), uint64_t{0});
    }

    /**
     * @param index the result of Add()
     * @return the bytes of all frames of the node's client that did not enter the simulation
     */
    uint64_t GetDroppedBytes(std::size_t index) const
    {
        return m_remotes[index].droppedBytes;
    }

    /**
     * @param reason a reason of a drop
     * @return the reason's name, for example "malformed"
     */
    static const char* GetDropReasonName(DropReason reason);

  protected:
    void DoDispose() override;

  private:
    /** A remote node. Add() sets `device`; AddPrograms() sets `programs` and `wire`. Pointers that
     * are not set are null. */
    struct Remote
    {
        Ptr<NetDevice> device;                             //!< device passed to Add()
        Ptr<ProgramPort> programs;                         //!< port to the node's IP layer
        std::unique_ptr<viaduct::tunnel::ClientWire> wire; //!< wire to the node's client
        uint32_t context{0};                               //!< the node's id
        std::array<uint64_t, N_DROP_REASONS> drops{};      //!< number of dropped frames
        uint64_t droppedBytes{0};                          //!< bytes of dropped frames
    };

    /** Adds a node to the hub. @param mtu the MTU of the interface of the node's client */
    std::size_t AddNode(Ptr<Node> node, uint32_t mtu, uint32_t vni, const Access& access);
    /** Queues a frame for a client. FlushTurn() sends the frame at the end of the current turn of
     * the reactor's loop. */
    void SendTo(std::size_t index, std::span<const std::byte> frame);
    /** Makes the reactor call FlushTurn() at the end of the current turn of its loop. */
    void RequestFlush();
    /** Handles frames that have arrived from clients.
     * @return whether datagrams were read or frames handled, or frames may still be waiting */
    bool Serve();
    /** Reads datagrams of clients into the queue. @return whether there were any datagrams */
    bool Read();
    /** Sends a frame that a client has sent into the simulation, from the client's node. */
    void Enter(std::size_t index, std::span<const std::byte> frame);
    /** Queues a frame that has arrived at the device of a remote node for the node's client. */
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
    std::vector<viaduct::tunnel::RemoteNode> m_nodes;  //!< nodes; empty after Start()
    std::vector<Remote> m_remotes;                     //!< nodes, by index
    std::unique_ptr<viaduct::tunnel::ClientHub> m_hub; //!< data path; null before Start()
    Ptr<ReactorSimulatorImpl> m_reactor;               //!< the simulator; null before Start()
    uint32_t m_pollable = 0;                           //!< id of m_hub in the reactor
    bool m_flushRequested = false;                     //!< whether FlushTurn() will be called
};

} // namespace ns3

#endif // VIADUCT_REMOTE_HUB_H
