/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_NODE_ROUTES_H
#define VIADUCT_KERNEL_NODE_ROUTES_H

#include "guest/agent/agent_client.h"
#include "plane/fib/route_sink.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace ns3
{

/**
 * @ingroup viaduct
 * Passes the routes of one node to the node's namespace in a guest's kernel. The guest's agent
 * performs the requests later; a failure ends the run (AgentClient::SetFailureHandler()).
 */
class KernelNodeRoutes final : public viaduct::fib::RouteSink
{
  public:
    /**
     * @param agent the guest's agent; must outlive this object
     * @param node the node's number in the guest
     * @param ifindexes the kernel's indexes of the node's interfaces, by the interfaces' names
     */
    KernelNodeRoutes(viaduct::guest::AgentClient& agent,
                     uint32_t node,
                     std::map<std::string, int> ifindexes);

  private:
    void DoApply(const viaduct::fib::RouteChanges& changes) override;
    void AddRules(const viaduct::fib::Route& route);
    viaduct::guest::KernelRoute ToKernel(const viaduct::fib::Route& route) const;

    viaduct::guest::AgentClient& m_agent;        //!< the guest's agent
    uint32_t m_node;                             //!< the node's number in the guest
    std::map<std::string, int> m_ifindexes;      //!< indexes of the node's interfaces, by name
    std::set<viaduct::wire::Family> m_withRules; //!< families with rules for the preferred table
};

} // namespace ns3

#endif // VIADUCT_KERNEL_NODE_ROUTES_H
