/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_UPCALL_PORT_H
#define VIADUCT_UPCALL_PORT_H

#include "ns3/offload/packet-dependence.h"
#include "ns3/routes/route-source.h"

#include "ns3/base/drop-counter.h"
#include "ns3/base/ip-family.h"
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
 * Passes to a node's routing protocol the packets for which the node's kernel has no route, as the
 * node's own IP layer would: received packets to RouteInput(), packets that programs sent to
 * RouteOutput(). So an unmodified protocol that finds routes on demand keeps the packets, looks for
 * the route, and forwards them. Packets that the protocol forwards leave through the interface that
 * it chose.
 *
 * Packets that the kernel forwards are also passed to the protocol, as copies, one per flow and
 * interval. The copies tell the protocol that its route is in use; its actions on a copy are
 * discarded.
 *
 * Every offloaded node has an UpcallPort, which only opens if a protocol finds routes on demand, or
 * may do so: the behaviour of a user's protocol is not known.
 */
class UpcallPort : public Object
{
  public:
    using Neighbour = viaduct::lab::Neighbour; //!< a next hop

    /** The operations of the node's kernel that UpcallPort needs. All functions except MacOf() may
     * throw viaduct::Error. */
    class Kernel
    {
      public:
        virtual ~Kernel() = default;
        /**
         * @param families the versions of IP whose packets without a route the kernel passes up
         * @return the port that carries the packets up; null: the kernel passes each packet to
         * Take(). The function is called only once
         */
        virtual std::unique_ptr<viaduct::io::AnyPort> Open(
            const std::set<viaduct::wire::Family>& families) = 0;
        /**
         * @param interface the kernel's name of an interface
         * @return the interface's number in the kernel (ifindex); known after Open()
         */
        virtual int IfIndexOf(const std::string& interface) const = 0;
        /**
         * @param interface the kernel's name of an interface
         * @param frame the frame, which is sent at once
         * @return whether the interface accepted the frame
         */
        virtual bool Send(const std::string& interface, viaduct::io::FrameToSend frame) = 0;
        /**
         * @param address the address of a node of the lab
         * @return the MAC address of the node's interface
         */
        virtual std::optional<viaduct::wire::MacAddress> MacOf(
            const viaduct::wire::IpAddress& address) const = 0;
        /**
         * @param neighbours next hops
         * @param held whether the kernel's own packets to these next hops must wait from this call
         * on; false: the packets need no longer wait
         */
        virtual void Hold(const std::vector<Neighbour>& neighbours, bool held) = 0;
    };

    /** The reason why a packet that the kernel passed up was dropped. */
    enum DropReason
    {
        MALFORMED,         //!< not an IP packet that ns-3 can read
        NOT_UNICAST,       //!< a packet to a group or broadcast address
        NO_ROUTE,          //!< the protocol found no route, or the packet's TTL has expired
        UNKNOWN_NEIGHBOUR, //!< the next hop is not in the lab
        NOT_SENT,          //!< the interface refused the packet
        N_DROP_REASONS
    };

    /** The number and the total size of IP packets so far. */
    struct Count
    {
        /** @param size size of one more packet, bytes */
        void Add(size_t size)
        {
            packets++;
            bytes += size;
        }

        uint64_t packets{0}; //!< the number of packets
        uint64_t bytes{0};   //!< sum of the packets' sizes
    };

    /** Counts of packets so far. */
    struct Counters
    {
        Count missed;        //!< packets for which the kernel had no route
        Count copies;        //!< copies of packets that the kernel forwarded
        Count sent;          //!< missed packets that left the node
        uint64_t changed{0}; //!< packets in `sent` that the protocol had changed
    };

    /** @return the object TypeId */
    static TypeId GetTypeId();

    /**
     * @param node the node that the packets belong to
     * @param kernel the node's kernel
     */
    void SetNode(Ptr<Node> node, std::unique_ptr<Kernel> kernel);

    /** @param routed called when the protocol's routes may have changed */
    void SetRouted(std::function<void()> routed)
    {
        m_routed = std::move(routed);
    }

    /** @return a destination whose packets do not all have the same next hop, and the evidence;
     * empty: no such destination was found */
    const std::string& GetDependence() const
    {
        return m_dependence.GetFinding();
    }

    /** Receives a protocol's decision about a packet (RouteSource::Decide()). */
    using Decided = std::function<void(const viaduct::wire::IpAddress& destination,
                                       const viaduct::wire::IpAddress& gateway,
                                       Ptr<NetDevice> device)>;

    /** @param decided called for each packet that the kernel passes up and the protocol does not
     * change */
    void SetDecided(Decided decided)
    {
        m_decided = std::move(decided);
    }

    /**
     * @param device a device of the node
     * @param name the kernel's name of the device's interface
     */
    void AddInterface(Ptr<NetDevice> device, const std::string& name);
    /** Opens the port if one of the node's protocols finds routes on demand, or may do so. */
    void Start();

    /** @return whether the kernel passes packets up */
    bool IsOpen() const
    {
        return !m_families.empty();
    }

    /**
     * @param family a version of IP
     * @return whether the kernel passes packets of that version up
     */
    bool IsOpen(viaduct::wire::Family family) const
    {
        return m_families.contains(family);
    }

    /** Handles all packets that the kernel has passed up until now. */
    void Drain();
    /** Handles one packet. @param upcall the packet, which the kernel passes up now */
    void Take(const viaduct::bpf::Upcall& upcall);

    /**
     * @param gateway a next hop
     * @param interface the kernel's name of an interface
     * @return the neighbour at the next hop; nothing if the next hop is not in the lab
     */
    std::optional<Neighbour> FindNeighbour(const viaduct::wire::IpAddress& gateway,
                                           const std::string& interface) const;

    /** @return the port that carries the packets up; null if there is no port */
    viaduct::io::AnyPort* GetPort() const
    {
        return m_port.get();
    }

    /** @return the node's kernel */
    Kernel& GetKernel()
    {
        return *m_kernel;
    }

    /** @return the counts of packets so far */
    const Counters& GetCounters() const
    {
        return m_counters;
    }

    /**
     * @return the number of missed packets that were neither sent nor dropped until now: the
     * protocol still has them, or has dropped them without a report
     */
    uint64_t GetKept() const;

    /**
     * @param reason a reason
     * @return the number of packets dropped for the reason
     */
    uint64_t GetDrops(DropReason reason) const
    {
        return m_drops.Get(reason);
    }

    /**
     * @param reason a reason
     * @return the reason's name, as in "no_route"
     */
    static const char* GetDropReasonName(DropReason reason);

  protected:
    void DoDispose() override;

  private:
    /** The properties of a packet when the kernel passed it up. */
    struct Original
    {
        viaduct::wire::IpAddress destination; //!< the packet's destination
        uint32_t size;                        //!< size of the packet without the IP header, bytes
    };

    bool Receive();
    void HandleFrame(std::span<std::byte> frame);
    template <class Family>
    void HandlePacket(const viaduct::bpf::Upcall& upcall);
    template <class Family>
    void HandleMissed(Ptr<Packet> packet, typename Family::Header header, Ptr<NetDevice> from);
    /** @return whether the protocol takes the packet, and the packet's route; null: the packet has
     * no route yet */
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

    Ptr<Node> m_node;                                //!< the node that the packets belong to
    std::unique_ptr<Kernel> m_kernel;                //!< the node's kernel
    std::function<void()> m_routed;                  //!< called when routes may have changed
    Decided m_decided;                               //!< receives the protocol's decisions
    PacketDependence m_dependence;                   //!< finds destinations with several next hops
    std::set<viaduct::wire::Family> m_families;      //!< versions of IP whose packets are passed up
    std::map<Ptr<NetDevice>, std::string> m_names;   //!< the kernel's names of devices
    std::map<int, Ptr<NetDevice>> m_devices;         //!< devices by the kernel's number
    std::unique_ptr<viaduct::io::AnyPort> m_port;    //!< carries the packets up
    std::vector<viaduct::io::ReceivedFrame> m_burst; //!< buffer for received frames
    uint32_t m_pollable{0};                          //!< the port's id in the reactor
    std::vector<std::byte> m_frame;                  //!< the frame being sent
    Counters m_counters;                             //!< packets so far
    DropCounter<DropReason, N_DROP_REASONS> m_drops; //!< dropped packets so far
};

/**
 * Passes the decisions about packets from the kernel to a RouteSource, as routes.
 * @param routes the routes of a node
 * @param upcalls handles the node's packets without a route; must exist as long as @p routes
 */
void ConnectUpcalls(Ptr<RouteSource> routes, Ptr<UpcallPort> upcalls);

} // namespace ns3

#endif // VIADUCT_UPCALL_PORT_H
