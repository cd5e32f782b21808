/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_ROUTE_LOG_H
#define VIADUCT_SIM_ROUTE_LOG_H

#include "ns3/lab-helper.h"

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
 * What was changed in the nodes' route tables, and when; of a lab.
 */
class RouteLog
{
  public:
    /** Follows the changes from now on.
     * @param lab the lab; this object must not end while its simulator runs
     */
    explicit RouteLog(const LabHelper& lab);
    RouteLog(const RouteLog&) = delete;
    RouteLog& operator=(const RouteLog&) = delete;

    /** @return the changes in the order of their times, which are s of CLOCK_MONOTONIC */
    const std::vector<viaduct::result::RouteChange>& GetChanges() const;
    /** @return how many routes changed besides, when there was no more room */
    uint64_t GetOmitted() const;

  private:
    /** What is kept of a run. */
    static constexpr std::size_t MAX_ROUTES = 100000;

    /**
     * @param node its name
     * @param changes those of its table
     */
    void Changed(std::string node, const viaduct::fib::RouteChanges& changes);

    std::vector<viaduct::result::RouteChange> m_changes; //!< kept
    std::size_t m_routes{0};                             //!< in these
    uint64_t m_omitted{0};                               //!< routes
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_ROUTE_LOG_H
