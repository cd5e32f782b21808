/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_MULTICAST_FLOWS_H
#define VIADUCT_MULTICAST_FLOWS_H

#include "ns3/base/ip-family.h"

#include "ns3/net-device.h"
#include "ns3/nstime.h"
#include "ns3/ptr.h"

#include "sys/network/multicast_table.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * The multicast flows of one version of IP that have arrived at a node. For each flow, the answer
 * of the node's routing protocol is written to the kernel's multicast table. Refresh() asks the
 * protocol about each flow again.
 */
template <class Family>
class MulticastFlows
{
  public:
    /** The maximum number of flows. The number is limited because each entry takes memory of the
     * kernel. */
    static constexpr size_t MOST = 4096;

    /**
     * @param ip the node's IP layer
     * @param devices the node's devices, in the order in which the kernel numbers them
     * @param socket the socket of the kernel's multicast table
     */
    MulticastFlows(Ptr<typename Family::Layer> ip,
                   std::vector<Ptr<NetDevice>> devices,
                   viaduct::UniqueFd socket);

    /** @return a descriptor that is readable when Receive() has a request of the kernel to answer
     */
    int GetFd() const
    {
        return m_table.fd();
    }

    /** Answers the kernel's requests for routes of new flows. @return whether there were any
     * requests */
    bool Receive();
    /** Asks the protocol again about all flows, and forgets the flows that have ended. Static
     * routes of one source get their entries before the first packet, because the kernel keeps only
     * four packets of a flow without an entry. */
    void Refresh();

    /** Forgets all flows, including the flows of a previous simulator, so that the kernel requests
     * a route for each flow again. The kernel keeps the first four packets of a flow until the
     * request for the flow is answered. */
    void Clear();

    /** @return the number of requests that the kernel has sent for routes of flows */
    uint64_t GetAsked() const
    {
        return m_asked;
    }

    /** @return the number of entries that could not be made because there were too many flows or
     * the kernel refused the entry */
    uint64_t GetRefused() const
    {
        return m_refused;
    }

  private:
    using Outputs = std::optional<std::set<int>>; //!< output interfaces; nullopt: no route

    /** The state of a flow, from one source to one group. */
    struct State
    {
        viaduct::sys::MulticastFlow flow; //!< source, group and input interface
        Outputs outputs;                  //!< the protocol's last answer
        bool isInKernel{false};           //!< whether the kernel's table has `outputs`
        /** Number of packets that have arrived by the input interface. */
        uint64_t packets{0};
        /** Time when `packets` changed or the kernel reported the flow. */
        Time seen;
        std::optional<uint64_t> elsewhere; //!< `packets` when a packet arrived by another interface
        /** Whether a static route keeps the flow while it is idle. */
        bool isStatic{false};
    };

    void Answer(const viaduct::sys::MulticastFlow& flow);
    void InstallStaticRoutes();
    void InstallStaticRoutes(Ptr<typename Family::StaticProtocol> protocol);
    void Learn(const viaduct::sys::MulticastFlow& flow, bool isStatic);
    bool HasMoved(State& state, const viaduct::sys::MulticastFlow& flow) const;
    Outputs AskProtocol(const viaduct::sys::MulticastFlow& flow) const;
    void Apply(State& state);
    bool HasEnded(State& state) const;
    bool IsOwn(const viaduct::wire::IpAddress& address) const;

    Ptr<typename Family::Layer> m_ip;      //!< the node's IP layer
    std::vector<Ptr<NetDevice>> m_devices; //!< devices, by the kernel's number
    viaduct::sys::MulticastTable m_table;  //!< the kernel's table
    std::map<std::pair<viaduct::wire::IpAddress, viaduct::wire::IpAddress>, State>
        m_flows;                 //!< the flows; key: source, group
    uint32_t m_nStaticRoutes{0}; //!< number of static routes at the last check
    uint64_t m_asked{0};         //!< number of the kernel's requests for routes
    uint64_t m_refused{0};       //!< number of entries that could not be made
};

} // namespace ns3

#endif // VIADUCT_MULTICAST_FLOWS_H
