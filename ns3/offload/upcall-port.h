/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_UPCALL_PORT_H
#define VIADUCT_UPCALL_PORT_H

#include "ns3/route-source.h"
#include "packet-dependence.h"

#include "ns3/drop-counter.h"
#include "ns3/ip-family.h"
#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/object.h"

#include "lab/upcalls.h"
#include "plane/bpf/upcall_program.h"
#include "port/port.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * Gives the packets for which a node's kernel has no route to the node's routing protocol, as the
 * node's own IP layer would: those that came in to RouteInput(), those that programs sent to
 * RouteOutput(). So an unmodified protocol that finds routes on demand keeps them, looks for the
 * route, and forwards them. What it forwards leaves through the interface that it chose.
 *
 * Packets that the kernel forwards by itself are seen as copies, one per flow and interval: the
 * protocol learns that its route is in use, and what it does with the copy is discarded.
 *
 * Exists on every offloaded node, but only opens where a protocol finds routes on demand, or may do
 * so: what a user's protocol does is not known.
 */
class UpcallPort : public Object
{
  public:
    using Neighbour = viaduct::lab::Neighbour; //!< a next hop

    /** The node's kernel, as far as it is needed here. All but MacOf() may throw viaduct::Error. */
    class Kernel
    {
      public:
        virtual ~Kernel() = default;
        /**
         * @param families of the packets that go up
         * @return what carries them; null: each is given to Take(). Called once
         */
        virtual std::unique_ptr<viaduct::io::AnyPort> Open(
            const std::set<viaduct::wire::Family>& families) = 0;
        /**
         * @param interface the kernel's name
         * @return its number; known after Open()
         */
        virtual int IfIndexOf(const std::string& interface) const = 0;
        /**
         * @param interface the kernel's name
         * @param frame is sent at once
         * @return whether the interface accepted it
         */
        virtual bool Send(const std::string& interface, viaduct::io::FrameToSend frame) = 0;
        /**
         * @param address of a node of the lab
         * @return the MAC address of its interface
         */
        virtual std::optional<viaduct::wire::MacAddress> MacOf(
            const viaduct::wire::IpAddress& address) const = 0;
        /**
         * @param neighbours to whom the kernel's own packets wait, or wait no longer
         * @param held whether they wait
         */
        virtual void Hold(const std::vector<Neighbour>& neighbours, bool held) = 0;
    };

    /** Why a packet that went up ended here. */
    enum DropReason
    {
        MALFORMED,         //!< not an IP packet that ns-3 can read
        NOT_UNICAST,       //!< to a group or broadcast address
        NO_ROUTE,          //!< the protocol found none, or too late for the TTL
        UNKNOWN_NEIGHBOUR, //!< the next hop is not in the lab
        NOT_SENT,          //!< the interface refused it
        N_DROP_REASONS
    };

    /** IP packets so far, and their bytes. */
    struct Count
    {
        /** @param size of one more, bytes */
        void Add(size_t size)
        {
            packets++;
            bytes += size;
        }

        uint64_t packets{0}; //!< how many
        uint64_t bytes{0};   //!< of all of them
    };

    /** Packets so far. */
    struct Counters
    {
        Count missed;        //!< the kernel had no route
        Count copies;        //!< seen as copies
        Count sent;          //!< of those missed, left the node
        uint64_t changed{0}; //!< of those sent, the protocol had changed
    };

    /** @return the object TypeId */
    static TypeId GetTypeId();

    /**
     * @param node whose packets they are
     * @param kernel its kernel
     */
    void SetNode(Ptr<Node> node, std::unique_ptr<Kernel> kernel);

    /** @param routed called when the protocol's routes may have changed */
    void SetRouted(std::function<void()> routed)
    {
        m_routed = std::move(routed);
    }

    /** @return a destination whose packets do not all have the same next hop, and why it is
     * believed; empty: there is none
     */
    const std::string& GetDependence() const
    {
        return m_dependence.GetFinding();
    }

    /** Takes what the protocols decided about a packet (RouteSource::Decide()). */
    using Decided = std::function<void(const viaduct::wire::IpAddress& destination,
                                       const viaduct::wire::IpAddress& gateway,
                                       Ptr<NetDevice> device)>;

    /** @param decided called for each packet that goes up, and is not changed by the protocol */
    void SetDecided(Decided decided)
    {
        m_decided = std::move(decided);
    }

    /**
     * @param device a device of the node
     * @param name the kernel's name
     */
    void AddInterface(Ptr<NetDevice> device, const std::string& name);
    /** Opens if one of the node's protocols finds routes on demand, or may do so. */
    void Start();

    /** @return whether the kernel passes packets up */
    bool IsOpen() const
    {
        return !m_families.empty();
    }

    /**
     * @param family a version of IP
     * @return whether the kernel passes packets of it up
     */
    bool IsOpen(viaduct::wire::Family family) const
    {
        return m_families.contains(family);
    }

    /** Handles all packets that have come up until now. */
    void Drain();
    /** @param upcall a packet that comes up now */
    void Take(const viaduct::bpf::Upcall& upcall);

    /**
     * @param gateway a next hop
     * @param interface the kernel's name
     * @return it as a neighbour, if it is in the lab
     */
    std::optional<Neighbour> FindNeighbour(const viaduct::wire::IpAddress& gateway,
                                           const std::string& interface) const;

    /** @return what carries the packets up; null if nothing does */
    viaduct::io::AnyPort* GetPort() const
    {
        return m_port.get();
    }

    /** @return the node's kernel */
    Kernel& GetKernel()
    {
        return *m_kernel;
    }

    /** @return the packets so far */
    const Counters& GetCounters() const
    {
        return m_counters;
    }

    /**
     * @return how many of those missed were neither sent nor dropped until now: the protocol still
     * has them, or has given them up in silence
     */
    uint64_t GetKept() const;

    /**
     * @param reason a reason
     * @return how many packets were dropped for it
     */
    uint64_t GetDrops(DropReason reason) const
    {
        return m_drops.Get(reason);
    }

    /**
     * @param reason a reason
     * @return its name, as in "no_route"
     */
    static const char* GetDropReasonName(DropReason reason);

  protected:
    void DoDispose() override;

  private:
    /** A packet as it came up. */
    struct Original
    {
        viaduct::wire::IpAddress destination; //!< its destination
        uint32_t size;                        //!< bytes behind its header
    };

    bool Receive();
    void HandleFrame(std::span<std::byte> frame);
    template <class Family>
    void HandlePacket(const viaduct::bpf::Upcall& upcall);
    template <class Family>
    void HandleMissed(Ptr<Packet> packet, typename Family::Header header, Ptr<NetDevice> from);
    /** @return whether the protocol takes the packet, and its route if it has one now */
    template <class Family>
    std::pair<bool, Ptr<typename Family::Route>> AskAboutCopy(Ptr<Packet> packet,
                                                              const typename Family::Header& header,
                                                              Ptr<NetDevice> from);
    template <class Family>
    void HandleCopy(Ptr<Packet> packet, const typename Family::Header& header, Ptr<NetDevice> from);
    template <class Family>
    void InputMissed(Ptr<Packet> packet,
                     const typename Family::Header& header,
                     Ptr<NetDevice> from);
    template <class Family>
    void Send(Ptr<typename Family::Route> route,
              Ptr<const Packet> packet,
              const typename Family::Header& header,
              const Original& original);
    template <class Family>
    void Decide(const viaduct::wire::IpAddress& destination, Ptr<typename Family::Route> route);
    Ptr<NetDevice> DeviceOf(int ifindex) const;
    void Drop(Ptr<const Packet> packet, DropReason reason);

    Ptr<Node> m_node;                                //!< whose packets they are
    std::unique_ptr<Kernel> m_kernel;                //!< its kernel
    std::function<void()> m_routed;                  //!< routes are used
    Decided m_decided;                               //!< gets decisions
    PacketDependence m_dependence;                   //!< of these decisions
    std::set<viaduct::wire::Family> m_families;      //!< of the packets that go up
    std::map<Ptr<NetDevice>, std::string> m_names;   //!< the kernel's
    std::map<int, Ptr<NetDevice>> m_devices;         //!< by the kernel's number
    std::unique_ptr<viaduct::io::AnyPort> m_port;    //!< carries the packets up
    std::vector<viaduct::io::ReceivedFrame> m_burst; //!< room for a burst
    uint32_t m_pollable{0};                          //!< in the reactor
    std::vector<std::byte> m_frame;                  //!< the one being sent
    Counters m_counters;                             //!< so far
    DropCounter<DropReason, N_DROP_REASONS> m_drops; //!< likewise
};

/**
 * Makes decisions about packets that go up known as routes.
 * @param routes of a node
 * @param upcalls its packets without a route; must live as long
 */
void ConnectUpcalls(Ptr<RouteSource> routes, Ptr<UpcallPort> upcalls);

} // namespace ns3

#endif // VIADUCT_UPCALL_PORT_H
