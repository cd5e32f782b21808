/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/wmrp/rbridge-helper.h"

#include "ns3/loopback-net-device.h"

namespace ns3
{

RBridgeHelper::RBridgeHelper()
{
    m_factory.SetTypeId(RBridge::GetTypeId());
}

Ptr<RBridge>
RBridgeHelper::Install(Ptr<Node> node) const
{
    Ptr<RBridge> rbridge = m_factory.Create<RBridge>();
    node->AggregateObject(rbridge);
    for (uint32_t i = 0; i < node->GetNDevices(); i++)
    {
        if (!DynamicCast<LoopbackNetDevice>(node->GetDevice(i)))
        {
            rbridge->AddPort(node->GetDevice(i));
        }
    }
    return rbridge;
}

void
RBridgeHelper::Install(const NodeContainer& nodes) const
{
    for (auto i = nodes.Begin(); i != nodes.End(); ++i)
    {
        Install(*i);
    }
}

int64_t
RBridgeHelper::AssignStreams(const NodeContainer& nodes, int64_t stream)
{
    int64_t next = stream;
    for (auto i = nodes.Begin(); i != nodes.End(); ++i)
    {
        next += (*i)->GetObject<RBridge>()->AssignStreams(next);
    }
    return next - stream;
}

} // namespace ns3
