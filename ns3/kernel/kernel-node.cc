/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/kernel/kernel-node.h"

#include "ns3/base/path-seed.h"
#include "ns3/kernel/kernel-addresses.h"
#include "ns3/kernel/kernel-calendar.h"
#include "ns3/kernel/kernel-node-routes.h"
#include "ns3/kernel/kernel-state.h"

#include "ns3/boolean.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/loopback-net-device.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include "base/error.h"
#include "base/wire/address_scope.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace ns3
{

using kerneladdress::AddressesOf;
using kerneladdress::InterfaceOf;
using viaduct::wire::IpAddress;
using viaduct::wire::IpPrefix;

NS_OBJECT_ENSURE_REGISTERED(KernelNode);

namespace
{

constexpr uint32_t FIRST_SOURCE_TABLE = 1000; //!< table of the first device's source routes

/** @return whether an IP layer forwards the packets that arrive on a device */
template <class Layer>
bool
ForwardsFrom(Ptr<Layer> ip, Ptr<NetDevice> device)
{
    const int32_t interface = ip->GetInterfaceForDevice(device);
    return interface >= 0 && ip->IsForwarding(static_cast<uint32_t>(interface));
}

} // namespace

TypeId
KernelNode::GetTypeId()
{
    static TypeId tid = TypeId("ns3::KernelNode")
                            .SetParent<Object>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<KernelNode>();
    return tid;
}

void
KernelNode::DoDispose()
{
    for (Port& port : m_ports)
    {
        port.bridge->Dispose();
    }
    m_ports.clear();
    m_later.clear();
    m_sourceGateways.clear();
    if (m_routes)
    {
        m_routes->Dispose();
    }
    m_routes = nullptr;
    if (m_upcalls)
    {
        m_upcalls->Dispose();
    }
    m_upcalls = nullptr;
    m_sockets = nullptr;
    m_guest = nullptr;
    m_node = nullptr;
    Object::DoDispose();
}

void
KernelNode::Install(Ptr<Node> node, Ptr<KernelGuest> guest)
{
    m_node = node;
    m_guest = guest;
    m_name = LabNodeName(node);
    m_number = guest->AddNode(this, m_name);
    m_sockets = KernelSocketStack::Install(node, guest->GetAgent(), m_number);
    m_sockets->SetRouteUpdate([this] { RoutesMayHaveChanged(); });
    auto state = CreateObject<KernelState>();
    state->Install(m_sockets);
    node->AggregateObject(state);
    // Kernel parameters of the node's namespace that the namespace does not inherit from the
    // guest's initial namespace (KernelGuest).
    m_sysctls = {{"net.ipv4.ping_group_range", "0 2147483647"},
                 {"net.ipv4.igmp_max_memberships", "65536"}}; // unlimited in ns-3's stack
}

void
KernelNode::SetSysctl(const std::string& name, const std::string& value)
{
    m_sysctls[name] = value;
    if (KernelCalendar::Get()->HasBooted())
    {
        WriteSysctl(name, value);
    }
}

void
KernelNode::SetRequestInterval(Ptr<NetDevice> device, Time interval)
{
    WhenConfigured(device, [this, interval](const Port& port) {
        const std::string milliseconds = std::to_string(interval.GetMilliSeconds());
        WriteSysctl("net.ipv4.neigh." + port.name + ".retrans_time_ms", milliseconds);
        if (HasIpv6(port))
        {
            WriteSysctl("net.ipv6.neigh." + port.name + ".retrans_time_ms", milliseconds);
        }
    });
}

void
KernelNode::WhenConfigured(Ptr<NetDevice> device, std::function<void(const Port&)> work)
{
    if (device->GetNode() != m_node)
    {
        throw viaduct::UsageError("kernel node " + m_name + ": the device belongs to another node");
    }
    if (const Port* port = Find(device))
    {
        work(*port);
        return;
    }
    if (KernelCalendar::Get()->HasBooted() && !GetBridge(device))
    {
        throw viaduct::UsageError("kernel node " + m_name +
                                  ": the node's kernel does not have this device");
    }
    m_later.push_back({device, std::move(work)});
}

void
KernelNode::AddMptcpEndpoint(Ptr<NetDevice> device, uint32_t flags)
{
    WhenConfigured(device, [this, flags](const Port& port) {
        for (const IpPrefix& address : AddressesOf(port.device))
        {
            Agent().AddMptcpEndpoint(m_number, port.ifindex, address.address, flags);
        }
    });
}

void
KernelNode::SetMptcpLimits(uint32_t subflows, uint32_t addresses)
{
    Agent().SetMptcpLimits(m_number, subflows, addresses);
}

void
KernelNode::AddSourceRoute(Ptr<NetDevice> device, const std::optional<IpAddress>& gateway)
{
    WhenConfigured(device, [this, gateway](const Port& port) {
        m_sourceGateways[port.device] = gateway;
        AddSourceRules(port);
        AddSourceRoutes(port, gateway);
    });
}

void
KernelNode::AddSourceRules(const Port& port)
{
    for (const IpPrefix& address : AddressesOf(port.device))
    {
        const int bits = 8 * address.address.Length();
        Agent().AddRule(m_number, {address.address, bits}, SourceTable(port));
    }
}

void
KernelNode::AddSourceRoutes(const Port& port, const std::optional<IpAddress>& gateway)
{
    if (!IsUp(port))
    {
        return;
    }
    const uint32_t table = SourceTable(port);
    for (const IpPrefix& address : AddressesOf(port.device))
    {
        Agent().AddRoute(m_number, {address.Network(), {{std::nullopt, port.ifindex}}, 0, table});
    }
    if (gateway)
    {
        const IpPrefix everything{{gateway->family, {}}, 0};
        Agent().AddRoute(m_number, {everything, {{gateway, port.ifindex}}, 0, table});
    }
}

Ptr<KernelDeviceBridge>
KernelNode::GetBridge(Ptr<NetDevice> device) const
{
    for (const Port& port : m_ports)
    {
        if (port.device == device)
        {
            return port.bridge;
        }
    }
    return nullptr;
}

std::string
KernelNode::GetInterface(Ptr<NetDevice> device) const
{
    for (const Port& port : m_ports)
    {
        if (port.device == device)
        {
            return port.name;
        }
    }
    return "";
}

viaduct::guest::AgentClient&
KernelNode::Agent() const
{
    return *m_guest->GetAgent();
}

void
KernelNode::WriteSysctl(const std::string& name, const std::string& value)
{
    Agent().WriteSysctl(m_number, name, value);
}

// Boots the kernels when the first object of the node is initialized, because objects that are
// initialized later open sockets.
void
KernelNode::DoInitialize()
{
    KernelCalendar::Get()->Boot();
    Object::DoInitialize();
}

void
KernelNode::Prepare()
{
    auto ipv4 = m_node->GetObject<Ipv4>();
    auto ipv6 = m_node->GetObject<Ipv6>();
    BooleanValue forwards4(false);
    BooleanValue forwards6(false);
    ipv4->GetAttribute("IpForward", forwards4);
    ipv6->GetAttribute("IpForward", forwards6);
    m_forwards6 = forwards6.Get();
    // A new namespace forwards IPv4, but not IPv6, by default (KernelGuest::Enter()).
    if (!forwards4.Get())
    {
        WriteSysctl("net.ipv4.ip_forward", "0");
    }
    if (m_forwards6)
    {
        WriteSysctl("net.ipv6.conf.all.forwarding", "1");
    }
    for (const auto& [name, value] : m_sysctls)
    {
        WriteSysctl(name, value);
    }
    m_ports.reserve(m_node->GetNDevices()); // AddPort() keeps references to elements
    for (uint32_t i = 0; i < m_node->GetNDevices(); ++i)
    {
        Ptr<NetDevice> device = m_node->GetDevice(i);
        if (DynamicCast<LoopbackNetDevice>(device))
        {
            AddLoopbacks(device);
        }
        if (!DynamicCast<LoopbackNetDevice>(device) &&
            (InterfaceOf<Ipv4>(device) >= 0 || InterfaceOf<Ipv6>(device) >= 0))
        {
            kerneladdress::CheckAddressClash(device);
            AddPort(device);
        }
    }
    m_onDemand = KernelUpcalls::FamiliesOf(m_node);
    if (!m_onDemand.empty())
    {
        m_upcalls = CreateObject<KernelUpcalls>();
        m_upcalls->Prepare(m_node, m_guest, m_number, [this] { m_guest->StartNodes(); });
    }
}

void
KernelNode::AddLoopbacks(Ptr<NetDevice> device)
{
    constexpr int LOOPBACK_IFINDEX = 1; // index of "lo" in every namespace (net/flow.h)
    for (const IpPrefix& address : AddressesOf(device))
    {
        if (!viaduct::wire::IsLoopback(address.address))
        {
            Agent().AddAddress(m_number, LOOPBACK_IFINDEX, address);
        }
    }
}

bool
KernelNode::IsConfigured() const
{
    return (!m_upcalls || m_upcalls->IsConfigured()) &&
           std::all_of(
               m_ports.begin(), m_ports.end(), [](const Port& port) { return port.ifindex != 0; });
}

void
KernelNode::AddPort(Ptr<NetDevice> device)
{
    auto bridge = CreateObject<KernelDeviceBridge>();
    Port& port = m_ports.emplace_back(Port{device, bridge, "eth" + std::to_string(m_ports.size())});
    viaduct::guest::Nic& nic = m_guest->AddNic(device);
    bridge->Connect(device, nic);
    if (!m_pcapPrefix.empty())
    {
        bridge->EnablePcap(m_pcapPrefix + "-" + std::to_string(m_node->GetId()) + "-" +
                           std::to_string(device->GetIfIndex()) + ".pcap");
    }
    Agent().MoveInterface(m_number, nic.mac(), port.name, [this, &port](const auto& interface) {
        port.ifindex = interface.ifindex;
        port.mtu = interface.mtu;
        m_sockets->SetDevice(port.device, port.ifindex, port.name);
        Configure(port);
    });
}

void
KernelNode::Configure(Port& port)
{
    if (!HasIpv6(port))
    {
        WriteSysctl("net.ipv6.conf." + port.name + ".disable_ipv6", "1");
    }
    if (m_forwardingChosen)
    {
        WriteForwarding(port);
    }
    if (m_forwardingChosen6)
    {
        WriteForwarding6(port);
    }
    const uint16_t mtu = port.device->GetMtu();
    const auto setMtu = [this, ifindex = port.ifindex](uint16_t value) {
        Agent().SetMtu(m_number, ifindex, value);
    };
    if (mtu != port.mtu)
    {
        setMtu(mtu);
    }
    port.bridge->WatchMtu(setMtu, mtu);
    SetUp(port);
    Agent().SetUpAndArp(m_number, port.ifindex, IsUp(port), port.device->NeedsArp());
    for (const IpPrefix& address : AddressesOf(port.device))
    {
        AddAddress(port, address);
    }
    for (const Later& later : m_later)
    {
        if (later.device == port.device)
        {
            later.work(port);
        }
    }
    m_guest->StartNodes();
}

// Adds an address to the kernel. If a routing protocol finds routes on demand, the kernel does not
// add the route to the address's connected network: the protocol also finds routes to neighbours,
// and such a route may lead over other nodes.
void
KernelNode::AddAddress(const Port& port, const IpPrefix& address)
{
    const bool isConnected = !m_onDemand.contains(address.address.family);
    Agent().AddAddress(m_number, port.ifindex, address, isConnected);
}

uint32_t
KernelNode::SourceTable(const Port& port) const
{
    return FIRST_SOURCE_TABLE + static_cast<uint32_t>(&port - m_ports.data());
}

void
KernelNode::SetUp(const Port& port)
{
    const auto passes = [&](auto ip) {
        const int32_t interface = ip->GetInterfaceForDevice(port.device);
        return interface < 0 || ip->IsUp(static_cast<uint32_t>(interface));
    };
    port.bridge->SetUp(IsUp(port));
    port.bridge->SetFamilies(passes(m_node->GetObject<Ipv4>()), passes(m_node->GetObject<Ipv6>()));
}

bool
KernelNode::IsUp(const Port& port) const
{
    const auto isUp = [&](auto ip) {
        const int32_t interface = ip->GetInterfaceForDevice(port.device);
        return interface >= 0 && ip->IsUp(static_cast<uint32_t>(interface));
    };
    return isUp(m_node->GetObject<Ipv4>()) || isUp(m_node->GetObject<Ipv6>());
}

bool
KernelNode::HasIpv6(const Port& port) const
{
    return InterfaceOf<Ipv6>(port.device) >= 0;
}

KernelNode::Port*
KernelNode::Find(Ptr<NetDevice> device)
{
    const auto found = std::find_if(
        m_ports.begin(), m_ports.end(), [&](const Port& port) { return port.device == device; });
    // Changes before the kernel has the device are ignored: Configure() will read all settings.
    return found != m_ports.end() && found->ifindex != 0 ? &*found : nullptr;
}

void
KernelNode::AddressAdded(Ptr<NetDevice> device, const IpPrefix& address)
{
    if (const Port* port = Find(device))
    {
        AddAddress(*port, address);
        RoutesMayHaveChanged();
    }
}

void
KernelNode::AddressRemoved(Ptr<NetDevice> device, const IpPrefix& address)
{
    if (const Port* port = Find(device))
    {
        Agent().RemoveAddress(m_number, port->ifindex, address);
        RoutesMayHaveChanged();
    }
}

void
KernelNode::UpChanged(Ptr<NetDevice> device)
{
    if (const Port* port = Find(device))
    {
        SetUp(*port);
        Agent().SetUp(m_number, port->ifindex, IsUp(*port));
        if (const auto found = m_sourceGateways.find(device); found != m_sourceGateways.end())
        {
            AddSourceRoutes(*port, found->second);
        }
        RoutesMayHaveChanged();
    }
}

// Writes the forwarding setting of the device to the kernel. Without a call of SetForwarding() for
// an address family, the attribute IpForward and the user's kernel parameters determine the
// setting.
void
KernelNode::ForwardingChanged(Ptr<NetDevice> device, bool ipv6)
{
    (ipv6 ? m_forwardingChosen6 : m_forwardingChosen) = true;
    if (const Port* port = Find(device))
    {
        ipv6 ? WriteForwarding6(*port) : WriteForwarding(*port);
    }
}

// Writes the IPv4 forwarding setting of one interface; each interface has a separate setting.
void
KernelNode::WriteForwarding(const Port& port)
{
    const bool router = ForwardsFrom(m_node->GetObject<Ipv4>(), port.device);
    WriteSysctl("net.ipv4.conf." + port.name + ".forwarding", router ? "1" : "0");
}

// Writes the IPv6 forwarding settings of the node and of one interface. Whether the kernel forwards
// depends only on the node's setting (net/ipv6/ip6_output.c, ip6_forward()). The interface's
// setting determines whether the node acts on the interface as a router, or as a host, which
// accepts router advertisements.
void
KernelNode::WriteForwarding6(const Port& port)
{
    const bool router = ForwardsFrom(m_node->GetObject<Ipv6>(), port.device);
    if (router && !std::exchange(m_forwards6, true))
    {
        // A write of conf.all.forwarding changes the settings of all interfaces, too.
        WriteSysctl("net.ipv6.conf.all.forwarding", "1");
        for (const Port& other : m_ports)
        {
            if (other.ifindex != 0 && &other != &port)
            {
                WriteForwarding6(other);
            }
        }
    }
    WriteSysctl("net.ipv6.conf." + port.name + ".forwarding", router ? "1" : "0");
}

void
KernelNode::RoutesMayHaveChanged()
{
    if (m_routes)
    {
        m_routes->Update();
    }
}

void
KernelNode::StartRoutes()
{
    m_routes = CreateObject<RouteSource>();
    std::map<Ptr<NetDevice>, std::string> names;
    std::map<std::string, int> ifindexes;
    for (const Port& port : m_ports)
    {
        names[port.device] = port.name;
        ifindexes[port.name] = port.ifindex;
    }
    m_routes->SetNode(m_node, names);
    m_routes->SetSink(std::make_shared<KernelNodeRoutes>(Agent(), m_number, ifindexes));
    StartUpcalls();
    // Passes the routes that exist before the start of the simulation to the kernel, before sockets
    // are opened; routes that protocols find are passed later.
    m_routes->Update();
    // RouteSource::Start() is called in an event, after the initialization of the routing
    // protocols.
    Simulator::ScheduleWithContext(m_node->GetId(), Time(0), [this, routes = m_routes] {
        if (m_routes)
        {
            routes->Start();
            routes->Update();
        }
    });
}

void
KernelNode::StartUpcalls()
{
    if (!m_upcalls)
    {
        return;
    }
    std::vector<KernelUpcalls::Interface> interfaces;
    for (const Port& port : m_ports)
    {
        interfaces.push_back({port.device, port.bridge, port.name, port.ifindex});
    }
    m_upcalls->Start(interfaces);
    ConnectUpcalls(m_routes, m_upcalls->GetPort());
}

} // namespace ns3
