/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_HUB_SERVICE_H
#define VIADUCT_SIM_HUB_SERVICE_H

#include "ns3/sim/control-channel.h"
#include "ns3/sim/network.h"

#include "ns3/guard/transport-guard.h"
#include "ns3/tunnel/remote-hub.h"

#include "base/result/hub.h"
#include "scenario/scenario.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3::sim
{

/** The address and port at which `viaduct hub` listens. */
struct HubOptions
{
    std::string address; //!< an address of this machine; empty: all addresses of this machine
    uint16_t port;       //!< UDP port
    int innerSocket{-1}; //!< mode simulate: the argument of RemoteHub::Start()
};

/**
 * The service of `viaduct hub`, which connects the remote nodes of a simulation in real time to
 * their clients.
 */
class HubService
{
  public:
    /**
     * Attaches the remote nodes to their clients.
     * @param scenario the scenario
     * @param network the scenario's nodes
     * @param options the address to which clients send
     * @throw viaduct::UsageError if no node is remote, or the port is not available
     */
    HubService(const viaduct::scenario::Scenario& scenario,
               const Network& network,
               const HubOptions& options);

    /** Executes the commands Claim and Release; ignores other commands.
     * @param command the command
     * @throw viaduct::UsageError if the node is not remote
     */
    void Obey(const viaduct::scenario::SimulatorCommand& command);

    /** @return the sums of the statistics of all clients up to now */
    viaduct::result::HubProgress Summarize() const;
    /**
     * Returns the statistics of each remote node. The call takes milliseconds for hundreds of
     * clients.
     * @param from the index of the first remote node to describe
     * @param count the maximum number of nodes to describe
     * @return the statistics
     */
    viaduct::result::HubResult Describe(std::size_t from = 0, std::size_t count = SIZE_MAX) const;
    /** @return the number of remote nodes */
    std::size_t GetN() const
    {
        return m_byName.size();
    }

  private:
    /**
     * @param node a node's name
     * @return the index of the remote node in the hub
     */
    std::size_t IndexOf(const std::string& node) const;

    const viaduct::scenario::Scenario& m_scenario; //!< the scenario
    Ptr<RemoteHub> m_hub;                          //!< serves the clients
    /** Indices of the remote nodes in the hub, by name. */
    std::map<std::string, std::size_t> m_byName;
    /** Filters of unreadable packets, by the node's name. */
    std::map<std::string, Ptr<TransportGuard>> m_guards;
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_HUB_SERVICE_H
