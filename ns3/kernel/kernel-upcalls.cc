/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/kernel/kernel-upcalls.h"

#include "ns3/base/per-simulation.h"
#include "ns3/kernel/kernel-addresses.h"

#include "ns3/base/wire-conversion.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/node-list.h"
#include "ns3/routes/on-demand.h"
#include "ns3/simulator.h"

#include "base/wire/address_scope.h"
#include "base/wire/ethernet.h"
#include "base/wire/ip.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace ns3
{

using viaduct::wire::Family;
using viaduct::wire::IpAddress;
using viaduct::wire::IpPrefix;
using viaduct::wire::MacAddress;
namespace wire = viaduct::wire;

NS_OBJECT_ENSURE_REGISTERED(KernelUpcalls);

namespace
{

constexpr const char* DEVICE = "upcall0";
constexpr int LOOPBACK = 1; //!< ifindex of packets that the node itself sends
/** Number of the first routing table for upcalls; the tables of KernelNode have lower numbers. */
constexpr uint32_t FIRST_TABLE = 100000;
/** The minimum time between two copies of packets of a flow, which is several times shorter than
 * the lifetimes that routing protocols give to routes in use. */
const Time COPY_INTERVAL = MilliSeconds(250);
constexpr size_t MAX_FLOWS = 65536;

constexpr uint8_t LOCAL = 0x06;   //!< first byte of the MAC addresses, locally administered
constexpr uint8_t DEVICES = 0x75; //!< second byte of the MAC addresses of upcall devices
constexpr uint8_t ORIGINS = 0x76; //!< second byte of the MAC addresses of next hops

/** @param kind the address's second byte: DEVICES or ORIGINS
 * @param number the address's last four bytes
 * @return the MAC address */
MacAddress
MacOfNumber(uint8_t kind, uint32_t number)
{
    return {{LOCAL,
             kind,
             static_cast<uint8_t>(number >> 24),
             static_cast<uint8_t>(number >> 16),
             static_cast<uint8_t>(number >> 8),
             static_cast<uint8_t>(number)}};
}

/** @return the IP address of the next hop, on the upcall device, for packets of one origin: packets
 * that arrived on one interface, or that the node itself sends */
IpAddress
HopOf(Family family, uint32_t number)
{
    if (family == Family::kIpv4)
    {
        return IpAddress::FromIpv4(0xa9fe0000 + 1 + number); // in 169.254.0.0/16, RFC 3927
    }
    IpAddress hop = IpAddress::Parse("fe80::");
    hop.bytes[14] = static_cast<uint8_t>((number + 1) >> 8);
    hop.bytes[15] = static_cast<uint8_t>(number + 1);
    return hop;
}

/** A table of the MAC addresses of all nodes' devices, by the devices' IP addresses. */
class DeviceAddresses : public Object
{
  public:
    /**
     * @param address an IP address of a node
     * @return the MAC address of the node's device; std::nullopt if no node has the IP address
     */
    std::optional<MacAddress> Find(const IpAddress& address)
    {
        auto found = m_known.find(address);
        if (found == m_known.end() && m_read != Simulator::Now())
        {
            m_read = Simulator::Now();
            m_known.clear();
            for (auto node = NodeList::Begin(); node != NodeList::End(); ++node)
            {
                Read(*node);
            }
            found = m_known.find(address);
        }
        return found == m_known.end() ? wire::MacOfLinkLocal(address)
                                      : std::optional(found->second);
    }

  private:
    void Read(Ptr<Node> node)
    {
        for (uint32_t i = 0; i < node->GetNDevices(); ++i)
        {
            const Ptr<NetDevice> device = node->GetDevice(i);
            if (!Mac48Address::IsMatchingType(device->GetAddress()))
            {
                continue;
            }
            for (const IpPrefix& address : kerneladdress::AddressesOf(device))
            {
                m_known[address.address] =
                    wireconversion::ToWire(Mac48Address::ConvertFrom(device->GetAddress()));
            }
        }
    }

    std::map<IpAddress, MacAddress> m_known; //!< addresses at the time m_read
    Time m_read{Seconds(-1)};                //!< time at which m_known was filled
};

/** @return the source and destination of a unicast packet for which a protocol may find a route;
 * std::nullopt for other packets */
std::optional<std::pair<IpAddress, IpAddress>>
RoutedAddresses(uint16_t type, std::span<const std::byte> packet)
{
    if (type == wire::ether_type::kIpv4)
    {
        const auto header = wire::Ipv4Header::Parse(packet);
        if (header && !header->destination.IsMulticast())
        {
            return std::pair(header->source, header->destination);
        }
    }
    if (type == wire::ether_type::kIpv6)
    {
        const auto header = wire::Ipv6Header::Parse(packet);
        // Hop limit of neighbour discovery messages, which use no route, RFC 4861 section 4.
        constexpr uint8_t ONE_LINK = 255;
        if (header && !header->destination.IsMulticast() &&
            !wire::IsLinkLocal(header->destination) &&
            !(header->hop_limit == ONE_LINK && header->next_header == wire::ip_protocol::kIcmpv6))
        {
            return std::pair(header->source, header->destination);
        }
    }
    return std::nullopt;
}

} // namespace

/** The functions of the node's kernel that UpcallPort uses for packets without a route. */
class KernelUpcalls::Kernel : public UpcallPort::Kernel
{
  public:
    /** @param interfaces all interfaces of the node */
    explicit Kernel(const std::vector<Interface>& interfaces)
    {
        for (const Interface& each : interfaces)
        {
            m_interfaces.emplace(each.name, each);
        }
    }

    std::unique_ptr<viaduct::io::AnyPort> Open(const std::set<Family>&) override
    {
        return nullptr;
    }

    int IfIndexOf(const std::string& interface) const override
    {
        return m_interfaces.at(interface).ifindex;
    }

    bool Send(const std::string& interface, viaduct::io::FrameToSend frame) override
    {
        m_interfaces.at(interface).bridge->Inject(frame);
        return true;
    }

    std::optional<MacAddress> MacOf(const IpAddress& address) const override
    {
        return PerSimulation<DeviceAddresses>::Get()->Find(address);
    }

    // Does nothing: packets need not be held, because in virtual time the kernel has a new route
    // before the next packet.
    void Hold(const std::vector<UpcallPort::Neighbour>&, bool) override
    {
    }

  private:
    std::map<std::string, Interface> m_interfaces; //!< interfaces by name
};

TypeId
KernelUpcalls::GetTypeId()
{
    static TypeId tid = TypeId("ns3::KernelUpcalls")
                            .SetParent<Object>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<KernelUpcalls>();
    return tid;
}

std::set<Family>
KernelUpcalls::FamiliesOf(Ptr<Node> node)
{
    std::set<Family> families;
    const auto add = [&]<class V>(V) {
        if (FindsRoutesOnDemand<V>(node) || MayFindRoutesOnDemand<V>(node))
        {
            families.insert(V::FAMILY);
        }
    };
    add(ipfamily::V4());
    add(ipfamily::V6());
    return families;
}

void
KernelUpcalls::Prepare(Ptr<Node> node,
                       Ptr<KernelGuest> guest,
                       uint32_t number,
                       std::function<void()> configured)
{
    m_node = node;
    m_guest = guest;
    m_number = number;
    viaduct::guest::Nic& nic = guest->AddNic(MacOfNumber(DEVICES, number));
    nic.SetTransmit([this, &nic](std::span<const std::byte> frame, auto token) {
        const auto header = wire::EthernetHeader::Parse(frame);
        const auto to = header ? header->destination.bytes : MacAddress().bytes;
        if (to[0] == LOCAL && to[1] == ORIGINS)
        {
            const int ifindex = static_cast<int>(uint32_t{to[2]} << 24 | uint32_t{to[3]} << 16 |
                                                 uint32_t{to[4]} << 8 | to[5]);
            GiveUp(ifindex == LOOPBACK ? 0 : ifindex,
                   false,
                   frame.subspan(wire::EthernetHeader::kSize));
        }
        nic.TransmitDone(token);
    });
    guest->GetAgent()->MoveInterface(
        number, nic.mac(), DEVICE, [this, configured](const auto& interface) {
            m_ifindex = interface.ifindex;
            configured();
        });
}

void
KernelUpcalls::Start(const std::vector<Interface>& interfaces)
{
    viaduct::guest::AgentClient& agent = *m_guest->GetAgent();
    const std::set<Family> families = FamiliesOf(m_node);
    const std::string settings = std::string("net.ipv6.conf.") + DEVICE;
    if (families.contains(Family::kIpv6))
    {
        // The upcall device gets no link-local address.
        agent.WriteSysctl(m_number, settings + ".addr_gen_mode", "1");
    }
    else
    {
        agent.WriteSysctl(m_number, settings + ".disable_ipv6", "1");
    }
    // The MTU of the upcall device is the minimum MTU of the interfaces, so that packets passed up
    // fit every interface.
    uint32_t mtu = std::numeric_limits<uint16_t>::max();
    for (const Interface& each : interfaces)
    {
        mtu = std::min<uint32_t>(mtu, each.device->GetMtu());
    }
    agent.SetMtu(m_number, m_ifindex, mtu);
    agent.SetUp(m_number, m_ifindex, true);
    AddOrigin(families, LOOPBACK, 0);
    for (const Interface& each : interfaces)
    {
        AddOrigin(families, each.ifindex, static_cast<uint32_t>(&each - interfaces.data()) + 1);
        each.bridge->SetWatch([this, ifindex = each.ifindex](auto frame, bool isSent) {
            Watch(ifindex, frame, isSent);
        });
    }
    m_port = CreateObject<UpcallPort>();
    m_port->SetNode(m_node, std::make_unique<Kernel>(interfaces));
    for (const Interface& each : interfaces)
    {
        m_port->AddInterface(each.device, each.name);
    }
    m_port->Start();
}

void
KernelUpcalls::AddOrigin(const std::set<Family>& families, int origin, uint32_t number)
{
    viaduct::guest::AgentClient& agent = *m_guest->GetAgent();
    const MacAddress mac = MacOfNumber(ORIGINS, static_cast<uint32_t>(origin));
    for (const Family family : families)
    {
        const IpAddress hop = HopOf(family, number);
        const uint32_t table = FIRST_TABLE + number;
        agent.AddNeighbour(m_number, m_ifindex, hop, mac);
        agent.AddRoute(m_number, {IpPrefix{{family, {}}, 0}, {{hop, m_ifindex}}, 0, table});
        agent.AddLastRule(m_number, family, origin, table);
    }
}

bool
KernelUpcalls::IsOwn(const IpAddress& address) const
{
    return address.family == Family::kIpv4 ? m_node->GetObject<Ipv4>()->GetInterfaceForAddress(
                                                 wireconversion::ToIpv4(address)) >= 0
                                           : m_node->GetObject<Ipv6>()->GetInterfaceForAddress(
                                                 wireconversion::ToIpv6(address)) >= 0;
}

// Passes a copy of a packet that has arrived, or that the node itself sends, to m_port: for each
// flow at most one copy per COPY_INTERVAL.
void
KernelUpcalls::Watch(int ifindex, std::span<const std::byte> frame, bool isSent)
{
    const auto header = wire::EthernetHeader::Parse(frame);
    const auto packet = frame.subspan(wire::EthernetHeader::kSize);
    const auto flow = header ? RoutedAddresses(header->type, packet) : std::nullopt;
    if (!flow || !m_port->IsOpen(flow->second.family) || (isSent && !IsOwn(flow->first)))
    {
        return;
    }
    if (m_copied.size() > MAX_FLOWS)
    {
        m_copied.clear();
    }
    const auto [entry, isNew] =
        m_copied.try_emplace({ifindex, isSent, flow->first, flow->second}, Simulator::Now());
    if (!isNew && Simulator::Now() - entry->second < COPY_INTERVAL)
    {
        return;
    }
    entry->second = Simulator::Now();
    GiveUp(isSent ? 0 : ifindex, true, packet);
}

// Passes a packet to m_port in a new event of this node, because the caller may run in an event of
// another node.
void
KernelUpcalls::GiveUp(int ifindex, bool isCopy, std::span<const std::byte> packet)
{
    const auto give = [self = Ptr<KernelUpcalls>(this),
                       ifindex,
                       isCopy,
                       bytes = std::vector<std::byte>(packet.begin(), packet.end())]() mutable {
        if (self->m_port)
        {
            self->m_port->Take({ifindex, isCopy, bytes});
        }
    };
    Simulator::ScheduleWithContext(m_node->GetId(), Time(0), give);
}

void
KernelUpcalls::DoDispose()
{
    if (m_port)
    {
        m_port->Dispose();
    }
    m_port = nullptr;
    m_guest = nullptr;
    m_node = nullptr;
    m_copied.clear();
    Object::DoDispose();
}

} // namespace ns3
