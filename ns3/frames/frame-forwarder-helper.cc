/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/frames/frame-forwarder-helper.h"

#include "ns3/loopback-net-device.h"

namespace ns3
{

FrameForwarderHelper::FrameForwarderHelper(const std::string& program) : m_program(program)
{
}

Ptr<FrameForwarder>
FrameForwarderHelper::Install(Ptr<Node> node) const
{
    auto forwarder = CreateObject<FrameForwarder>();
    forwarder->SetProgram(m_program);
    node->AggregateObject(forwarder);
    for (uint32_t i = 0; i < node->GetNDevices(); i++)
    {
        if (!DynamicCast<LoopbackNetDevice>(node->GetDevice(i)))
        {
            forwarder->AddPort(node->GetDevice(i));
        }
    }
    if (m_protocol.IsTypeIdSet())
    {
        node->AggregateObject(m_protocol.Create<Object>());
    }
    return forwarder;
}

void
FrameForwarderHelper::Install(const NodeContainer& nodes) const
{
    for (auto i = nodes.Begin(); i != nodes.End(); ++i)
    {
        Install(*i);
    }
}

} // namespace ns3
