/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * An example of a user's own routing protocol in a library of its own. It includes no header of
 * Viaduct.
 *
 *   VIADUCT_SIM_LIBRARIES=build/ns3/libflood-routing.so viaduct run FILE.yaml
 *
 * with `routing: {protocol: ns3::FloodRouting}`. Every node announces to its neighbours each
 * Interval which networks it knows and their distances; a shorter route replaces a known one.
 * Networks that vanish are not removed. Each route is reported by the trace source RouteAdded, so
 * that it reaches the kernel at once.
 */

#include "ns3/inet-socket-address.h"
#include "ns3/ipv4-routing-table-entry.h"
#include "ns3/ipv4-static-routing.h"
#include "ns3/ipv4.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/traced-callback.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/udp-socket.h"

#include <map>
#include <sstream>

namespace ns3
{

/** Distance vector routing without loss of routes. */
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
                .AddAttribute("Interval",
                              "Time between two announcements.",
                              TimeValue(MilliSeconds(200)),
                              MakeTimeAccessor(&FloodRouting::m_interval),
                              MakeTimeChecker(MilliSeconds(1)))
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

  protected:
    void DoInitialize() override
    {
        m_socket = Socket::CreateSocket(m_ipv4->GetObject<Node>(), UdpSocketFactory::GetTypeId());
        m_socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), PORT));
        m_socket->SetAllowBroadcast(true);
        m_socket->SetRecvCallback(MakeCallback(&FloodRouting::Receive, this));
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
    static constexpr uint16_t PORT = 9911; //!< UDP

    /** A network: address, mask. */
    using Network = std::pair<uint32_t, uint32_t>;

    void Announce()
    {
        std::ostringstream text;
        for (uint32_t i = 1; i < m_ipv4->GetNInterfaces(); i++)
        {
            const Ipv4InterfaceAddress address = m_ipv4->GetAddress(i, 0);
            m_distances[{address.GetLocal().CombineMask(address.GetMask()).Get(),
                         address.GetMask().Get()}] = 0;
        }
        for (const auto& [network, distance] : m_distances)
        {
            text << network.first << ' ' << network.second << ' ' << distance << '\n';
        }
        const std::string bytes = text.str();
        for (uint32_t i = 1; i < m_ipv4->GetNInterfaces(); i++)
        {
            auto packet = Create<Packet>(reinterpret_cast<const uint8_t*>(bytes.data()),
                                         static_cast<uint32_t>(bytes.size()));
            m_socket->SendTo(
                packet, 0, InetSocketAddress(m_ipv4->GetAddress(i, 0).GetBroadcast(), PORT));
        }
        m_timer = Simulator::Schedule(m_interval, &FloodRouting::Announce, this);
    }

    void Receive(Ptr<Socket> socket)
    {
        Address from;
        while (Ptr<Packet> packet = socket->RecvFrom(from))
        {
            const Ipv4Address sender = InetSocketAddress::ConvertFrom(from).GetIpv4();
            std::string bytes(packet->GetSize(), '\0');
            packet->CopyData(reinterpret_cast<uint8_t*>(bytes.data()), packet->GetSize());
            std::istringstream text(bytes);
            Network network;
            uint32_t distance;
            while (text >> network.first >> network.second >> distance)
            {
                Learn(network, distance + 1, sender);
            }
        }
    }

    void Learn(const Network& network, uint32_t distance, Ipv4Address sender)
    {
        auto known = m_distances.find(network);
        if (known != m_distances.end() && known->second <= distance)
        {
            return;
        }
        for (uint32_t i = 1; i < m_ipv4->GetNInterfaces(); i++)
        {
            const Ipv4InterfaceAddress own = m_ipv4->GetAddress(i, 0);
            if (own.GetLocal() == sender ||
                own.GetLocal().CombineMask(own.GetMask()) != sender.CombineMask(own.GetMask()))
            {
                continue;
            }
            m_distances[network] = distance;
            const Ipv4Address address(network.first);
            const Ipv4Mask mask(network.second);
            AddNetworkRouteTo(address, mask, sender, i, distance);
            m_routeAdded(Ipv4RoutingTableEntry::CreateNetworkRouteTo(address, mask, sender, i));
            return;
        }
    }

    Ptr<Ipv4> m_ipv4;                                            //!< of the node
    Ptr<Socket> m_socket;                                        //!< for announcements
    EventId m_timer;                                             //!< the next announcement
    Time m_interval;                                             //!< between announcements
    std::map<Network, uint32_t> m_distances;                     //!< known networks
    TracedCallback<const Ipv4RoutingTableEntry&> m_routeAdded;   //!< "RouteAdded"
    TracedCallback<const Ipv4RoutingTableEntry&> m_routeRemoved; //!< "RouteRemoved"
};

NS_OBJECT_ENSURE_REGISTERED(FloodRouting);

} // namespace ns3
