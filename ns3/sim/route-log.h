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
 * A log of the changes of a lab's route tables, with their times.
 */
class RouteLog
{
  public:
    /** Records the changes from this call on.
     * @param lab the lab; this object must not be destroyed while the lab's simulator runs
     */
    explicit RouteLog(const LabHelper& lab);
    RouteLog(const RouteLog&) = delete;
    RouteLog& operator=(const RouteLog&) = delete;

    /** @return the recorded changes in the order of their times; the times are CLOCK_MONOTONIC in s
     */
    const std::vector<viaduct::result::RouteChange>& GetChanges() const;
    /** @return the number of changed routes that were not recorded, because MAX_ROUTES was reached
     */
    uint64_t GetOmitted() const;

  private:
    /** The maximum number of changed routes that are recorded. */
    static constexpr std::size_t MAX_ROUTES = 100000;

    /**
     * @param node a node's name
     * @param changes the changes of the node's route table
     */
    void Changed(std::string node, const viaduct::fib::RouteChanges& changes);

    std::vector<viaduct::result::RouteChange> m_changes; //!< recorded changes
    std::size_t m_routes{0};                             //!< number of changed routes in m_changes
    uint64_t m_omitted{0}; //!< number of changed routes that were not recorded
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_ROUTE_LOG_H
