/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * An example of a user's own IPv6 routing protocol that finds routes on demand, in a separate
 * library. It includes no header of Viaduct.
 *
 *   VIADUCT_SIM_LIBRARIES=build/ns3/libipv6-request-routing.so viaduct run FILE.yaml
 *
 * with `routing: {protocol: ns3::Ipv6RequestRouting}`. If there is no route, RouteOutput() returns
 * the loopback device, as the function of ns3::aodv::RoutingProtocol does. The packet then comes to
 * RouteInput(), which keeps the packet and floods a request over link-local multicast. The target
 * sends a reply to the neighbour that sent the request, and each node sends the reply on to the
 * next node on the way back to the node that created the request. A route is valid for
 * RouteLifetime after its last use, and is removed when the hellos of its next hop stop.
 *
 * The protocol has no sequence numbers, so a network of moving nodes may have loops for a moment:
 * the protocol is only an example.
 */

#include "ns3/inet6-socket-address.h"
#include "ns3/ipv6-route.h"
#include "ns3/ipv6-routing-protocol.h"
#include "ns3/ipv6.h"
#include "ns3/loopback-net-device.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/output-stream-wrapper.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/udp-socket-factory.h"

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <utility>

namespace ns3
{

/** A routing protocol that finds routes to IPv6 hosts by request and reply. */
class Ipv6RequestRouting : public Ipv6RoutingProtocol
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId()
    {
        static TypeId tid =
            TypeId("ns3::Ipv6RequestRouting")
                .SetParent<Ipv6RoutingProtocol>()
                .AddConstructor<Ipv6RequestRouting>()
                .AddAttribute("RouteLifetime",
                              "The time for which a route is kept after its last use.",
                              TimeValue(Seconds(2)),
                              MakeTimeAccessor(&Ipv6RequestRouting::m_lifetime),
                              MakeTimeChecker(MilliSeconds(1)))
                .AddAttribute("HelloInterval",
                              "The time between two hellos; a neighbour is lost after three missed "
                              "hellos.",
                              TimeValue(MilliSeconds(300)),
                              MakeTimeAccessor(&Ipv6RequestRouting::m_helloInterval),
                              MakeTimeChecker(MilliSeconds(1)))
                .AddAttribute("RequestInterval",
                              "The time after which a request without an answer is repeated; at "
                              "most five requests are sent.",
                              TimeValue(MilliSeconds(500)),
                              MakeTimeAccessor(&Ipv6RequestRouting::m_requestInterval),
                              MakeTimeChecker(MilliSeconds(1)));
        return tid;
    }

    Ptr<Ipv6Route> RouteOutput(Ptr<Packet> packet,
                               const Ipv6Header& header,
                               Ptr<NetDevice> device,
                               Socket::SocketErrno& error) override
    {
        const Ipv6Address target = header.GetDestination();
        if (!IsRouted(target) || device)
        {
            error = Socket::ERROR_NOROUTETOHOST;
            return nullptr;
        }
        error = Socket::ERROR_NOTERROR;
        if (const auto route = Find(target))
        {
            if (packet) // null: the caller only asks for the route
            {
                Use(target);
            }
            return route;
        }
        auto loopback = Create<Ipv6Route>();
        loopback->SetDestination(target);
        loopback->SetGateway(Ipv6Address::GetLoopback());
        loopback->SetSource(OwnAddress());
        loopback->SetOutputDevice(m_ipv6->GetNetDevice(0));
        return loopback;
    }

    bool RouteInput(Ptr<const Packet> packet,
                    const Ipv6Header& header,
                    Ptr<const NetDevice> device,
                    const UnicastForwardCallback& forward,
                    const MulticastForwardCallback&,
                    const LocalDeliverCallback&,
                    const ErrorCallback& error) override
    {
        const Ipv6Address target = header.GetDestination();
        if (!IsRouted(target) || m_ipv6->GetInterfaceForAddress(target) >= 0)
        {
            return false;
        }
        if (const auto route = Find(target))
        {
            Use(target);
            Use(header.GetSource());
            forward(device, route, packet, header);
            return true;
        }
        Waiting& waiting = m_waiting[target];
        waiting.packets.push_back(
            {[=](Ptr<Ipv6Route> route) { forward(device, route, packet, header); },
             [=] {
                 if (!error.IsNull()) // Ipv6ListRouting passes a null callback
                 {
                     error(packet, header, Socket::ERROR_NOROUTETOHOST);
                 }
             }});
        if (!waiting.timer.IsPending())
        {
            Request(target);
        }
        return true;
    }

    void NotifyInterfaceUp(uint32_t) override
    {
    }

    void NotifyInterfaceDown(uint32_t interface) override
    {
        std::erase_if(m_routes,
                      [=](const auto& entry) { return entry.second.neighbour.first == interface; });
    }

    void NotifyAddAddress(uint32_t, Ipv6InterfaceAddress) override
    {
    }

    void NotifyRemoveAddress(uint32_t, Ipv6InterfaceAddress) override
    {
    }

    void NotifyAddRoute(Ipv6Address, Ipv6Prefix, Ipv6Address, uint32_t, Ipv6Address) override
    {
    }

    void NotifyRemoveRoute(Ipv6Address, Ipv6Prefix, Ipv6Address, uint32_t, Ipv6Address) override
    {
    }

    void SetIpv6(Ptr<Ipv6> ipv6) override
    {
        m_ipv6 = ipv6;
    }

    void PrintRoutingTable(Ptr<OutputStreamWrapper> stream, Time::Unit unit) const override
    {
        for (const auto& [target, route] : m_routes)
        {
            *stream->GetStream() << target << " by " << route.neighbour.second << " until "
                                 << route.expires.As(unit) << '\n';
        }
    }

  protected:
    void DoInitialize() override
    {
        for (uint32_t i = 1; i < m_ipv6->GetNInterfaces(); i++)
        {
            auto socket =
                Socket::CreateSocket(m_ipv6->GetObject<Node>(), UdpSocketFactory::GetTypeId());
            socket->Bind(Inet6SocketAddress(Ipv6Address::GetAny(), PORT));
            socket->BindToNetDevice(m_ipv6->GetNetDevice(i));
            socket->SetRecvCallback(
                Callback<void, Ptr<Socket>>([this, i](Ptr<Socket> its) { Receive(i, its); }));
            m_sockets[i] = socket;
        }
        Hello();
        Ipv6RoutingProtocol::DoInitialize();
    }

    void DoDispose() override
    {
        m_hello.Cancel();
        for (auto& [target, waiting] : m_waiting)
        {
            waiting.timer.Cancel();
        }
        m_waiting.clear();
        m_sockets.clear();
        m_ipv6 = nullptr;
        Ipv6RoutingProtocol::DoDispose();
    }

  private:
    static constexpr uint16_t PORT = 5269; //!< UDP port
    static constexpr int MAX_REQUESTS = 5; //!< maximum number of requests for a target
    static constexpr int LOST_HELLOS = 3;  //!< missed hellos after which a neighbour is lost

    using Neighbour = std::pair<uint32_t, Ipv6Address>; //!< interface and link-local address

    /** A route to a node. */
    struct Route
    {
        Neighbour neighbour; //!< the next hop
        Time expires;        //!< time of expiry if unused
    };

    /** A packet without a route. */
    struct Kept
    {
        std::function<void(Ptr<Ipv6Route>)> forward; //!< called with the route when it is found
        std::function<void()> drop;                  //!< called if no route is found
    };

    /** The packets to a target whose route is requested. */
    struct Waiting
    {
        std::deque<Kept> packets; //!< packets in order of arrival
        int requests{0};          //!< number of requests sent
        EventId timer;            //!< timer of the next request
    };

    static bool IsRouted(Ipv6Address address)
    {
        return !address.IsMulticast() && !address.IsLinkLocal() && !address.IsLocalhost() &&
               !address.IsAny();
    }

    /** @return the node's first address that is not link-local; addresses of interface @p first and
     * later interfaces are preferred */
    Ipv6Address OwnAddress(uint32_t first = 1) const
    {
        for (uint32_t i = first; i < m_ipv6->GetNInterfaces(); i++)
        {
            for (uint32_t j = 0; j < m_ipv6->GetNAddresses(i); j++)
            {
                const Ipv6Address address = m_ipv6->GetAddress(i, j).GetAddress();
                if (IsRouted(address))
                {
                    return address;
                }
            }
        }
        return first > 1 ? OwnAddress() : Ipv6Address::GetAny();
    }

    Ptr<Ipv6Route> Find(Ipv6Address target) const
    {
        const auto known = m_routes.find(target);
        if (known == m_routes.end() || known->second.expires < Simulator::Now())
        {
            return nullptr;
        }
        const auto& [interface, nextHop] = known->second.neighbour;
        auto route = Create<Ipv6Route>();
        route->SetDestination(target);
        route->SetGateway(nextHop);
        route->SetSource(OwnAddress(interface));
        route->SetOutputDevice(m_ipv6->GetNetDevice(interface));
        return route;
    }

    void Use(Ipv6Address target)
    {
        const auto known = m_routes.find(target);
        if (known != m_routes.end() && known->second.expires >= Simulator::Now())
        {
            known->second.expires = Simulator::Now() + m_lifetime;
        }
    }

    void Learn(Ipv6Address target, const Neighbour& neighbour)
    {
        // The latest answer replaces an earlier answer even if its path is longer, because the
        // shorter path may be broken elsewhere.
        m_routes[target] = {neighbour, Simulator::Now() + m_lifetime};
        const auto waiting = m_waiting.find(target);
        if (waiting == m_waiting.end())
        {
            return;
        }
        waiting->second.timer.Cancel();
        const auto packets = std::move(waiting->second.packets);
        m_waiting.erase(waiting);
        for (const Kept& kept : packets)
        {
            kept.forward(Find(target));
        }
    }

    void Send(uint32_t interface, Ipv6Address to, const std::string& text)
    {
        auto packet = Create<Packet>(reinterpret_cast<const uint8_t*>(text.data()),
                                     static_cast<uint32_t>(text.size()));
        m_sockets.at(interface)->SendTo(packet, 0, Inet6SocketAddress(to, PORT));
    }

    void SendToAll(const std::string& text)
    {
        for (const auto& [interface, socket] : m_sockets)
        {
            Send(interface, Ipv6Address::GetAllNodesMulticast(), text);
        }
    }

    static std::string Text(const std::string& kind,
                            uint32_t number,
                            Ipv6Address origin,
                            Ipv6Address target)
    {
        std::ostringstream text;
        text << kind << ' ' << number << ' ' << origin << ' ' << target;
        return text.str();
    }

    void Hello()
    {
        SendToAll("hello");
        std::set<Neighbour> lost;
        std::erase_if(m_heard, [&](const auto& entry) {
            const bool isLost = Simulator::Now() - entry.second > LOST_HELLOS * m_helloInterval;
            if (isLost)
            {
                lost.insert(entry.first);
            }
            return isLost;
        });
        std::erase_if(m_routes,
                      [&](const auto& entry) { return lost.contains(entry.second.neighbour); });
        m_hello = Simulator::Schedule(m_helloInterval, &Ipv6RequestRouting::Hello, this);
    }

    void Request(Ipv6Address target)
    {
        Waiting& waiting = m_waiting[target];
        if (waiting.requests == MAX_REQUESTS)
        {
            const auto packets = std::move(waiting.packets);
            m_waiting.erase(target);
            for (const Kept& kept : packets)
            {
                kept.drop();
            }
            return;
        }
        waiting.requests++;
        waiting.timer =
            Simulator::Schedule(m_requestInterval, &Ipv6RequestRouting::Request, this, target);
        SendToAll(Text("request", m_number++, OwnAddress(), target));
    }

    void Receive(uint32_t interface, Ptr<Socket> socket)
    {
        Address from;
        while (Ptr<Packet> packet = socket->RecvFrom(from))
        {
            const Neighbour sender{interface, Inet6SocketAddress::ConvertFrom(from).GetIpv6()};
            if (m_ipv6->GetInterfaceForAddress(sender.second) >= 0)
            {
                continue;
            }
            std::string bytes(packet->GetSize(), '\0');
            packet->CopyData(reinterpret_cast<uint8_t*>(bytes.data()), packet->GetSize());
            std::istringstream text(bytes);
            std::string kind;
            std::string origin;
            std::string target;
            uint32_t number = 0;
            m_heard[sender] = Simulator::Now();
            if (text >> kind >> number >> origin >> target)
            {
                const auto handle = kind == "request" ? &Ipv6RequestRouting::TakeRequest
                                                      : &Ipv6RequestRouting::TakeReply;
                (this->*handle)(
                    sender, number, Ipv6Address(origin.c_str()), Ipv6Address(target.c_str()));
            }
        }
    }

    void TakeRequest(const Neighbour& sender,
                     uint32_t number,
                     Ipv6Address origin,
                     Ipv6Address target)
    {
        if (m_ipv6->GetInterfaceForAddress(origin) >= 0 || !m_seen.insert({origin, number}).second)
        {
            return;
        }
        Learn(origin, sender);
        if (m_ipv6->GetInterfaceForAddress(target) >= 0)
        {
            Send(sender.first, sender.second, Text("reply", number, origin, target));
            return;
        }
        SendToAll(Text("request", number, origin, target));
    }

    void TakeReply(const Neighbour& sender, uint32_t number, Ipv6Address origin, Ipv6Address target)
    {
        const auto back = m_routes.find(origin);
        if (m_ipv6->GetInterfaceForAddress(origin) < 0 && back != m_routes.end())
        {
            const auto& [interface, nextHop] = back->second.neighbour;
            Send(interface, nextHop, Text("reply", number, origin, target));
        }
        Learn(target, sender);
    }

    Ptr<Ipv6> m_ipv6;                                  //!< the node's IPv6 layer
    std::map<uint32_t, Ptr<Socket>> m_sockets;         //!< sockets by interface
    Time m_lifetime;                                   //!< lifetime of routes
    Time m_helloInterval;                              //!< interval between hellos
    Time m_requestInterval;                            //!< interval between requests
    EventId m_hello;                                   //!< event of the next hello
    uint32_t m_number{0};                              //!< number of the next request
    std::set<std::pair<Ipv6Address, uint32_t>> m_seen; //!< requests received: origin, number
    std::map<Neighbour, Time> m_heard;                 //!< time of a neighbour's last message
    std::map<Ipv6Address, Route> m_routes;             //!< routes by target
    std::map<Ipv6Address, Waiting> m_waiting;          //!< waiting packets by target
};

NS_OBJECT_ENSURE_REGISTERED(Ipv6RequestRouting);

} // namespace ns3
