/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/offload/interface-mirror.h"

#include "ns3/base/ip-family.h"

#include "ns3/base/poll-phase.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

#include "base/error.h"
#include "base/wire/address_scope.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("InterfaceMirror");

NS_OBJECT_ENSURE_REGISTERED(InterfaceMirror);

TypeId
InterfaceMirror::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::InterfaceMirror")
            .SetParent<Object>()
            .SetGroupName("Viaduct")
            .AddConstructor<InterfaceMirror>()
            .AddAttribute("PollInterval",
                          "The interval at which the node's IP interfaces are checked for changes.",
                          TimeValue(MilliSeconds(100)),
                          MakeTimeAccessor(&InterfaceMirror::m_pollInterval),
                          MakeTimeChecker(MicroSeconds(1)));
    return tid;
}

void
InterfaceMirror::SetNode(Ptr<Node> node, std::unique_ptr<Sink> sink)
{
    m_node = node;
    m_sink = std::move(sink);
}

void
InterfaceMirror::AddInterface(Ptr<NetDevice> device, const std::string& name)
{
    // The lab's interfaces were created with all addresses, including the addresses of interfaces
    // that are down in ns-3.
    State state{true, {}};
    for (const auto& address : ipfamily::AddressesOf(m_node, device))
    {
        if (!viaduct::wire::IsLinkLocal(address.address))
        {
            state.addresses.push_back(address);
        }
    }
    m_interfaces.push_back({device, name, state});
}

void
InterfaceMirror::DoDispose()
{
    m_poll.Cancel();
    m_interfaces.clear();
    m_sink = nullptr;
    m_node = nullptr;
    Object::DoDispose();
}

void
InterfaceMirror::Start()
{
    m_poll =
        Simulator::Schedule(PollPhase(m_node, m_pollInterval, 2), &InterfaceMirror::Poll, this);
}

InterfaceMirror::State
InterfaceMirror::Look(Ptr<NetDevice> device) const
{
    State state{false, {}};
    std::vector<viaduct::wire::IpPrefix> all;
    bool isIp = false;
    const auto look = [&](auto ip) {
        const int32_t index = ip ? ip->GetInterfaceForDevice(device) : -1;
        if (index < 0)
        {
            return;
        }
        isIp = true;
        const bool up = ip->IsUp(index);
        state.up |= up;
        for (const auto& address : ipfamily::AddressesOf(ip, static_cast<uint32_t>(index)))
        {
            if (viaduct::wire::IsLinkLocal(address.address))
            {
                continue;
            }
            all.push_back(address);
            if (up)
            {
                state.addresses.push_back(address);
            }
        }
    };
    look(m_node->GetObject<Ipv4>());
    look(m_node->GetObject<Ipv6>());
    if (!state.up)
    {
        state.addresses = all; // an interface that is down in the kernel may keep its addresses
    }
    state.up |= !isIp;
    return state;
}

void
InterfaceMirror::Apply(Interface& interface, const State& state)
{
    if (state.up != interface.state.up)
    {
        m_sink->SetUp(interface.name, state.up);
        interface.state.up = state.up;
    }
    if (state.addresses != interface.state.addresses)
    {
        m_sink->SetAddresses(interface.name, state.addresses);
        interface.state.addresses = state.addresses;
    }
}

void
InterfaceMirror::Poll()
{
    for (Interface& interface : m_interfaces)
    {
        const State state = Look(interface.device);
        if (state == interface.state)
        {
            continue;
        }
        try
        {
            Apply(interface, state);
        }
        catch (const viaduct::Error& error)
        {
            // The change is not tried again: the kernel would refuse it again.
            interface.state = state;
            m_refused.push_back(interface.name + ": " + error.what());
            NS_LOG_WARN("node " << m_node->GetId() << " " << m_refused.back());
        }
    }
    m_poll = Simulator::Schedule(m_pollInterval, &InterfaceMirror::Poll, this);
}

} // namespace ns3
