/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_MULTICAST_FLOWS_H
#define VIADUCT_MULTICAST_FLOWS_H

#include "ns3/ip-family.h"

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
 * The flows to multicast groups that came to a node, of one version of IP: what the node's routing
 * protocol says of each goes to the kernel's table, and is asked again from time to time.
 */
template <class Family>
class MulticastFlows
{
  public:
    /** How many are kept at most: an entry takes memory of the kernel. */
    static constexpr size_t MOST = 4096;

    /**
     * @param ip the node's IP layer
     * @param devices its devices, in the order in which the kernel numbers them
     * @param socket the kernel's table
     */
    MulticastFlows(Ptr<typename Family::Layer> ip,
                   std::vector<Ptr<NetDevice>> devices,
                   viaduct::UniqueFd socket);

    /** @return what is readable when Receive() has something to do */
    int GetFd() const
    {
        return m_table.fd();
    }

    /** Answers the kernel's questions about new flows. @return whether there were any */
    bool Receive();
    /** Asks the protocol again about all flows, and forgets those that have ended. Static routes of
     * one source get their entries before the first packet, of which the kernel keeps four. */
    void Refresh();

    /** Forgets all flows, also those of a simulator before this one, so that the kernel asks about
     * them. It keeps the first four packets of each until it is answered. */
    void Clear();

    /** @return how many of the kernel's questions came */
    uint64_t GetAsked() const
    {
        return m_asked;
    }

    /** @return how many entries could not be made: too many flows, or the kernel refused */
    uint64_t GetRefused() const
    {
        return m_refused;
    }

  private:
    using Outputs = std::optional<std::set<int>>; //!< nothing: no route

    /** What is known of a source and a group. */
    struct State
    {
        viaduct::sys::MulticastFlow flow;  //!< with its interface
        Outputs outputs;                   //!< as the protocol said
        bool isInKernel{false};            //!< the kernel's table has these outputs
        uint64_t packets{0};               //!< came by that interface so far
        Time seen;                         //!< when that was different, or the kernel asked
        std::optional<uint64_t> elsewhere; //!< packets when one came by another interface
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

    Ptr<typename Family::Layer> m_ip;      //!< asks the protocol
    std::vector<Ptr<NetDevice>> m_devices; //!< by the kernel's number
    viaduct::sys::MulticastTable m_table;  //!< of the kernel
    std::map<std::pair<viaduct::wire::IpAddress, viaduct::wire::IpAddress>, State>
        m_flows;                 //!< by source and group
    uint32_t m_nStaticRoutes{0}; //!< of which entries were made
    uint64_t m_asked{0};         //!< by the kernel
    uint64_t m_refused{0};       //!< entries
};

} // namespace ns3

#endif // VIADUCT_MULTICAST_FLOWS_H
