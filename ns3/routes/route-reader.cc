/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/routes/route-reader.h"

#include "ns3/routes/printed-routes.h"

#include "ns3/base/ns3-access.h"

#include "ns3/ipv4-static-routing.h"
#include "ns3/olsr-routing-protocol.h"

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

/** Reads OLSR's public table and OLSR's network associations (HNA). */
class OlsrRoutes : public RouteReader
{
  public:
    explicit OlsrRoutes(Ptr<olsr::RoutingProtocol> protocol) : m_protocol(std::move(protocol))
    {
    }

    std::vector<RouteCandidate> Read() override
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

    std::string GetMethod() const override
    {
        return "table of ns3::olsr";
    }

  private:
    Ptr<olsr::RoutingProtocol> m_protocol; //!< the protocol
};

/** Reads the table of one of ns-3's own protocols without printing it. */
template <class Family>
class TypedRoutes : public RouteReader
{
  public:
    explicit TypedRoutes(Ptr<typename Family::Protocol> protocol) : m_protocol(std::move(protocol))
    {
    }

    std::vector<RouteCandidate> Read() override
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

    std::string GetMethod() const override
    {
        return "table of " + m_protocol->GetInstanceTypeId().GetName();
    }

  private:
    Ptr<typename Family::Protocol> m_protocol; //!< the protocol
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
PushedRoutes<Family>::Read()
{
    std::vector<RouteCandidate> routes;
    for (const auto& [destination, equals] : m_table)
    {
        routes.insert(routes.end(), equals.begin(), equals.end());
    }
    return routes;
}

template <class Family>
std::string
PushedRoutes<Family>::GetMethod() const
{
    if (!m_distrust.empty())
    {
        return "decisions about packets";
    }
    return m_protocol ? "trace sources" : "calls";
}

template <class Family>
bool
PushedRoutes<Family>::IsByTable() const
{
    return m_distrust.empty();
}

template <class Family>
std::string
PushedRoutes<Family>::WhyIncomplete() const
{
    return m_distrust;
}

template <class Family>
void
PushedRoutes<Family>::Distrust(const std::string& reason)
{
    if (m_distrust.empty())
    {
        m_distrust = reason;
    }
}

template <class Family>
bool
PushedRoutes<Family>::Watch(std::function<void()> changed)
{
    const auto connect = [&]<class Pushed>(const char* name,
                                           void (PushedRoutes::*take)(const Pushed&)) {
        // The callback has a weak pointer, because the protocol may exist longer than the reader.
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
                const RouteQuestions& questions)
{
    if (auto olsr = DynamicCast<olsr::RoutingProtocol>(Ptr<Object>(protocol)))
    {
        return std::make_shared<OlsrRoutes>(olsr);
    }
    if (ns3access::VisitRoutes(*protocol, [](const auto&, uint32_t) {}))
    {
        return std::make_shared<TypedRoutes<Family>>(protocol);
    }
    return std::make_shared<routereader::PrintedRoutes<Family>>(ip, protocol, questions);
}

template class PushedRoutes<ipfamily::V4>;
template class PushedRoutes<ipfamily::V6>;
template std::shared_ptr<RouteReader> MakeRouteReader<ipfamily::V4>(Ptr<Ipv4>,
                                                                    Ptr<Ipv4RoutingProtocol>,
                                                                    const RouteQuestions&);
template std::shared_ptr<RouteReader> MakeRouteReader<ipfamily::V6>(Ptr<Ipv6>,
                                                                    Ptr<Ipv6RoutingProtocol>,
                                                                    const RouteQuestions&);

} // namespace ns3
