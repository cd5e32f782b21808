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
    std::string address; //!< an address of this machine; empty: all its addresses
    uint16_t port;       //!< UDP
    int innerSocket{-1}; //!< mode simulate: RemoteHub::Start()
};

/**
 * `viaduct hub`: the remote nodes of a simulation in real time.
 */
class HubService
{
  public:
    /**
     * Attaches the remote nodes to their clients.
     * @param scenario the scenario
     * @param network its nodes
     * @param options the address to which clients send
     * @throw viaduct::UsageError if no node is remote, or the port is not available
     */
    HubService(const viaduct::scenario::Scenario& scenario,
               const Network& network,
               const HubOptions& options);

    /** Obeys Claim and Release; ignores other commands.
     * @param command the command
     * @throw viaduct::UsageError if the node is not remote
     */
    void Obey(const viaduct::scenario::SimulatorCommand& command);

    /** @return the sums of the present statistics */
    viaduct::result::HubProgress Summarize() const;
    /**
     * Returns all statistics, which takes milliseconds for hundreds of clients.
     * @param from the first remote node to describe
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
     * @return the node's index
     */
    std::size_t IndexOf(const std::string& node) const;

    const viaduct::scenario::Scenario& m_scenario;       //!< the scenario
    Ptr<RemoteHub> m_hub;                                //!< serves the clients
    std::map<std::string, std::size_t> m_byName;         //!< indexes of remote nodes
    std::map<std::string, Ptr<TransportGuard>> m_guards; //!< key: a node's name
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_HUB_SERVICE_H
