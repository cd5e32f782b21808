/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_ROUTE_LOG_H
#define VIADUCT_SIM_ROUTE_LOG_H

#include "ns3/offload/lab-helper.h"

#include "base/result/reconvergence.h"
#include "plane/fib/route.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3::sim
{

/**
 * The changes of a lab's route tables, with their times.
 */
class RouteLog
{
  public:
    /** Follows the changes from this call on.
     * @param lab the lab; this object must not end while the lab's simulator runs
     */
    explicit RouteLog(const LabHelper& lab);
    RouteLog(const RouteLog&) = delete;
    RouteLog& operator=(const RouteLog&) = delete;

    /** @return the changes in the order of their times, which are s of CLOCK_MONOTONIC */
    const std::vector<viaduct::result::RouteChange>& GetChanges() const;
    /** @return the number of further changed routes, which exceeded the capacity */
    uint64_t GetOmitted() const;

  private:
    /** The maximum number of changed routes that are kept. */
    static constexpr std::size_t MAX_ROUTES = 100000;

    /**
     * @param node a node's name
     * @param changes the changes of the node's table
     */
    void Changed(std::string node, const viaduct::fib::RouteChanges& changes);

    std::vector<viaduct::result::RouteChange> m_changes; //!< kept changes
    std::size_t m_routes{0};                             //!< routes in m_changes
    uint64_t m_omitted{0};                               //!< routes that were not kept
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_ROUTE_LOG_H
