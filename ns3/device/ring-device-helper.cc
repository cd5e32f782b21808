/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/device/ring-device-helper.h"

#include "ns3/device/ethernet-trace-helper-impl.h"
#include "ns3/device/ring-net-device.h"
#include "ns3/string.h"

namespace ns3
{

template class EthernetTraceHelper<RingNetDevice>;

RingDeviceHelper::RingDeviceHelper()
{
    m_devices.SetTypeId("ns3::RingNetDevice");
}

NetDeviceContainer
RingDeviceHelper::Install(Ptr<Node> node, const std::string& interface) const
{
    auto device = m_devices.Create<RingNetDevice>();
    device->SetAttribute("Interface", StringValue(interface));
    node->AddDevice(device);
    return NetDeviceContainer(device);
}

} // namespace ns3
