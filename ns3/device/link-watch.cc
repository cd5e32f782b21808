/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/device/link-watch.h"

#include "ns3/reactor/reactor-simulator-impl.h"

#include <utility>

namespace ns3
{

LinkWatch::LinkWatch(viaduct::UniqueFd monitor, std::map<std::string, Ptr<RingNetDevice>> devices)
    : m_monitor(std::move(monitor)), m_devices(std::move(devices))
{
    if (Ptr<ReactorSimulatorImpl> reactor = ReactorSimulatorImpl::Get())
    {
        m_pollable =
            reactor->AddPollable(m_monitor.fd(), Callback<bool>([this] { return Read(); }));
        m_monitor.RequestAll();
    }
}

LinkWatch::~LinkWatch()
{
    if (Ptr<ReactorSimulatorImpl> reactor = ReactorSimulatorImpl::Get())
    {
        reactor->RemovePollable(m_pollable);
    }
}

bool
LinkWatch::Read()
{
    bool isLost = false;
    const auto events = m_monitor.Read(&isLost);
    for (const auto& event : events)
    {
        const auto device = m_devices.find(event.name);
        if (device != m_devices.end())
        {
            device->second->SetLinkUp(event.up && event.carrier && !event.removed);
        }
    }
    if (isLost)
    {
        m_monitor.RequestAll();
    }
    return !events.empty();
}

} // namespace ns3
