/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * The part of strange-routing.cc that both versions of IP have.
 */

#ifndef STRANGE_COMMON_H
#define STRANGE_COMMON_H

#include "families.h"
#include "table.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv4-routing-protocol.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6-header.h"
#include "ns3/ipv6-route.h"
#include "ns3/ipv6-routing-protocol.h"
#include "ns3/ipv6.h"
#include "ns3/loopback-net-device.h"
#include "ns3/mobility-model.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/packet-socket-address.h"
#include "ns3/packet-socket-factory.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/string.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"

#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace strange
{

using namespace ns3;

/** What both versions of IP have in common. */
template <class F>
class Common : public F::Protocol
{
  public:
    using Address = typename F::Address;
    using Route = typename F::Route;
    using Header = typename F::Header;

    static TypeId AddAttributes(TypeId tid)
    {
        const auto text = [&](const char* name, const char* initial, auto member) {
            tid.AddAttribute(
                name, "", StringValue(initial), MakeStringAccessor(member), MakeStringChecker());
        };
        // Plain Extra Fewer Renamed Reordered Masked Neighbours Default Title None Broken Wrong
        text("Table", "Plain", &Common::m_style);
        text("Asks", "No", &Common::m_asks);            // No Nothing Loopback Unready
        text("Transport", "Udp", &Common::m_transport); // Udp Raw Broadcast Packet
        text("ChangeTo", "", &Common::m_changeTo);      // Table, after ChangeAt
        return tid
            .AddAttribute("NeedsPacket",
                          "",
                          BooleanValue(false),
                          MakeBooleanAccessor(&Common::m_needsPacket),
                          MakeBooleanChecker())
            .AddAttribute("AddsHeader",
                          "",
                          BooleanValue(false),
                          MakeBooleanAccessor(&Common::m_addsHeader),
                          MakeBooleanChecker())
            .AddAttribute("Range", // m beyond which it hears nobody; 0: it asks for no places
                          "",
                          DoubleValue(0),
                          MakeDoubleAccessor(&Common::m_range),
                          MakeDoubleChecker<double>())
            .AddAttribute("Splits", // by their sources packets go by one of two neighbours
                          "",
                          BooleanValue(false),
                          MakeBooleanAccessor(&Common::m_splits),
                          MakeBooleanChecker())
            .AddAttribute("Lifetime", // of a route; 0: it has no end
                          "",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&Common::m_lifetime),
                          MakeTimeChecker())
            .AddAttribute("ChangeAt",
                          "",
                          TimeValue(Seconds(1)),
                          MakeTimeAccessor(&Common::m_changeAt),
                          MakeTimeChecker())
            .AddAttribute("Interval",
                          "",
                          TimeValue(MilliSeconds(200)),
                          MakeTimeAccessor(&Common::m_interval),
                          MakeTimeChecker());
    }

    Ptr<Route> RouteOutput(Ptr<Packet> packet,
                           const Header& header,
                           Ptr<NetDevice> device,
                           Socket::SocketErrno& error) override
    {
        const Address to = header.GetDestination();
        error = Socket::ERROR_NOROUTETOHOST;
        if (!F::IsRouted(to))
        {
            return device ? ToGroup(to, device, error) : nullptr;
        }
        if (m_needsPacket && !packet)
        {
            return nullptr;
        }
        if (const auto route = Find(header))
        {
            if (packet && m_addsHeader)
            {
                packet->AddAtEnd(Create<Packet>(4));
            }
            error = Socket::ERROR_NOTERROR;
            return route;
        }
        if (m_asks == "No" || IsOwn(to))
        {
            return nullptr;
        }
        if (m_asks != "Loopback")
        {
            LookFor(to);
        }
        if (m_asks == "Nothing")
        {
            return nullptr;
        }
        error = Socket::ERROR_NOTERROR;
        auto route = MakeRoute(to, F::Nobody(), 1);
        if (m_asks == "Loopback")
        {
            route->SetOutputDevice(m_ip->GetNetDevice(0)); // the source stays that of the other
        }
        return route;
    }

    void NotifyInterfaceUp(uint32_t interface) override
    {
        if (interface > 0 && m_asks != "No")
        {
            Open(interface); // before the simulation starts, as AODV's descendants do
        }
    }

    void NotifyInterfaceDown(uint32_t) override
    {
    }

    void PrintRoutingTable(Ptr<OutputStreamWrapper> stream, Time::Unit unit) const override
    {
        std::ostream& out = *stream->GetStream();
        if (m_style == "None")
        {
            return;
        }
        out << "Node: " << m_node->GetId() << ", Time: " << Now().As(unit) << ", Strange table\n";
        if (m_style == "Title")
        {
            return;
        }
        PrintTable<F>(out, m_style, m_ways);
    }

  protected:
    void DoInitialize() override
    {
        for (uint32_t i = 1; i < m_ip->GetNInterfaces(); i++)
        {
            Open(i);
        }
        if (m_asks == "No")
        {
            Announce();
        }
        if (!m_changeTo.empty())
        {
            Simulator::Schedule(m_changeAt, &Common::Change, this);
        }
        F::Protocol::DoInitialize();
    }

    void DoDispose() override
    {
        m_sockets.clear();
        m_waiting.clear();
        m_ip = nullptr;
        m_node = nullptr;
        F::Protocol::DoDispose();
    }

    void SetLayer(Ptr<typename F::Layer> ip)
    {
        m_ip = ip;
        m_node = ip->template GetObject<Node>();
    }

    bool IsOwn(const Address& address) const
    {
        return m_ip->GetInterfaceForAddress(address) >= 0;
    }

    /** @return whether the packet is taken @param forward forwards it */
    bool Input(Ptr<const Packet>, const Header& header, std::function<void(Ptr<Route>)> forward)
    {
        const Address to = header.GetDestination();
        if (!F::IsRouted(to) || IsOwn(to))
        {
            return false;
        }
        if (const auto route = Find(header))
        {
            forward(route);
            return true;
        }
        if (m_asks != "Loopback")
        {
            return false;
        }
        m_waiting[to].emplace_back([=, this] { forward(Find(header)); });
        LookFor(to);
        return true;
    }

  private:
    using Way = strange::Way<Address>;

    static constexpr uint16_t PORT = 5271;
    static constexpr uint16_t ETHER_TYPE = 0x88b5; // IEEE 802, for experiments
    static constexpr uint8_t PROTOCOL = 138;       // RFC 5498: manet

    Ptr<Route> MakeRoute(const Address& to, const Address& via, uint32_t interface) const
    {
        auto route = Create<Route>();
        route->SetDestination(to);
        route->SetGateway(via);
        route->SetOutputDevice(m_ip->GetNetDevice(interface));
        for (uint32_t j = 0; j < m_ip->GetNAddresses(interface); j++)
        {
            route->SetSource(F::AddressOf(m_ip, interface, j)); // the last is not link-local
        }
        return route;
    }

    Ptr<Route> ToGroup(const Address& to, Ptr<NetDevice> device, Socket::SocketErrno& error) const
    {
        error = Socket::ERROR_NOTERROR;
        return MakeRoute(to, F::Nobody(), m_ip->GetInterfaceForDevice(device));
    }

    Ptr<Route> Find(const Header& header)
    {
        const Address to = header.GetDestination();
        const bool isSplit = m_splits && IsOdd(header.GetSource()) && m_others.contains(to);
        const auto& ways = isSplit ? m_others : m_ways;
        const auto way = ways.find(to);
        if (way == ways.end() ||
            (m_lifetime.IsStrictlyPositive() && m_learnt.at(to) + m_lifetime < Simulator::Now()))
        {
            return nullptr;
        }
        return MakeRoute(to, way->second.via, way->second.interface);
    }

    /** @return whether a source is the second, fourth... of those that the node has seen */
    bool IsOdd(const Address& source)
    {
        return m_sources.emplace(source, m_sources.size()).first->second % 2 != 0;
    }

    void Change()
    {
        m_style = m_changeTo;
    }

    void Open(uint32_t interface)
    {
        if (m_sockets.contains(interface))
        {
            return;
        }
        const Ptr<NetDevice> device = m_ip->GetNetDevice(interface);
        Ptr<Socket> socket;
        if (m_transport == "Packet")
        {
            if (!m_node->template GetObject<PacketSocketFactory>())
            {
                m_node->AggregateObject(CreateObject<PacketSocketFactory>());
            }
            socket = Socket::CreateSocket(m_node, PacketSocketFactory::GetTypeId());
            PacketSocketAddress here;
            here.SetSingleDevice(device->GetIfIndex());
            here.SetProtocol(ETHER_TYPE);
            socket->Bind(here);
        }
        else if (m_transport == "Raw" || m_transport == "Broadcast")
        {
            socket = Socket::CreateSocket(m_node, TypeId::LookupByName(F::RAW));
            socket->SetAttribute("Protocol", UintegerValue(PROTOCOL));
            socket->SetIpTtl(1);
            socket->Bind(F::Any(0));
            socket->BindToNetDevice(device);
        }
        else
        {
            socket = Socket::CreateSocket(m_node, UdpSocketFactory::GetTypeId());
            socket->SetAllowBroadcast(true);
            socket->Bind(F::Any(PORT));
            socket->BindToNetDevice(device);
        }
        socket->SetRecvCallback(Callback<void, Ptr<Socket>>(
            [this, interface](Ptr<Socket> from) { Receive(interface, from); }));
        m_sockets[interface] = socket;
    }

    void Send(uint32_t interface, const std::string& text)
    {
        auto packet = Create<Packet>(reinterpret_cast<const uint8_t*>(text.data()),
                                     static_cast<uint32_t>(text.size()));
        if (m_transport == "Packet")
        {
            const Ptr<NetDevice> device = m_ip->GetNetDevice(interface);
            PacketSocketAddress all;
            all.SetSingleDevice(device->GetIfIndex());
            all.SetProtocol(ETHER_TYPE);
            all.SetPhysicalAddress(device->GetBroadcast());
            m_sockets.at(interface)->SendTo(packet, 0, all);
            return;
        }
        const bool isToGroup = m_transport == "Raw";
        const uint16_t port = isToGroup || m_transport == "Broadcast" ? 0 : PORT;
        m_sockets.at(interface)->SendTo(packet, 0, F::Group(port, isToGroup));
    }

    /** Tells all nodes that this one is here, and whom it looks for. */
    void Flood(const Address& wanted)
    {
        m_number++;
        std::ostringstream text;
        text << m_node->GetId() << " " << m_number << " " << wanted << " 0";
        for (uint32_t i = 1; i < m_ip->GetNInterfaces(); i++)
        {
            for (uint32_t j = 0; j < m_ip->GetNAddresses(i); j++)
            {
                const Address own = F::AddressOf(m_ip, i, j);
                if (F::IsRouted(own))
                {
                    text << " " << own;
                }
            }
        }
        Pass(text.str());
    }

    /** Sends a flood on all interfaces, each behind this node's address there. */
    void Pass(const std::string& text)
    {
        for (const auto& [interface, socket] : m_sockets)
        {
            for (uint32_t j = 0; j < m_ip->GetNAddresses(interface); j++)
            {
                const Address own = F::AddressOf(m_ip, interface, j);
                if (F::IsRouted(own))
                {
                    std::ostringstream whole;
                    whole << own << " " << Place() << " " << text;
                    Send(interface, whole.str());
                    break;
                }
            }
        }
    }

    /** @return where the node is on the first axis, m */
    double Place() const
    {
        return m_range > 0 ? m_node->template GetObject<MobilityModel>()->GetPosition().x : 0;
    }

    void Announce()
    {
        Flood(F::Nobody());
        Simulator::Schedule(m_interval, &Common::Announce, this);
    }

    void LookFor(const Address& to)
    {
        const Time now = Simulator::Now();
        Time& asked = m_asked.emplace(to, now - Seconds(10)).first->second;
        if (now - asked >= MilliSeconds(300))
        {
            asked = now;
            Flood(to);
        }
    }

    void Receive(uint32_t interface, Ptr<Socket> socket)
    {
        ns3::Address sender;
        while (Ptr<Packet> packet = socket->RecvFrom(sender))
        {
            if (m_transport == "Raw" || m_transport == "Broadcast")
            {
                Header header;
                packet->RemoveHeader(header);
            }
            std::string text(packet->GetSize(), 0);
            packet->CopyData(reinterpret_cast<uint8_t*>(text.data()), packet->GetSize());
            Read(interface, text);
        }
    }

    void Read(uint32_t interface, const std::string& text)
    {
        std::istringstream words(text);
        std::string via;
        std::string wanted;
        uint32_t origin = 0;
        uint32_t number = 0;
        uint32_t hops = 0;
        double place = 0;
        words >> via >> place >> origin >> number >> wanted >> hops;
        if (m_range > 0 && std::abs(place - Place()) > m_range)
        {
            return;
        }
        if (!words || origin == m_node->GetId() || m_seen[origin] >= number)
        {
            // Its own, or it came by a shorter way, or by another one that is as short.
            for (std::string text; words && words >> text;)
            {
                const Address address(text.c_str());
                const auto known = m_ways.find(address);
                if (known != m_ways.end() && known->second.number == number &&
                    known->second.hops == hops + 1)
                {
                    m_others[address] = {Address(via.c_str()), interface, hops + 1, number};
                }
            }
            return;
        }
        m_seen[origin] = number;
        std::vector<std::string> addresses;
        for (std::string address; words >> address;)
        {
            addresses.push_back(address);
            Learn(Address(address.c_str()), {Address(via.c_str()), interface, hops + 1, number});
        }
        std::ostringstream next;
        next << origin << " " << number << " " << wanted << " " << hops + 1;
        for (const std::string& address : addresses)
        {
            next << " " << address;
        }
        Pass(next.str());
        if (F::IsRouted(Address(wanted.c_str())) && IsOwn(Address(wanted.c_str())))
        {
            Flood(F::Nobody());
        }
    }

    void Learn(const Address& to, const Way& way)
    {
        m_ways[to] = way;
        m_learnt[to] = Simulator::Now();
        const auto waiting = m_waiting.find(to);
        if (waiting == m_waiting.end())
        {
            return;
        }
        const auto packets = std::move(waiting->second);
        m_waiting.erase(waiting);
        for (const auto& forward : packets)
        {
            forward();
        }
    }

    Ptr<typename F::Layer> m_ip;               //!< has the interfaces
    Ptr<Node> m_node;                          //!< has the protocol
    std::map<uint32_t, Ptr<Socket>> m_sockets; //!< by interface
    std::map<Address, Way> m_ways;             //!< the routes
    std::map<uint32_t, uint32_t> m_seen;       //!< the last flood of each node
    std::map<Address, Time> m_asked;           //!< when an address was looked for
    std::map<Address, std::deque<std::function<void()>>> m_waiting; //!< packets
    std::map<Address, Way> m_others;                                //!< by other neighbours
    std::map<Address, Time> m_learnt;                               //!< when m_ways were
    std::map<Address, std::size_t> m_sources;                       //!< in their order
    bool m_splits{false};                                           //!< Splits
    Time m_lifetime;                                                //!< Lifetime
    uint32_t m_number{0};                                           //!< of the last flood
    std::string m_style;                                            //!< of the table
    std::string m_asks;        //!< what is returned without a route
    std::string m_transport;   //!< of floods
    std::string m_changeTo;    //!< a style
    Time m_changeAt;           //!< when
    Time m_interval;           //!< between two floods
    bool m_needsPacket{false}; //!< without one there is no answer
    bool m_addsHeader{false};  //!< to data packets
    double m_range{0};         //!< m beyond which nobody is heard
};

} // namespace strange

#endif // STRANGE_COMMON_H
