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

/** @ingroup viaduct How a protocol's routes can be known. */
enum class RouteFinding
{
    TABLE,     //!< all are in its table; RouteOutput() has no effect
    ASKED,     //!< RouteOutput() tells each, and has no effect
    ON_DEMAND, //!< it looks for a route when RouteOutput() or RouteInput() is given a packet
    UNKNOWN,   //!< a protocol of a user: any of these
};

/**
 * @ingroup viaduct
 * The properties of a routing protocol that cannot be found out by asking it, because asking may
 * make it send. Those of ns-3's protocols are known; of another nothing is, so that it may do
 * everything.
 */
struct ProtocolTraits
{
    RouteFinding finding{RouteFinding::UNKNOWN}; //!< how its routes can be known
    bool mayRouteMulticast{true};                //!< its RouteInput() may forward packets to groups
    bool mayBeAsked{true}; //!< without a packet of a program, RouteOutput() for a destination to
                           //!< which it says to have a route
};

/**
 * @param protocol a routing protocol
 * @return its traits
 */
ProtocolTraits TraitsOf(Ptr<const Object> protocol);

/**
 * @param protocol a routing protocol's TypeId
 * @return its traits
 */
ProtocolTraits TraitsOf(TypeId protocol);

/**
 * From now on the traits of a user's protocol say that it is never asked without a packet of a
 * program, because it looks for routes when it is asked.
 * @param protocol its TypeId
 */
void LearnLooksForRoutes(TypeId protocol);

} // namespace ns3

#endif // VIADUCT_PROTOCOL_TRAITS_H
