/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_PROTOCOL_TRAITS_H
#define VIADUCT_PROTOCOL_TRAITS_H

#include "ns3/object.h"
#include "ns3/ptr.h"

namespace ns3
{

/**
 * @ingroup viaduct
 * What cannot be found out by asking a routing protocol. Here are those of ns-3 itself; of another
 * nothing is known, so that it may do everything.
 */
struct ProtocolTraits
{
    bool mayFindRoutesOnDemand{true}; //!< the packets that it keeps wait for the answer to a
                                      //!< request, not for its neighbours' next announcement
    bool mayRouteMulticast{true};     //!< its RouteInput() may forward packets to groups
};

/**
 * @param protocol a routing protocol
 * @return its traits
 */
ProtocolTraits TraitsOf(Ptr<const Object> protocol);

} // namespace ns3

#endif // VIADUCT_PROTOCOL_TRAITS_H
