/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/path/path-helper.h"

#include "ns3/device/ethernet-trace-helper-impl.h"
#include "ns3/mac48-address.h"
#include "ns3/path/path-channel.h"
#include "ns3/path/path-net-device.h"

namespace ns3
{

template class EthernetTraceHelper<PathNetDevice>;

PathHelper::PathHelper()
{
    m_devices.SetTypeId("ns3::PathNetDevice");
    m_channels.SetTypeId("ns3::PathChannel");
}

NetDeviceContainer
PathHelper::Install(const NodeContainer& nodes)
{
    auto channel = m_channels.Create<PathChannel>();
    NetDeviceContainer devices;
    for (auto i = nodes.Begin(); i != nodes.End(); ++i)
    {
        auto device = m_devices.Create<PathNetDevice>();
        device->SetAddress(Mac48Address::Allocate());
        (*i)->AddDevice(device);
        channel->Add(device);
        devices.Add(device);
    }
    return devices;
}

NetDeviceContainer
PathHelper::Install(Ptr<Node> a, Ptr<Node> b)
{
    return Install(NodeContainer(a, b));
}

} // namespace ns3
