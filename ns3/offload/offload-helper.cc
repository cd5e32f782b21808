/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/offload/offload-helper.h"

#include "ns3/base/wire-conversion.h"
#include "ns3/boolean.h"
#include "ns3/offload/device-replacement.h"
#include "ns3/offload/handover-routes.h"
#include "ns3/simulator.h"

#include "base/error.h"
#include "base/wire/address_scope.h"
#include "port/control/control_port.h"
#include "port/packet/ring_port.h"
#include "port/packet/tun_port.h"
#include "sys/network/packet_socket.h"

#include <sys/socket.h>

namespace ns3
{

using viaduct::UniqueFd;
using viaduct::broker::Client;
using viaduct::io::ControlClaim;
using viaduct::io::ControlPort;
using viaduct::io::RingPort;

namespace
{

/** Opens the kernel socket of a claim on one interface of one node. */
UniqueFd
OpenSocket(Client& broker,
           const std::string& node,
           const std::string& interface,
           const ControlClaim& claim)
{
    if (claim.kind == ControlClaim::Kind::kEtherType)
    {
        auto socket = broker.OpenPacketSocket(
            {.node = node, .interface = interface, .ether_type = claim.number});
        viaduct::sys::BindPacketSocket(socket.fd.get(), socket.ifindex, claim.number);
        return std::move(socket.fd);
    }
    using Kind = viaduct::broker::ControlSocketOptions::Kind;
    const bool udp = claim.kind == ControlClaim::Kind::kUdp;
    return std::move(
        broker
            .OpenControlSocket(
                {node, interface, claim.family, udp ? Kind::kUdp : Kind::kRawIp, claim.number})
            .fd);
}

/** @return a new device that replaces @p old; @p control: whether the port of the new device is a
 * control port (true) or a packet socket (false) */
Ptr<RingNetDevice>
MakeDevice(Ptr<NetDevice> old, bool control)
{
    auto device = CreateObject<RingNetDevice>();
    device->SetAddress(old->GetAddress());
    device->SetMtu(old->GetMtu());
    device->SetAttribute("NeedsArp", BooleanValue(!control));
    device->SetAttribute("Reassembled", BooleanValue(control));
    return device;
}

/** The kernel's interfaces of a node of the lab, which the broker changes. */
class LabInterfaces : public InterfaceMirror::Sink
{
  public:
    LabInterfaces(std::shared_ptr<Client> broker, std::string node)
        : m_broker(std::move(broker)), m_node(std::move(node))
    {
    }

    void SetUp(const std::string& interface, bool up) override
    {
        m_broker->SetLinkUp({m_node, interface}, up);
    }

    void SetAddresses(const std::string& interface,
                      const std::vector<viaduct::wire::IpPrefix>& addresses) override
    {
        m_broker->SetAddresses({m_node, interface}, addresses);
    }

  private:
    std::shared_ptr<Client> m_broker; //!< the lab's broker
    std::string m_node;               //!< the node's name
};

/** The kernel of a node of the lab, which the node's UpcallPort uses. */
class LabKernel : public UpcallPort::Kernel
{
  public:
    LabKernel(std::shared_ptr<Client> broker,
              const viaduct::lab::Node& node,
              LabAddresses known,
              const std::vector<std::string>& interfaces)
        : m_broker(std::move(broker)), m_node(node.name), m_known(std::move(known))
    {
        for (const std::string& interface : interfaces)
        {
            m_sockets[interface];
        }
    }

    std::unique_ptr<viaduct::io::AnyPort> Open(
        const std::set<viaduct::wire::Family>& families) override
    {
        for (auto& [interface, socket] : m_sockets)
        {
            socket = m_broker->OpenPacketSocket(
                {.node = m_node, .interface = interface, .promiscuous = false});
            if (!socket.has_qdisc)
            {
                viaduct::sys::BypassQdisc(socket.fd.get());
            }
            constexpr int NOTHING = 0; // EtherType of a socket that receives no frames
            viaduct::sys::BindPacketSocket(socket.fd.get(), socket.ifindex, NOTHING);
        }
        return viaduct::io::Hold(viaduct::io::TunPort(m_broker->OpenUpcalls(m_node, families)));
    }

    int IfIndexOf(const std::string& interface) const override
    {
        return m_sockets.at(interface).ifindex;
    }

    bool Send(const std::string& interface, viaduct::io::FrameToSend frame) override
    {
        const ssize_t sent =
            send(m_sockets.at(interface).fd.get(), frame.data(), frame.size(), MSG_DONTWAIT);
        return sent == static_cast<ssize_t>(frame.size());
    }

    std::optional<viaduct::wire::MacAddress> MacOf(
        const viaduct::wire::IpAddress& address) const override
    {
        const auto found = m_known->find(address);
        // m_known has no link-local addresses: kernels derive these addresses from MAC addresses.
        return found == m_known->end() ? viaduct::wire::MacOfLinkLocal(address)
                                       : std::optional(found->second);
    }

    void Hold(const std::vector<UpcallPort::Neighbour>& neighbours, bool held) override
    {
        m_broker->SetNeighbours(m_node, neighbours, held);
    }

  private:
    std::shared_ptr<Client> m_broker;                             //!< the lab's broker
    std::string m_node;                                           //!< the node's name
    LabAddresses m_known;                                         //!< all addresses of the lab
    std::map<std::string, viaduct::broker::NodeSocket> m_sockets; //!< key: the interface name
};

Ptr<UpcallPort>
MakeUpcalls(Ptr<Node> node,
            const viaduct::lab::Node& place,
            const LabAddresses& known,
            const std::map<Ptr<NetDevice>, std::string>& names,
            std::shared_ptr<Client> broker)
{
    auto upcalls = CreateObject<UpcallPort>();
    std::vector<std::string> interfaces;
    for (const auto& [device, interface] : names)
    {
        interfaces.push_back(interface);
        upcalls->AddInterface(device, interface);
    }
    upcalls->SetNode(node, std::make_unique<LabKernel>(broker, place, known, interfaces));
    return upcalls;
}

Ptr<MulticastMirror>
MakeMulticast(Ptr<Node> node,
              const std::string& name,
              const std::map<Ptr<NetDevice>, std::string>& names,
              std::shared_ptr<Client> broker)
{
    auto multicast = CreateObject<MulticastMirror>();
    multicast->SetNode(node, [broker, name](auto family, const auto& interfaces) {
        return broker->OpenMulticast(name, family, interfaces);
    });
    for (const auto& [device, interface] : names)
    {
        multicast->AddInterface(device, interface);
    }
    return multicast;
}

} // namespace

OffloadHelper::OffloadHelper() : m_budget(std::make_shared<PollBudget>())
{
    m_routeFactory.SetTypeId(RouteSource::GetTypeId());
    m_controlFactory.SetTypeId(ControlPlane::GetTypeId());
    m_interfaceFactory.SetTypeId(InterfaceMirror::GetTypeId());
}

OffloadHelper::Offload
OffloadHelper::Install(Ptr<Node> node,
                       const viaduct::lab::Node& place,
                       const std::vector<Interface>& interfaces,
                       const LabAddresses& known,
                       std::shared_ptr<Client> broker,
                       std::vector<Ptr<RingNetDevice>>& replacements) const
{
    const std::string& name = place.name;
    Offload offload;
    offload.control = m_controlFactory.Create<ControlPlane>();
    offload.control->SetNode(
        node, *place.data_plane, [broker, name](const std::string& interface, const auto& claim) {
            return OpenSocket(*broker, name, interface, claim);
        });
    offload.interfaces = m_interfaceFactory.Create<InterfaceMirror>();
    offload.interfaces->SetNode(node, std::make_unique<LabInterfaces>(broker, name));
    std::map<Ptr<NetDevice>, std::string> names;
    const auto filter = m_filters.find(node);
    if (filter == m_filters.end())
    {
        ControlPlane::LeaveIcmpToKernel(node);
    }
    for (const Interface& interface : interfaces)
    {
        Ptr<RingNetDevice> device =
            filter == m_filters.end()
                ? MakeControlDevice(interface, name, offload.control, broker)
                : MakeFilteredDevice(interface, name, filter->second, offload.control, *broker);
        ReplaceDevice(node, interface.device, device);
        names[device] = interface.name;
        offload.interfaces->AddInterface(device, interface.name);
        replacements.push_back(device);
    }
    offload.routes = m_routeFactory.Create<RouteSource>();
    offload.routes->SetNode(node, names);
    offload.routes->SetKnownAddresses(known);
    offload.routes->SetPollBudget(m_budget);
    offload.upcalls = MakeUpcalls(node, place, known, names, broker);
    ConnectUpcalls(offload.routes, offload.upcalls);
    offload.routes->SetSink(std::make_shared<HandoverRoutes>(
        std::make_shared<viaduct::broker::NodeRoutes>(broker, name), offload.upcalls));
    offload.multicast = MakeMulticast(node, name, names, broker);
    // The Start() functions run after the node's own initialization, which was scheduled when the
    // node was created.
    Simulator::ScheduleWithContext(node->GetId(), Time(0), &ControlPlane::Start, offload.control);
    Simulator::ScheduleWithContext(node->GetId(), Time(0), &UpcallPort::Start, offload.upcalls);
    Simulator::ScheduleWithContext(node->GetId(), Time(0), &RouteSource::Start, offload.routes);
    Simulator::ScheduleWithContext(
        node->GetId(), Time(0), &InterfaceMirror::Start, offload.interfaces);
    Simulator::ScheduleWithContext(
        node->GetId(), Time(0), &MulticastMirror::Start, offload.multicast);
    return offload;
}

Ptr<RingNetDevice>
OffloadHelper::MakeControlDevice(const Interface& interface,
                                 const std::string& name,
                                 Ptr<ControlPlane> control,
                                 std::shared_ptr<Client> broker) const
{
    auto device = MakeDevice(interface.device, true);
    viaduct::io::ControlOptions options;
    options.ifindex = broker->IfIndex({name, interface.name});
    options.mac = wireconversion::ToWire(Mac48Address::ConvertFrom(device->GetAddress()));
    // If a protocol opens an ns-3 socket between two scans, the socket's first packet opens the
    // kernel socket.
    auto opener = [broker, name, interface = interface.name](const ControlClaim& claim) {
        try
        {
            return OpenSocket(*broker, name, interface, claim);
        }
        catch (const viaduct::Error&)
        {
            return UniqueFd(); // no socket: the port drops the frame and counts it as unclaimed
        }
    };
    auto port = std::make_unique<ControlPort>(options, opener);
    control->AddInterface(device, interface.name, port.get());
    device->SetPort(std::move(port));
    return device;
}

Ptr<RingNetDevice>
OffloadHelper::MakeFilteredDevice(const Interface& interface,
                                  const std::string& name,
                                  const std::string& filter,
                                  Ptr<ControlPlane> control,
                                  Client& broker) const
{
    auto device = MakeDevice(interface.device, false);
    auto socket = broker.OpenPacketSocket(
        {.node = name,
         .interface = interface.name,
         .filter = viaduct::sys::PacketFilter::Compile(
             "(" + filter + ") or arp or (icmp6 and ip6[40] >= 133 and ip6[40] <= 136)"),
         .promiscuous = false});
    viaduct::io::RingOptions ring;
    ring.ifindex = socket.ifindex;
    ring.slots = 256; // a small ring, because control packets are few
    ring.qdisc_bypass = false;
    device->SetPort(viaduct::io::Hold(RingPort(std::move(socket.fd), ring)));
    control->AddInterface(device, interface.name, nullptr);
    return device;
}

} // namespace ns3
