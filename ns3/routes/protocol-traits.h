/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_PROTOCOL_TRAITS_H
#define VIADUCT_PROTOCOL_TRAITS_H

#include "ns3/object.h"
#include "ns3/ptr.h"
#include "ns3/type-id.h"

namespace ns3
{

/** @ingroup viaduct The method of reading a protocol's routes. */
enum class RouteFinding
{
    TABLE,     //!< all routes are in the table; RouteOutput() has no side effects
    ASKED,     //!< RouteOutput() returns each route, and has no side effects
    ON_DEMAND, //!< the protocol looks for a route when RouteOutput() or RouteInput() gets a packet
    UNKNOWN,   //!< a user's protocol, which may behave in any of these ways
};

/**
 * @ingroup viaduct
 * The properties of a routing protocol that cannot be determined by a query, because a query may
 * make the protocol send packets. The traits of ns-3's protocols are known; any other protocol is
 * assumed to have all effects.
 */
struct ProtocolTraits
{
    RouteFinding finding{RouteFinding::UNKNOWN}; //!< the method of reading the routes
    bool mayRouteMulticast{true};                //!< whether RouteInput() may forward multicast
    /** Whether RouteOutput() may be called without a packet of a program, for a destination to
     * which the protocol reports a route. */
    bool mayBeAsked{true};
};

/**
 * @param protocol a routing protocol
 * @return the protocol's traits
 */
ProtocolTraits TraitsOf(Ptr<const Object> protocol);

/**
 * @param protocol a routing protocol's TypeId
 * @return the protocol's traits
 */
ProtocolTraits TraitsOf(TypeId protocol);

/**
 * Records that a user's protocol looks for routes when it is queried, so that its traits forbid
 * queries without a packet of a program.
 * @param protocol the protocol's TypeId
 */
void LearnLooksForRoutes(TypeId protocol);

} // namespace ns3

#endif // VIADUCT_PROTOCOL_TRAITS_H
