/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/simulated-links.h"

#include "base/units.h"
#include "scenario/events.h"

namespace ns3::sim
{

namespace
{

constexpr int64_t ASSUMED_RATE = 100'000'000; // bit/s, as in ns-3's CSMA examples

/**
 * Sets the rate of a SPEC to the assumed rate, if the SPEC has neither a rate nor a shared link.
 * @param [in,out] spec the SPEC
 * @return whether the rate was set
 */
bool
AssumeRate(viaduct::path::Spec& spec)
{
    const bool without = !spec.link.HasRate() && !spec.link.shared;
    if (without)
    {
        spec.link.rate = ASSUMED_RATE;
    }
    return without;
}

/**
 * @param link a link
 * @return whether the link is a plain wire in both directions
 */
bool
IsPlainWire(const viaduct::scenario::LinkSettings& link)
{
    return link.classes.empty() && link.up.value_or(link.spec).IsPlainWire() &&
           link.down.value_or(link.spec).IsPlainWire();
}

} // namespace

std::set<std::string>
WifiLinksOf(const viaduct::scenario::Scenario& scenario)
{
    std::set<std::string> names;
    for (const auto& link : scenario.links)
    {
        if (viaduct::scenario::IsWifi(link))
        {
            names.insert(link.name);
        }
    }
    return names;
}

SimulatedLinks
AssumeRates(viaduct::scenario::Scenario& scenario)
{
    SimulatedLinks result;
    if (scenario.mode != viaduct::scenario::Mode::kSimulate)
    {
        return result;
    }
    size_t changed = 0;
    result.plain = WifiLinksOf(scenario);
    for (auto& link : scenario.links)
    {
        if (viaduct::scenario::IsWifi(link))
        {
            continue;
        }
        if (IsPlainWire(link) && !viaduct::scenario::ChangesSpec(scenario, link.name))
        {
            result.plain.insert(link.name);
        }
        bool without = false;
        without |= (!link.up || !link.down) && AssumeRate(link.spec);
        without |= link.up && AssumeRate(*link.up);
        without |= link.down && AssumeRate(*link.down);
        for (auto& each : link.classes)
        {
            without |= (!each.up || !each.down) && AssumeRate(each.spec);
            without |= each.up && AssumeRate(*each.up);
            without |= each.down && AssumeRate(*each.down);
        }
        changed += without ? 1 : 0;
    }
    for (auto& event : scenario.link_events)
    {
        AssumeRate(event.up_spec);
        AssumeRate(event.down_spec);
    }
    if (changed > 0)
    {
        const size_t all = scenario.links.size();
        const std::string which =
            changed == all ? "the links have"
                           : std::to_string(changed) + " of " + std::to_string(all) + " links have";
        result.assumptions.push_back(
            which + " no rate: simulated at " + viaduct::FormatRate(ASSUMED_RATE) +
            "; to change the rate, add rate=RATE to the spec of the links");
    }
    return result;
}

} // namespace ns3::sim
