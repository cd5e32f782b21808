/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_ON_DEMAND_H
#define VIADUCT_ON_DEMAND_H

#include "ns3/ip-family.h"

#include "ns3/node.h"
#include "ns3/ptr.h"

#include <functional>

namespace ns3
{

/**
 * @ingroup viaduct
 * Whether one of a node's routing protocols looks for a route only when a packet needs one. Such a
 * protocol of ns-3 answers a query for a destination without a route by a route through the
 * loopback device: the packet comes back to its RouteInput(), which keeps it until the route is
 * found. Known of ns-3's own protocols, and of those that LearnLooksForRoutes() was told of;
 * nothing is asked.
 * @param node the node
 * @return whether one does so for packets of this version of IP
 */
template <class Family>
bool FindsRoutesOnDemand(Ptr<Node> node);

/**
 * @ingroup viaduct
 * Whether packets without a route must be given to a node's routing protocols, because one finds
 * routes on demand, or may do so: nothing is known of a user's own. Nothing is asked.
 * @param node the node
 * @return whether it is so for packets of this version of IP
 */
template <class Family>
bool MayFindRoutesOnDemand(Ptr<Node> node);

/** A protocol's answer to a question with a packet, and what else it did. */
struct ProtocolAnswer
{
    ipfamily::NextHop hop;  //!< the next hop
    bool isDeferred{false}; //!< it wants the packet back through the loopback device
    bool isSending{false};  //!< it sent packets while it was asked

    /** @return whether the question made it look for a route */
    bool IsOnDemand() const
    {
        return isDeferred || isSending;
    }
};

/**
 * Asks a protocol's RouteOutput() with a packet, as a program's packet would, and watches whether
 * it sends something at once.
 * @param ip the IP layer
 * @param protocol one of its protocols, or the one of the layer itself
 * @param destination the destination
 * @return the answer
 */
template <class Family>
ProtocolAnswer AskWithPacket(Ptr<typename Family::Layer> ip,
                             Ptr<typename Family::Protocol> protocol,
                             const viaduct::wire::IpAddress& destination);

/** Takes a packet that a protocol forwards, now or when it has found the route. */
template <class Family>
using ForwardedCallback = std::function<void(Ptr<typename Family::Route> route,
                                             Ptr<const Packet> packet,
                                             const typename Family::Header& header)>;

/**
 * Gives a packet to the node's routing protocol, as its IP layer would. What is for the node itself
 * or for a group is discarded.
 * @param ip the IP layer
 * @param packet what follows the header
 * @param header the packet's, as it came in
 * @param from the device that it came in by; the loopback device if RouteOutput() said so
 * @param forwarded gets the packet with one hop counted (TTL, hop limit) and the source address
 * that it came with: a protocol that kept a packet of the node gives it the address of the
 * interface that it leaves through, but the checksum of a program's packet covers its own
 * @param dropped called if the protocol gives it up
 * @return whether the protocol has taken it
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
