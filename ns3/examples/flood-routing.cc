/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * An example of a user's own routing protocol in a separate library. It includes no header of
 * Viaduct.
 *
 *   VIADUCT_SIM_LIBRARIES=build/ns3/libflood-routing.so viaduct run FILE.yaml
 *
 * with `routing: {protocol: ns3::FloodRouting}`. Each Interval, every node announces to its
 * neighbours the networks that it knows and their distances, except networks that it reaches
 * through the neighbour (split horizon, RFC 2453, section 3.9); a shorter route replaces a known
 * route, and a route that is not announced three times is removed. Each change is reported by the
 * trace sources RouteAdded and RouteRemoved, so that the change reaches the kernel at once.
 *
 * The protocol also routes multicast, by reverse paths as DVMRP (RFC 1075) does: a node accepts
 * packets of a source only from the neighbour on the node's own path to the source, and forwards
 * the packets to the neighbours that report that they depend on the node for this source and want
 * the group. The attribute Members lists the groups' members; it replaces the answers of hosts to a
 * router's query.
 */

#include "ns3/inet-socket-address.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv4-routing-table-entry.h"
#include "ns3/ipv4-static-routing.h"
#include "ns3/ipv4.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/string.h"
#include "ns3/traced-callback.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/udp-socket.h"

#include <map>
#include <set>
#include <sstream>

namespace ns3
{

/** Distance vector routing, for links between two nodes. */
class FloodRouting : public Ipv4StaticRouting
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId()
    {
        static TypeId tid =
            TypeId("ns3::FloodRouting")
                .SetParent<Ipv4StaticRouting>()
                .AddConstructor<FloodRouting>()
                .AddAttribute(
                    "Interval",
                    "The interval at which each node announces its routes to its neighbours.",
                    TimeValue(MilliSeconds(200)),
                    MakeTimeAccessor(&FloodRouting::m_interval),
                    MakeTimeChecker(MilliSeconds(1)))
                .AddAttribute("Members",
                              "The members of multicast groups, as pairs of a group and the number "
                              "of a node: \"239.1.1.1 2 239.1.1.1 3\".",
                              StringValue(""),
                              MakeStringAccessor(&FloodRouting::m_members),
                              MakeStringChecker())
                .AddTraceSource("RouteAdded",
                                "A route was added.",
                                MakeTraceSourceAccessor(&FloodRouting::m_routeAdded),
                                "ns3::Ipv4RoutingTableEntry::TracedCallback")
                .AddTraceSource("RouteRemoved",
                                "A route was removed.",
                                MakeTraceSourceAccessor(&FloodRouting::m_routeRemoved),
                                "ns3::Ipv4RoutingTableEntry::TracedCallback");
        return tid;
    }

    void SetIpv4(Ptr<Ipv4> ipv4) override
    {
        m_ipv4 = ipv4;
        Ipv4StaticRouting::SetIpv4(ipv4);
    }

    bool RouteInput(Ptr<const Packet> packet,
                    const Ipv4Header& header,
                    Ptr<const NetDevice> from,
                    const UnicastForwardCallback& unicast,
                    const MulticastForwardCallback& multicast,
                    const LocalDeliverCallback& deliver,
                    const ErrorCallback& error) override
    {
        const Ipv4Address group = header.GetDestination();
        if (!group.IsMulticast() || group.IsLocalMulticast())
        {
            return Ipv4StaticRouting::RouteInput(
                packet, header, from, unicast, multicast, deliver, error);
        }
        const uint32_t arrived = m_ipv4->GetInterfaceForDevice(from);
        const Network source = NetworkOf(header.GetSource());
        const auto towards = m_routes.find(source);
        if (towards == m_routes.end() || towards->second.interface != arrived)
        {
            return false; // the neighbour on the path to the source sends the packet, too
        }
        auto route = Create<Ipv4MulticastRoute>();
        route->SetOrigin(header.GetSource());
        route->SetGroup(group);
        route->SetParent(arrived);
        for (const auto& [interface, neighbour] : m_neighbours)
        {
            if (interface != arrived && IsAlive(neighbour) && neighbour.sources.contains(source) &&
                neighbour.groups.contains(group.Get()))
            {
                route->SetOutputTtl(interface, 1);
            }
        }
        multicast(route, packet, header);
        return true;
    }

  protected:
    void DoInitialize() override
    {
        m_socket = Socket::CreateSocket(m_ipv4->GetObject<Node>(), UdpSocketFactory::GetTypeId());
        m_socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), PORT));
        m_socket->SetAllowBroadcast(true);
        m_socket->SetRecvCallback(MakeCallback(&FloodRouting::Receive, this));
        std::istringstream members(m_members);
        std::string group;
        uint32_t node;
        while (members >> group >> node)
        {
            if (node == m_ipv4->GetObject<Node>()->GetId())
            {
                m_groups.insert(Ipv4Address(group.c_str()).Get());
            }
        }
        Announce();
        Ipv4StaticRouting::DoInitialize();
    }

    void DoDispose() override
    {
        m_timer.Cancel();
        m_socket = nullptr;
        m_ipv4 = nullptr;
        Ipv4StaticRouting::DoDispose();
    }

  private:
    static constexpr uint16_t PORT = 9911; //!< UDP port

    /** A network: address, mask. */
    using Network = std::pair<uint32_t, uint32_t>;

    /** The last announcements of the neighbours on an interface. */
    struct Neighbour
    {
        Time heard;                //!< time of the last announcement
        std::set<Network> sources; //!< sources whose packets the neighbours take from this node
        std::set<uint32_t> groups; //!< groups that the neighbours want
    };

    /** A route to a network. */
    struct Route
    {
        uint32_t distance{0}; //!< distance in hops
        uint32_t interface {
            0
        };                   //!< number of the interface to the gateway or the network
        Ipv4Address gateway; //!< the next hop; unspecified: a network of the node itself
        Time heard;          //!< time of the gateway's last announcement
    };

    bool IsOld(Time heard) const
    {
        constexpr int LOST_ANNOUNCEMENTS = 3;
        return Simulator::Now() - heard > LOST_ANNOUNCEMENTS * m_interval;
    }

    bool IsAlive(const Neighbour& neighbour) const
    {
        return !IsOld(neighbour.heard);
    }

    /** @return the smallest known network that contains an address; 0/0 if there is none */
    Network NetworkOf(Ipv4Address address) const
    {
        Network best{0, 0};
        for (const auto& [network, route] : m_routes)
        {
            if ((address.Get() & network.second) == network.first && network.second > best.second)
            {
                best = network;
            }
        }
        return best;
    }

    /** @return the groups that this node wants, and the groups that neighbours want on interfaces
     * other than @p excluded */
    std::set<uint32_t> WantedBut(uint32_t excluded) const
    {
        std::set<uint32_t> wanted = m_groups;
        for (const auto& [interface, neighbour] : m_neighbours)
        {
            if (interface != excluded && IsAlive(neighbour))
            {
                wanted.insert(neighbour.groups.begin(), neighbour.groups.end());
            }
        }
        return wanted;
    }

    std::string AnnouncementFor(uint32_t interface) const
    {
        std::ostringstream text;
        for (const auto& [network, route] : m_routes)
        {
            text << (route.interface == interface ? "source " : "network ") << network.first << ' '
                 << network.second << ' ' << route.distance << '\n';
        }
        for (const uint32_t group : WantedBut(interface))
        {
            text << "group " << group << " 0 0\n";
        }
        return text.str();
    }

    void Announce()
    {
        for (uint32_t i = 1; i < m_ipv4->GetNInterfaces(); i++)
        {
            const Ipv4InterfaceAddress address = m_ipv4->GetAddress(i, 0);
            const Network network{address.GetLocal().CombineMask(address.GetMask()).Get(),
                                  address.GetMask().Get()};
            m_routes[network] = Route{0, i, Ipv4Address::GetAny(), Simulator::Now()};
        }
        RemoveOldRoutes();
        for (uint32_t i = 1; i < m_ipv4->GetNInterfaces(); i++)
        {
            const std::string bytes = AnnouncementFor(i);
            auto packet = Create<Packet>(reinterpret_cast<const uint8_t*>(bytes.data()),
                                         static_cast<uint32_t>(bytes.size()));
            m_socket->SendTo(
                packet, 0, InetSocketAddress(m_ipv4->GetAddress(i, 0).GetBroadcast(), PORT));
        }
        m_timer = Simulator::Schedule(m_interval, &FloodRouting::Announce, this);
    }

    /** @return the interface whose network contains a neighbour's address; 0: none, or the address
     * is the node's own */
    uint32_t InterfaceTo(Ipv4Address neighbour) const
    {
        for (uint32_t i = 1; i < m_ipv4->GetNInterfaces(); i++)
        {
            const Ipv4InterfaceAddress own = m_ipv4->GetAddress(i, 0);
            if (own.GetLocal() == neighbour)
            {
                return 0;
            }
            if (own.GetLocal().CombineMask(own.GetMask()) == neighbour.CombineMask(own.GetMask()))
            {
                return i;
            }
        }
        return 0;
    }

    void Receive(Ptr<Socket> socket)
    {
        Address from;
        while (Ptr<Packet> packet = socket->RecvFrom(from))
        {
            const Ipv4Address sender = InetSocketAddress::ConvertFrom(from).GetIpv4();
            const uint32_t interface = InterfaceTo(sender);
            if (interface == 0)
            {
                continue;
            }
            std::string bytes(packet->GetSize(), '\0');
            packet->CopyData(reinterpret_cast<uint8_t*>(bytes.data()), packet->GetSize());
            std::istringstream text(bytes);
            Neighbour& neighbour = m_neighbours[interface] = Neighbour{Simulator::Now(), {}, {}};
            std::string kind;
            Network network;
            uint32_t distance;
            while (text >> kind >> network.first >> network.second >> distance)
            {
                if (kind == "network")
                {
                    Learn(network, distance + 1, sender, interface);
                }
                else if (kind == "source")
                {
                    neighbour.sources.insert(network);
                }
                else
                {
                    neighbour.groups.insert(network.first);
                }
            }
        }
    }

    void Learn(const Network& network, uint32_t distance, Ipv4Address sender, uint32_t interface)
    {
        constexpr uint32_t INFINITY_METRIC = 16; // RFC 2453, section 3.2
        const auto known = m_routes.find(network);
        if (known != m_routes.end())
        {
            Route& route = known->second;
            if (route.gateway == sender && route.distance == distance)
            {
                route.heard = Simulator::Now();
                return;
            }
            if (route.gateway != sender && route.distance <= distance)
            {
                return;
            }
            Remove(network, route);
            m_routes.erase(known);
        }
        if (distance >= INFINITY_METRIC)
        {
            return;
        }
        m_routes[network] = Route{distance, interface, sender, Simulator::Now()};
        const Ipv4RoutingTableEntry entry = EntryOf(network, m_routes[network]);
        AddNetworkRouteTo(entry.GetDest(), entry.GetDestNetworkMask(), sender, interface, distance);
        m_routeAdded(entry);
    }

    static Ipv4RoutingTableEntry EntryOf(const Network& network, const Route& route)
    {
        return Ipv4RoutingTableEntry::CreateNetworkRouteTo(
            Ipv4Address(network.first), Ipv4Mask(network.second), route.gateway, route.interface);
    }

    /** Removes a route from the base class, and reports the removal. */
    void Remove(const Network& network, const Route& route)
    {
        const Ipv4RoutingTableEntry removed = EntryOf(network, route);
        for (uint32_t i = 0; i < GetNRoutes(); i++)
        {
            const Ipv4RoutingTableEntry entry = GetRoute(i);
            if (entry.GetDest() == removed.GetDest() && entry.IsGateway() &&
                entry.GetDestNetworkMask() == removed.GetDestNetworkMask() &&
                entry.GetGateway() == removed.GetGateway())
            {
                RemoveRoute(i);
                break;
            }
        }
        m_routeRemoved(removed);
    }

    void RemoveOldRoutes()
    {
        for (auto at = m_routes.begin(); at != m_routes.end();)
        {
            const bool isOwn = at->second.gateway == Ipv4Address::GetAny();
            if (isOwn || !IsOld(at->second.heard))
            {
                ++at;
                continue;
            }
            Remove(at->first, at->second);
            at = m_routes.erase(at);
        }
    }

    Ptr<Ipv4> m_ipv4;                                            //!< the node's IPv4 layer
    Ptr<Socket> m_socket;                                        //!< socket of announcements
    EventId m_timer;                                             //!< event of the next announcement
    Time m_interval;                                             //!< time between announcements
    std::map<Network, Route> m_routes;                           //!< routes to all known networks
    std::map<uint32_t, Neighbour> m_neighbours;                  //!< neighbours by interface
    std::string m_members;                                       //!< attribute Members
    std::set<uint32_t> m_groups;                                 //!< groups joined by this node
    TracedCallback<const Ipv4RoutingTableEntry&> m_routeAdded;   //!< trace RouteAdded
    TracedCallback<const Ipv4RoutingTableEntry&> m_routeRemoved; //!< trace RouteRemoved
};

NS_OBJECT_ENSURE_REGISTERED(FloodRouting);

} // namespace ns3
