/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "protocol-traits.h"

#include <map>
#include <string>

namespace ns3
{

ProtocolTraits
TraitsOf(Ptr<const Object> protocol)
{
    static constexpr ProtocolTraits UNICAST{.mayFindRoutesOnDemand = true,
                                            .mayRouteMulticast = false};
    static constexpr ProtocolTraits PROACTIVE{.mayFindRoutesOnDemand = false,
                                              .mayRouteMulticast = false};
    static const std::map<std::string, ProtocolTraits> KNOWN{
        {"ns3::aodv::RoutingProtocol", UNICAST},
        {"ns3::dsdv::RoutingProtocol", PROACTIVE},
        {"ns3::olsr::RoutingProtocol", PROACTIVE},
        {"ns3::Ipv4GlobalRouting", PROACTIVE},
        {"ns3::Ipv6GlobalRouting", PROACTIVE},
        {"ns3::Ipv4NixVectorRouting", UNICAST},
        {"ns3::Ipv6NixVectorRouting", UNICAST},
        {"ns3::Rip", PROACTIVE},
        {"ns3::RipNg", PROACTIVE},
    };
    const auto known = KNOWN.find(protocol->GetInstanceTypeId().GetName());
    return known == KNOWN.end() ? ProtocolTraits() : known->second;
}

} // namespace ns3
