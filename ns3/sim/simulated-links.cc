/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "simulated-links.h"

#include "base/units.h"

namespace ns3
{
namespace sim
{

namespace
{

constexpr int64_t ASSUMED_RATE = 100'000'000; // bit/s, what ns-3's CSMA examples use

} // namespace

std::vector<std::string>
AssumeRates(viaduct::scenario::Scenario& scenario)
{
    size_t changed = 0;
    auto assume = [](viaduct::path::Spec& spec) {
        const bool without = !spec.rate.has_value();
        spec.rate = spec.rate.value_or(ASSUMED_RATE);
        return without;
    };
    for (auto& link : scenario.links)
    {
        if (scenario.mode != viaduct::scenario::Mode::kSimulate)
        {
            break;
        }
        bool without = false;
        without |= (!link.up || !link.down) && assume(link.spec);
        without |= link.up && assume(*link.up);
        without |= link.down && assume(*link.down);
        changed += without ? 1 : 0;
    }
    if (changed == 0)
    {
        return {};
    }
    const std::string which = changed == scenario.links.size()
                                  ? "links have"
                                  : std::to_string(changed) + " of " +
                                        std::to_string(scenario.links.size()) + " links have";
    return {which + " no rate: simulated at " + viaduct::FormatRate(ASSUMED_RATE) +
            "; set it by spec: rate="};
}

} // namespace sim
} // namespace ns3
