/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_MULTICAST_MIRROR_H
#define VIADUCT_MULTICAST_MIRROR_H

#include "ns3/offload/multicast-flows.h"

#include "ns3/event-id.h"
#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/object.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * Makes a node's kernel forward packets to multicast groups as the node's routing protocols would.
 *
 * When the first packet of a source to a group arrives, the kernel requests a route
 * (IGMPMSG_NOCACHE) and keeps the packet. The request is passed to RouteInput() of the unmodified
 * protocols, and their answer becomes an entry of the kernel's table. Every PollInterval the
 * protocols are asked again, so that changes and withdrawals of routes reach the table. Packets of
 * a flow without a route are dropped, as in ns-3. The thresholds of
 * Ipv4MulticastRoute::SetOutputTtl() are not considered, as in ns-3.
 *
 * The table is opened when a protocol may forward to groups: static routing that has routes to
 * groups, or a protocol that is not one of ns-3's own. The table cannot be opened if the kernel has
 * no table, another program of the node has it, or there are too many interfaces; this is an error
 * only if there are static routes to groups.
 */
class MulticastMirror : public Object
{
  public:
    /** Opens the kernel's table; throws viaduct::Error. */
    using Open = std::function<viaduct::UniqueFd(viaduct::wire::Family family,
                                                 const std::vector<std::string>& interfaces)>;

    /** Counts since the start. */
    struct Counters
    {
        uint64_t asked{0};   //!< number of the kernel's requests for routes of flows
        uint64_t refused{0}; //!< number of entries that could not be made
    };

    /** @return the object TypeId */
    static TypeId GetTypeId();

    /**
     * @param node the node
     * @param open opens the tables of the node's kernel
     */
    void SetNode(Ptr<Node> node, Open open);
    /**
     * @param device a device of the node
     * @param name the kernel's name of the device's interface
     */
    void AddInterface(Ptr<NetDevice> device, const std::string& name);
    /** Keeps the entries that a failed simulator has left in the kernel's table until Release().
     * Must be called before Start(). */
    void Hold()
    {
        m_held = true;
    }

    /** Removes the entries that Hold() kept, so that the protocols are asked about all flows again.
     * Does nothing if Hold() was not called. */
    void Release();
    /** Starts the mirroring. Must be called when the node is initialized. */
    void Start();

    /** @return whether a table is open */
    bool IsOpen() const
    {
        return m_flows4 || m_flows6;
    }

    /** @return the counts since the start */
    Counters GetCounters() const;

  protected:
    void DoDispose() override;

  private:
    template <class Family>
    using Flows = std::shared_ptr<MulticastFlows<Family>>;

    void Poll();
    template <class Family>
    void PollFlows(Flows<Family>& flows);
    template <class Family>
    Flows<Family> OpenFlows();

    Ptr<Node> m_node;                      //!< the mirrored node
    Open m_open;                           //!< opens tables
    std::vector<Ptr<NetDevice>> m_devices; //!< the node's devices
    std::vector<std::string> m_names;      //!< the kernel's names of m_devices
    Flows<ipfamily::V4> m_flows4;          //!< IPv4 flows; null: no open table
    Flows<ipfamily::V6> m_flows6;          //!< IPv6 flows; null: no open table
    std::vector<uint32_t> m_pollables;     //!< the tables' ids in the reactor
    /** Versions of IP whose multicast table cannot be opened. */
    std::set<viaduct::wire::Family> m_without;
    bool m_held{false};  //!< whether a failed simulator's entries are kept
    Time m_pollInterval; //!< time between two polls
    EventId m_poll;      //!< the next poll
};

} // namespace ns3

#endif // VIADUCT_MULTICAST_MIRROR_H
