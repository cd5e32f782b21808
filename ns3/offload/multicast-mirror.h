/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_MULTICAST_MIRROR_H
#define VIADUCT_MULTICAST_MIRROR_H

#include "multicast-flows.h"

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
 * The kernel asks when the first packet of a source to a group comes in (IGMPMSG_NOCACHE), and
 * keeps it. The question goes to RouteInput() of the unmodified protocols; the answer becomes an
 * entry of the kernel's table, and every PollInterval the question is asked again, so that changes
 * and withdrawals follow. Packets of a flow without a route are dropped, as in ns-3. As there, the
 * thresholds of Ipv4MulticastRoute::SetOutputTtl() are not considered.
 *
 * The table is opened when a protocol may forward to groups: static routing has such routes, or it
 * is a protocol that is not ns-3's own. If the kernel has none, or another program of the node has
 * it, or there are too many interfaces, only static routes to groups are an error.
 */
class MulticastMirror : public Object
{
  public:
    /** Opens the kernel's table; throws viaduct::Error. */
    using Open = std::function<viaduct::UniqueFd(viaduct::wire::Family family,
                                                 const std::vector<std::string>& interfaces)>;

    /** Figures so far. */
    struct Counters
    {
        uint64_t asked{0};   //!< flows that the kernel asked about
        uint64_t refused{0}; //!< entries that could not be made
    };

    /** @return the object TypeId */
    static TypeId GetTypeId();

    /**
     * @param node the node
     * @param open opens its kernel's tables
     */
    void SetNode(Ptr<Node> node, Open open);
    /**
     * @param device a device of the node
     * @param name the kernel's name
     */
    void AddInterface(Ptr<NetDevice> device, const std::string& name);
    /** The kernel's table has entries of a simulator that has died, which stay until Release(). To
     * be called before Start(). */
    void Hold()
    {
        m_held = true;
    }

    /** Asks the protocols about all flows anew. No effect unless entries were held. */
    void Release();
    /** Begins. To be called when the node is initialized. */
    void Start();

    /** @return whether some table is open */
    bool IsOpen() const
    {
        return m_flows4 || m_flows6;
    }

    /** @return the figures so far */
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

    Ptr<Node> m_node;                          //!< whose packets
    Open m_open;                               //!< opens tables
    std::vector<Ptr<NetDevice>> m_devices;     //!< of the node
    std::vector<std::string> m_names;          //!< the kernel's, in the same order
    Flows<ipfamily::V4> m_flows4;              //!< null: not open
    Flows<ipfamily::V6> m_flows6;              //!< likewise
    std::vector<uint32_t> m_pollables;         //!< in the reactor
    std::set<viaduct::wire::Family> m_without; //!< without a table
    bool m_held{false};                        //!< entries of another simulator
    Time m_pollInterval;                       //!< between questions
    EventId m_poll;                            //!< the next
};

} // namespace ns3

#endif // VIADUCT_MULTICAST_MIRROR_H
