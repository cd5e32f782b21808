/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "route-reader.h"

#include "ns3/ns3-access.h"
#include "ns3/route-table-text.h"

#include "ns3/ipv4-static-routing.h"
#include "ns3/names.h"
#include "ns3/olsr-routing-protocol.h"
#include "ns3/output-stream-wrapper.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

namespace ns3
{

using viaduct::wire::IpPrefix;
using wireconversion::ToWire;

namespace
{

template <class Family>
RouteCandidate
CandidateOf(const typename Family::Entry& route, uint32_t metric)
{
    const IpPrefix destination{ToWire(route.GetDest()),
                               (route.*Family::DestinationMask)().GetPrefixLength()};
    return {destination.Network(), ToWire(route.GetGateway()), route.GetInterface(), metric};
}

/** OLSR's public table and its network associations (HNA). */
class OlsrRoutes : public RouteReader
{
  public:
    explicit OlsrRoutes(Ptr<olsr::RoutingProtocol> protocol) : m_protocol(std::move(protocol))
    {
    }

    std::vector<RouteCandidate> Read() const override
    {
        std::vector<RouteCandidate> routes;
        for (const auto& entry : m_protocol->GetRoutingTableEntries())
        {
            routes.push_back({{ToWire(entry.destAddr), 32},
                              ToWire(entry.nextAddr),
                              entry.interface,
                              entry.distance});
        }
        Ptr<const Ipv4StaticRouting> hna = ns3access::OlsrHnaTable(*m_protocol);
        for (uint32_t i = 0; i < hna->GetNRoutes(); i++)
        {
            routes.push_back(CandidateOf<ipfamily::V4>(hna->GetRoute(i), hna->GetMetric(i)));
        }
        return routes;
    }

    bool Watch(std::function<void()> changed) override
    {
        return m_protocol->TraceConnectWithoutContext(
            "RoutingTableChanged",
            Callback<void, uint32_t>([changed = std::move(changed)](uint32_t) { changed(); }));
    }

  private:
    Ptr<olsr::RoutingProtocol> m_protocol; //!< whose
};

/** The table of a protocol of ns-3's own, without printing it. */
template <class Family>
class TypedRoutes : public RouteReader
{
  public:
    explicit TypedRoutes(Ptr<typename Family::Protocol> protocol) : m_protocol(std::move(protocol))
    {
    }

    std::vector<RouteCandidate> Read() const override
    {
        std::vector<RouteCandidate> routes;
        ns3access::VisitRoutes(*m_protocol, [&](const auto& route, uint32_t metric) {
            routes.push_back(CandidateOf<Family>(route, metric));
        });
        return routes;
    }

    bool Watch(std::function<void()>) override
    {
        return false;
    }

  private:
    Ptr<typename Family::Protocol> m_protocol; //!< whose
};

/** The answers of a protocol's RouteOutput() for every address of the lab. */
template <class Family>
class AskedRoutes : public RouteReader
{
  public:
    AskedRoutes(Ptr<typename Family::Layer> ip,
                Ptr<typename Family::Protocol> protocol,
                LabAddresses known)
        : m_ip(std::move(ip)), m_protocol(std::move(protocol)), m_known(std::move(known))
    {
    }

    std::vector<RouteCandidate> Read() const override
    {
        std::vector<RouteCandidate> routes;
        if (!m_known)
        {
            return routes;
        }
        for (const auto& [address, mac] : *m_known)
        {
            if (address.family != Family::FAMILY)
            {
                continue;
            }
            const auto hop = ipfamily::Ask<Family>(m_ip, m_protocol, address);
            if (hop.interface >= 0)
            {
                routes.push_back({{address, address.Length() * 8},
                                  hop.gateway,
                                  static_cast<uint32_t>(hop.interface),
                                  0});
            }
        }
        return routes;
    }

    bool Watch(std::function<void()>) override
    {
        return false;
    }

  protected:
    Ptr<typename Family::Layer> m_ip;          //!< asks
    Ptr<typename Family::Protocol> m_protocol; //!< answers
    LabAddresses m_known;                      //!< the addresses
};

/** The table that a protocol prints; if that cannot be parsed, the answers of RouteOutput(). */
template <class Family>
class PrintedRoutes : public AskedRoutes<Family>
{
  public:
    using AskedRoutes<Family>::AskedRoutes;

    std::vector<RouteCandidate> Read() const override
    {
        std::ostringstream text;
        this->m_protocol->PrintRoutingTable(Create<OutputStreamWrapper>(&text), Time::S);
        const PrintedTable table = ParseRoutingTable(text.str());
        if (!table.recognized)
        {
            return AskedRoutes<Family>::Read();
        }
        std::vector<RouteCandidate> routes;
        for (const PrintedRoute& route : table.routes)
        {
            const auto interface = FindInterface(route.interface);
            if (interface && route.destination.address.family == Family::FAMILY)
            {
                routes.push_back({route.destination, route.gateway, *interface, route.metric});
            }
        }
        return routes;
    }

  private:
    /** The interface a printed route names: by index, device name, or one of its addresses. */
    std::optional<uint32_t> FindInterface(const std::string& text) const
    {
        const uint32_t n = this->m_ip->GetNInterfaces();
        if (!text.empty() && std::all_of(text.begin(), text.end(), ::isdigit))
        {
            const auto index = static_cast<uint32_t>(std::stoul(text));
            return index < n ? std::optional(index) : std::nullopt;
        }
        for (uint32_t i = 0; i < n; i++)
        {
            const auto addresses = ipfamily::AddressesOf(this->m_ip, i);
            if (Names::FindName(this->m_ip->GetNetDevice(i)) == text ||
                std::any_of(addresses.begin(), addresses.end(), [&](const IpPrefix& own) {
                    return own.address.ToString() == text;
                }))
            {
                return i;
            }
        }
        return std::nullopt;
    }
};

} // namespace

template <class Family>
PushedRoutes<Family>::PushedRoutes(Ptr<Object> protocol) : m_protocol(std::move(protocol))
{
}

template <class Family>
void
PushedRoutes<Family>::Add(const Entry& route)
{
    const RouteCandidate candidate = CandidateOf<Family>(route, 0);
    m_table[candidate.destination] = {candidate};
}

template <class Family>
void
PushedRoutes<Family>::Remove(const Entry& route)
{
    m_table.erase(CandidateOf<Family>(route, 0).destination);
}

template <class Family>
void
PushedRoutes<Family>::Update(const std::vector<Entry>& table)
{
    m_table.clear();
    for (const Entry& route : table)
    {
        const RouteCandidate candidate = CandidateOf<Family>(route, 0);
        m_table[candidate.destination].push_back(candidate);
    }
}

template <class Family>
std::vector<RouteCandidate>
PushedRoutes<Family>::Read() const
{
    std::vector<RouteCandidate> routes;
    for (const auto& [destination, equals] : m_table)
    {
        routes.insert(routes.end(), equals.begin(), equals.end());
    }
    return routes;
}

template <class Family>
bool
PushedRoutes<Family>::Watch(std::function<void()> changed)
{
    const auto connect = [&]<class Pushed>(const char* name,
                                           void (PushedRoutes::*take)(const Pushed&)) {
        // The protocol may outlive this object.
        auto pushed = [weak = this->weak_from_this(), take, changed](const Pushed& what) {
            if (auto self = weak.lock())
            {
                ((*self).*take)(what);
                changed();
            }
        };
        return m_protocol->GetInstanceTypeId().LookupTraceSourceByName(name) &&
               m_protocol->TraceConnectWithoutContext(name, Callback<void, const Pushed&>(pushed));
    };
    bool any = connect("RouteAdded", &PushedRoutes::Add);
    any |= connect("RouteRemoved", &PushedRoutes::Remove);
    any |= connect("RoutingTableUpdated", &PushedRoutes::Update);
    return any;
}

template <class Family>
std::shared_ptr<RouteReader>
MakeRouteReader(Ptr<typename Family::Layer> ip,
                Ptr<typename Family::Protocol> protocol,
                const LabAddresses& known)
{
    if (auto olsr = DynamicCast<olsr::RoutingProtocol>(Ptr<Object>(protocol)))
    {
        return std::make_shared<OlsrRoutes>(olsr);
    }
    if (ns3access::VisitRoutes(*protocol, [](const auto&, uint32_t) {}))
    {
        return std::make_shared<TypedRoutes<Family>>(protocol);
    }
    return std::make_shared<PrintedRoutes<Family>>(ip, protocol, known);
}

template class PushedRoutes<ipfamily::V4>;
template class PushedRoutes<ipfamily::V6>;
template std::shared_ptr<RouteReader> MakeRouteReader<ipfamily::V4>(Ptr<Ipv4>,
                                                                    Ptr<Ipv4RoutingProtocol>,
                                                                    const LabAddresses&);
template std::shared_ptr<RouteReader> MakeRouteReader<ipfamily::V6>(Ptr<Ipv6>,
                                                                    Ptr<Ipv6RoutingProtocol>,
                                                                    const LabAddresses&);

} // namespace ns3
