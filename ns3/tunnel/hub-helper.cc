/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/tunnel/hub-helper.h"

#include "ns3/boolean.h"
#include "ns3/global-value.h"
#include "ns3/guard/transport-guard.h"
#include "ns3/loopback-net-device.h"
#include "ns3/names.h"
#include "ns3/node-list.h"
#include "ns3/simulator.h"

#include "base/error.h"

#include <fmt/format.h>

namespace ns3
{

namespace
{

/** @return the only device of a node in addition to loopback devices; throws viaduct::UsageError if
 * the node has no such device or several */
Ptr<NetDevice>
OnlyDevice(Ptr<Node> node)
{
    Ptr<NetDevice> found;
    uint32_t count = 0;
    for (uint32_t i = 0; i < node->GetNDevices(); i++)
    {
        const Ptr<NetDevice> device = node->GetDevice(i);
        if (!DynamicCast<LoopbackNetDevice>(device))
        {
            found = device;
            count++;
        }
    }
    if (count != 1)
    {
        const std::string name = Names::FindName(node);
        throw viaduct::UsageError(
            fmt::format("HubHelper: node {} has {} devices in addition to the loopback device; a "
                        "remote node must have exactly one such device before Install()",
                        name.empty() ? std::to_string(node->GetId()) : name,
                        count));
    }
    return found;
}

} // namespace

HubHelper::HubHelper()
{
    m_hubs.SetTypeId(RemoteHub::GetTypeId());
}

Ptr<RemoteHub>
HubHelper::Install(const NodeContainer& nodes, const RemoteHub::Access& access) const
{
    GlobalValue::Bind("ChecksumEnabled", BooleanValue(true));
    auto hub = m_hubs.Create<RemoteHub>();
    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
    {
        hub->Add(OnlyDevice(*node), 0, access);
    }
    for (auto node = NodeList::Begin(); node != NodeList::End(); ++node)
    {
        if (!nodes.Contains((*node)->GetId()))
        {
            // The clients are unknown hosts, which may send any packets to the node.
            TransportGuard::Install(*node);
        }
    }
    hub->Start();
    Simulator::ScheduleDestroy(&RemoteHub::Dispose, hub);
    return hub;
}

} // namespace ns3
