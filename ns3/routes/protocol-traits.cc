/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/routes/protocol-traits.h"

#include <map>
#include <set>
#include <string>

namespace ns3
{

namespace
{

/** Returns the users' protocols that look for routes when they are queried. */
std::set<TypeId>&
Looking()
{
    static std::set<TypeId> types;
    return types;
}

} // namespace

ProtocolTraits
TraitsOf(Ptr<const Object> protocol)
{
    return TraitsOf(protocol->GetInstanceTypeId());
}

ProtocolTraits
TraitsOf(TypeId protocol)
{
    static constexpr ProtocolTraits TABLE{.finding = RouteFinding::TABLE,
                                          .mayRouteMulticast = false};
    static constexpr ProtocolTraits STATIC{.finding = RouteFinding::TABLE,
                                           .mayRouteMulticast = true};
    static constexpr ProtocolTraits ASKED{.finding = RouteFinding::ASKED,
                                          .mayRouteMulticast = false};
    static constexpr ProtocolTraits ON_DEMAND{.finding = RouteFinding::ON_DEMAND,
                                              .mayRouteMulticast = false};
    // DSDV is not on demand: it also keeps packets without a route, but does not look for a route;
    // it waits for the next announcement of its neighbours.
    static const std::map<std::string, ProtocolTraits> KNOWN{
        {"ns3::aodv::RoutingProtocol", ON_DEMAND},
        {"ns3::dsdv::RoutingProtocol", TABLE},
        {"ns3::olsr::RoutingProtocol", TABLE},
        {"ns3::Ipv4StaticRouting", STATIC},
        {"ns3::Ipv6StaticRouting", STATIC},
        {"ns3::Ipv4GlobalRouting", TABLE},
        {"ns3::Ipv6GlobalRouting", TABLE},
        {"ns3::Ipv4NixVectorRouting", ASKED},
        {"ns3::Ipv6NixVectorRouting", ASKED},
        {"ns3::Rip", TABLE},
        {"ns3::RipNg", TABLE},
    };
    const auto known = KNOWN.find(protocol.GetName());
    ProtocolTraits traits = known == KNOWN.end() ? ProtocolTraits() : known->second;
    traits.mayBeAsked = !Looking().contains(protocol);
    return traits;
}

void
LearnLooksForRoutes(TypeId protocol)
{
    Looking().insert(protocol);
}

} // namespace ns3
