/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/frame-nodes.h"

#include "ns3/sim/frame-programs.h"
#include "ns3/sim/rbridges.h"

#include "scenario/protocols.h"

namespace ns3::sim
{

using viaduct::scenario::Scenario;

std::unique_ptr<FrameReachability>
MakeFrameReachability(const Scenario& scenario, const Network& network)
{
    if (viaduct::scenario::HasRBridges(scenario))
    {
        return std::make_unique<RBridgeReachability>(scenario, network);
    }
    if (viaduct::scenario::HasFramePrograms(scenario))
    {
        return std::make_unique<ProgramReachability>(scenario, network);
    }
    return nullptr;
}

void
InstallFrameNodes(const Scenario& scenario, const Network& network)
{
    if (viaduct::scenario::HasRBridges(scenario))
    {
        InstallRBridges(scenario, network);
    }
    else
    {
        InstallFramePrograms(scenario, network);
    }
}

void
SetMtusOfFrameNodes(const Scenario& scenario, const NetworkLink& link)
{
    if (viaduct::scenario::HasRBridges(scenario))
    {
        SetMtus(scenario, link);
    }
    else
    {
        SetMtusOfPrograms(scenario, link);
    }
}

void
DescribeFrameNodes(const Network& network, viaduct::result::SimulatorReport& report)
{
    DescribeRBridges(network, report);
    DescribeFramePrograms(network, report);
}

} // namespace ns3::sim
