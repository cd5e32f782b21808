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
 * The flows to multicast groups that arrived at a node, of one version of IP. The answer of the
 * node's routing protocol about each flow is written to the kernel's table; Refresh() asks the
 * protocol about each flow again.
 */
template <class Family>
class MulticastFlows
{
  public:
    /** The maximum number of flows: each entry takes memory of the kernel. */
    static constexpr size_t MOST = 4096;

    /**
     * @param ip the node's IP layer
     * @param devices the node's devices, in the order in which the kernel numbers them
     * @param socket the socket of the kernel's multicast table
     */
    MulticastFlows(Ptr<typename Family::Layer> ip,
                   std::vector<Ptr<NetDevice>> devices,
                   viaduct::UniqueFd socket);

    /** @return a descriptor that is readable when the kernel has asked a question for Receive() */
    int GetFd() const
    {
        return m_table.fd();
    }

    /** Answers the kernel's questions about new flows. @return whether there were any questions */
    bool Receive();
    /** Asks the protocol again about all flows, and forgets the flows that have ended. Static
     * routes of one source get their entries before the first packet, because the kernel keeps only
     * four packets of a flow without an entry. */
    void Refresh();

    /** Forgets all flows, including those of a previous simulator, so that the kernel asks about
     * each flow again. The kernel keeps the first four packets of a flow until its question is
     * answered. */
    void Clear();

    /** @return the number of questions that the kernel has asked */
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
        viaduct::sys::MulticastFlow flow;  //!< source, group and input interface
        Outputs outputs;                   //!< the protocol's last answer
        bool isInKernel{false};            //!< whether the kernel's table has `outputs`
        uint64_t packets{0};               //!< packets by the input interface so far
        Time seen;                         //!< time when `packets` changed or the kernel asked
        std::optional<uint64_t> elsewhere; //!< `packets` when another interface got a packet
        bool isStatic{false};              //!< whether a static route keeps an idle flow
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
    uint64_t m_asked{0};         //!< number of questions of the kernel
    uint64_t m_refused{0};       //!< number of entries that could not be made
};

} // namespace ns3

#endif // VIADUCT_MULTICAST_FLOWS_H
