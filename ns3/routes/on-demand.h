/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_ON_DEMAND_H
#define VIADUCT_ON_DEMAND_H

#include "ns3/base/ip-family.h"

#include "ns3/node.h"
#include "ns3/ptr.h"

#include <functional>

namespace ns3
{

/**
 * @ingroup viaduct
 * Returns whether one of a node's routing protocols looks for a route only when a packet needs one.
 * If such a protocol of ns-3 has no route to a destination, the protocol answers a query with a
 * route through the loopback device. The packet then returns to the protocol's RouteInput(), which
 * keeps the packet until the route is found. The result is known for ns-3's own protocols, and for
 * the types passed to LearnLooksForRoutes(); no protocol is queried.
 * @param node the node
 * @return whether a protocol of this version of IP looks for routes only when packets need them
 */
template <class Family>
bool FindsRoutesOnDemand(Ptr<Node> node);

/**
 * @ingroup viaduct
 * Returns whether packets without a route must be given to a node's routing protocols, because one
 * of the protocols finds routes on demand, or is a user's own protocol, which may find routes on
 * demand. No protocol is queried.
 * @param node the node
 * @return whether packets of this version of IP must be given to the protocols
 */
template <class Family>
bool MayFindRoutesOnDemand(Ptr<Node> node);

/** A protocol's answer to a query with a packet, and side effects of the query. */
struct ProtocolAnswer
{
    ipfamily::NextHop hop;  //!< the next hop
    bool isDeferred{false}; //!< whether the packet must return through the loopback device
    bool isSending{false};  //!< whether packets were sent during the query

    /** @return whether the query made the protocol look for a route */
    bool IsOnDemand() const
    {
        return isDeferred || isSending;
    }
};

/**
 * Queries a protocol's RouteOutput() with a packet, as a program's packet would, and observes
 * whether the protocol sends packets at once.
 * @param ip the IP layer
 * @param protocol one of the layer's protocols, or the layer's main protocol
 * @param destination the packet's destination
 * @return the protocol's answer
 */
template <class Family>
ProtocolAnswer AskWithPacket(Ptr<typename Family::Layer> ip,
                             Ptr<typename Family::Protocol> protocol,
                             const viaduct::wire::IpAddress& destination);

/** A function that receives a packet that a protocol forwards, at once or after the protocol has
 * found the route. */
template <class Family>
using ForwardedCallback = std::function<void(Ptr<typename Family::Route> route,
                                             Ptr<const Packet> packet,
                                             const typename Family::Header& header)>;

/**
 * Gives a packet to the routing protocol of a node, as the node's IP layer would. A packet for the
 * node itself or for a group is discarded.
 * @param ip the IP layer
 * @param packet the packet without its header
 * @param header the packet's header, as received
 * @param from the device that received the packet; the loopback device if RouteOutput() returned a
 * route through it
 * @param forwarded called with the packet; the TTL or hop limit is reduced by one, and the source
 * address is the original address. A protocol that kept a packet of the node sets the source
 * address to the address of the interface by which the packet leaves, but the checksum of a
 * program's packet covers the original address
 * @param dropped called if the protocol drops the packet
 * @return whether the protocol has accepted the packet
 */
template <class Family>
bool InputToProtocol(Ptr<typename Family::Layer> ip,
                     Ptr<Packet> packet,
                     const typename Family::Header& header,
                     Ptr<NetDevice> from,
                     const ForwardedCallback<Family>& forwarded,
                     const std::function<void(Ptr<const Packet> packet)>& dropped);

} // namespace ns3

#endif // VIADUCT_ON_DEMAND_H
