/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/kernel/kernel-stack-helper.h"

#include "ns3/arp-l3-protocol.h"
#include "ns3/boolean.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/ipv4-list-routing-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/ipv6-static-routing-helper.h"
#include "ns3/kernel/kernel-calendar.h"
#include "ns3/kernel/kernel-ip.h"
#include "ns3/kernel/kernel-node.h"
#include "ns3/kernel/kernel-state-csv.h"
#include "ns3/simulator.h"
#include "ns3/traffic-control-layer.h"

#include "base/error.h"

#include <algorithm>

namespace ns3
{

namespace
{

constexpr uint32_t DEVICES_A_NODE = 4; // devices per node, assumed to compute the number of guests

} // namespace

KernelStackHelper::KernelStackHelper()
{
    m_guestFactory.SetTypeId(KernelGuest::GetTypeId());
}

void
KernelStackHelper::SetRoutingHelper(const Ipv4RoutingHelper& routing)
{
    m_routing.reset(routing.Copy());
}

void
KernelStackHelper::SetRoutingHelper(const Ipv6RoutingHelper& routing)
{
    m_routing6.reset(routing.Copy());
}

Ptr<KernelGuest>
KernelStackHelper::MakeGuest()
{
    auto guest = m_guestFactory.Create<KernelGuest>();
    guest->Enter();
    m_guests.push_back(guest);
    return guest;
}

uint32_t
KernelStackHelper::GuestsFor(uint32_t nodes, Ptr<KernelGuest> guest) const
{
    if (m_nGuests > 0)
    {
        return std::min(m_nGuests, nodes);
    }
    // The number of guests is computed with an assumed number of devices, as the nodes' devices are
    // not known yet.
    const uint32_t each = std::max(1U, guest->GetMaxDevices() / DEVICES_A_NODE);
    return (nodes + each - 1) / each;
}

void
KernelStackHelper::Install(const NodeContainer& nodes)
{
    if (nodes.GetN() == 0)
    {
        return;
    }
    KernelCalendar::Get()->ExpectNodes(nodes.GetN());
    auto made = MakeGuest();
    const uint32_t guests = GuestsFor(nodes.GetN(), made);
    uint32_t node = 0;
    for (uint32_t guest = 0; guest < guests; ++guest)
    {
        if (guest > 0)
        {
            made = MakeGuest();
        }
        for (const uint32_t end = nodes.GetN() * (guest + 1) / guests; node < end; ++node)
        {
            InstallOn(nodes.Get(node), made);
        }
    }
}

void
KernelStackHelper::InstallOn(Ptr<Node> node, Ptr<KernelGuest> guest) const
{
    if (node->GetObject<Ipv4>() || node->GetObject<Ipv6>())
    {
        throw viaduct::UsageError(
            "node " + std::to_string(node->GetId()) +
            " already has an IP stack: use KernelStackHelper instead of InternetStackHelper");
    }
    // Adds objects that Ipv4L3Protocol and Ipv6L3Protocol expect on the node; the objects carry no
    // packets.
    node->AggregateObject(CreateObject<TrafficControlLayer>());
    auto arp = CreateObject<ArpL3Protocol>();
    node->AggregateObject(arp);
    arp->SetTrafficControl(node->GetObject<TrafficControlLayer>());
    node->AggregateObject(CreateObject<KernelIpv4>());
    node->AggregateObject(CreateObject<KernelIpv6>());
    auto icmpv6 = CreateObject<KernelIcmpv6>();
    icmpv6->SetAttribute("DAD", BooleanValue(false));
    node->AggregateObject(icmpv6);

    auto ipv4 = node->GetObject<Ipv4>();
    auto ipv6 = node->GetObject<Ipv6>();
    Ipv4ListRoutingHelper usual;
    usual.Add(Ipv4StaticRoutingHelper(), 0);
    usual.Add(Ipv4GlobalRoutingHelper(), -10);
    ipv4->SetRoutingProtocol(m_routing ? m_routing->Create(node) : usual.Create(node));
    ipv6->SetRoutingProtocol(m_routing6 ? m_routing6->Create(node)
                                        : Ipv6StaticRoutingHelper().Create(node));

    auto kernel = CreateObject<KernelNode>();
    kernel->Install(node, guest);
    for (const auto& [name, value] : m_sysctls)
    {
        kernel->SetSysctl(name, value);
    }
    node->AggregateObject(kernel);
}

void
KernelStackHelper::EnablePcap(const std::string& prefix, const NodeContainer& nodes)
{
    for (uint32_t i = 0; i < nodes.GetN(); ++i)
    {
        auto kernel = nodes.Get(i)->GetObject<KernelNode>();
        if (!kernel)
        {
            throw viaduct::UsageError("node " + std::to_string(nodes.Get(i)->GetId()) +
                                      " has no kernel whose packets could be captured: install "
                                      "KernelStackHelper on the node");
        }
        kernel->EnablePcap(prefix);
    }
}

void
KernelStackHelper::EnableStateCsv(const std::string& prefix,
                                  const NodeContainer& nodes,
                                  Time interval)
{
    for (uint32_t i = 0; i < nodes.GetN(); ++i)
    {
        const Ptr<Node> node = nodes.Get(i);
        EnableStateCsv(prefix + "-" + std::to_string(node->GetId()), node, interval);
    }
}

void
KernelStackHelper::EnableStateCsv(const std::string& prefix, Ptr<Node> node, Time interval)
{
    const auto state = node->GetObject<KernelState>();
    if (!state)
    {
        throw viaduct::UsageError("node " + std::to_string(node->GetId()) +
                                  " has no kernel whose state could be written: install "
                                  "KernelStackHelper on the node");
    }
    if (!interval.IsStrictlyPositive())
    {
        throw viaduct::UsageError("the interval of EnableStateCsv() must be greater than 0");
    }
    state->SetInterval(interval);
    auto csv = std::make_shared<KernelStateCsv>(prefix, state);
    Simulator::ScheduleDestroy([csv]() mutable { csv.reset(); });
}

} // namespace ns3
