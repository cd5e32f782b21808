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
 * node's routing protocol about each flow is written to the kernel's table; the protocol is asked
 * again from time to time.
 */
template <class Family>
class MulticastFlows
{
  public:
    /** The maximum number of flows: an entry takes memory of the kernel. */
    static constexpr size_t MOST = 4096;

    /**
     * @param ip the node's IP layer
     * @param devices the node's devices, in the order in which the kernel numbers them
     * @param socket the kernel's table
     */
    MulticastFlows(Ptr<typename Family::Layer> ip,
                   std::vector<Ptr<NetDevice>> devices,
                   viaduct::UniqueFd socket);

    /** @return a descriptor that is readable when Receive() has something to do */
    int GetFd() const
    {
        return m_table.fd();
    }

    /** Answers the kernel's questions about new flows. @return whether there were any */
    bool Receive();
    /** Asks the protocol again about all flows, and forgets the flows that have ended. Static
     * routes of one source get their entries before the first packet, because the kernel keeps only
     * four packets. */
    void Refresh();

    /** Forgets all flows, including those of a previous simulator, so that the kernel asks about
     * them. It keeps the first four packets of each until it is answered. */
    void Clear();

    /** @return the number of questions that the kernel has asked */
    uint64_t GetAsked() const
    {
        return m_asked;
    }

    /** @return the number of entries that could not be made: too many flows, or the kernel refused
     */
    uint64_t GetRefused() const
    {
        return m_refused;
    }

  private:
    using Outputs = std::optional<std::set<int>>; //!< nullopt: no route

    /** The state of a flow, from one source to one group. */
    struct State
    {
        viaduct::sys::MulticastFlow flow;  //!< including its input interface
        Outputs outputs;                   //!< the protocol's last answer
        bool isInKernel{false};            //!< the kernel's table has these outputs
        uint64_t packets{0};               //!< arrived by that interface so far
        Time seen;                         //!< when `packets` last changed, or the kernel asked
        std::optional<uint64_t> elsewhere; //!< `packets` when one arrived by another interface
        bool isStatic{false};              //!< stays without packets while it has a route
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

    Ptr<typename Family::Layer> m_ip;      //!< reaches the protocol
    std::vector<Ptr<NetDevice>> m_devices; //!< index: the kernel's number
    viaduct::sys::MulticastTable m_table;  //!< the kernel's table
    std::map<std::pair<viaduct::wire::IpAddress, viaduct::wire::IpAddress>, State>
        m_flows;                 //!< key: source, group
    uint32_t m_nStaticRoutes{0}; //!< routes that have entries
    uint64_t m_asked{0};         //!< questions of the kernel
    uint64_t m_refused{0};       //!< entries refused
};

} // namespace ns3

#endif // VIADUCT_MULTICAST_FLOWS_H
