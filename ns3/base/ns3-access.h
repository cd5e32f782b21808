/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_NS3_ACCESS_H
#define VIADUCT_NS3_ACCESS_H

#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/ptr.h"
#include "ns3/socket.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace ns3
{

class ArpCache;
class Ipv4L3Protocol;
class Ipv4RoutingProtocol;
class Ipv4RoutingTableEntry;
class Ipv4StaticRouting;
class Ipv6L3Protocol;
class Ipv6RoutingProtocol;
class Ipv6RoutingTableEntry;
class Ping;

namespace olsr
{
class RoutingProtocol;
}

/**
 * @ingroup viaduct
 * Functions that access private members of ns-3's classes; the only such access is in this file.
 *
 * ns-3 (3.44 to 3.48) has no public functions to give an IP interface another device, to list raw
 * sockets and protocol handlers, to correct Ping's list of requests, or to replace the action of an
 * application when a connection fails. ns3-access.cc reaches the private members by explicit
 * instantiation, to which C++ does not apply access checks ([temp.spec] p6), and checks the type of
 * each member at compile time. If a release of ns-3 renames or changes a member, only ns3-access.cc
 * fails to build.
 */
namespace ns3access
{

/** A protocol handler registered on a node. */
struct ProtocolHandler
{
    Node::ProtocolHandler handler; //!< the function to call
    Ptr<NetDevice> device;         //!< the device of the handler; null: all devices
    uint16_t protocol;             //!< the EtherType of the handler; 0: all
    bool promiscuous;              //!< whether the handler also receives frames for other hosts
};

/** Replaces a device by another device in an IP layer's map of devices to interfaces.
 * @param ipv4 the IP layer
 * @param oldDevice the device to remove
 * @param newDevice the device that takes over the interface
 */
void ReplaceInReverseMap(Ipv4L3Protocol& ipv4, Ptr<NetDevice> oldDevice, Ptr<NetDevice> newDevice);
/** Replaces a device by another device in an IPv6 layer's map of devices to interfaces.
 * @param ipv6 the IP layer
 * @param oldDevice the device to remove
 * @param newDevice the device that takes over the interface
 */
void ReplaceInReverseMap(Ipv6L3Protocol& ipv6, Ptr<NetDevice> oldDevice, Ptr<NetDevice> newDevice);

/**
 * @param ip the IP layer; null: the result is empty
 * @return the layer's raw sockets
 */
std::vector<Ptr<Socket>> RawSockets(Ptr<Ipv4L3Protocol> ip);
/**
 * @param ip the IPv6 layer; null: the result is empty
 * @return the layer's raw sockets
 */
std::vector<Ptr<Socket>> RawSockets(Ptr<Ipv6L3Protocol> ip);
/**
 * @param ip an IP layer
 * @return whether the layer has raw sockets
 */
bool HasRawSockets(const Ipv4L3Protocol& ip);
/**
 * @param ip an IPv6 layer
 * @return whether the layer has raw sockets
 */
bool HasRawSockets(const Ipv6L3Protocol& ip);
/**
 * Makes a packet use an existing list of packet tags. In ns-3, a packet, its copies and its
 * fragments share the tags of a list, even if a packet gets additional tags;
 * PacketTagList::TagData::count is the number of packets that share a tag.
 * @param packet a packet without packet tags
 * @param tags the tags
 */
void SharePacketTags(Packet& packet, const PacketTagList& tags);
/**
 * @param transport a UdpL4Protocol or TcpL4Protocol; null: the result is empty
 * @return the protocol's sockets
 */
std::vector<Ptr<Socket>> SocketsOf(Ptr<const Object> transport);

/**
 * @param node a node
 * @return the protocol handlers registered on the node, in order of registration
 */
std::vector<ProtocolHandler> ProtocolHandlers(const Node& node);

/**
 * @param protocol an OLSR routing protocol
 * @return the routes learned from HNA messages. (GetRoutingTableAssociation() is the table of
 *         announced routes, not of learned routes.)
 */
Ptr<const Ipv4StaticRouting> OlsrHnaTable(const olsr::RoutingProtocol& protocol);

/** A base that marks a class derived from ns3::Ipv4StaticRouting or Ipv6StaticRouting as one whose
 * unicast routes are all in the inherited table, so that VisitRoutes() may read the table. */
class InheritsUnicastTable
{
  public:
    virtual ~InheritsUnicastTable() = default;
};

/** A function that receives a route of a protocol's table and the route's metric (lower is better;
 * 0 without metrics). */
template <class Entry>
using RouteVisitor = std::function<void(const Entry& route, uint32_t metric)>;

/**
 * Calls a function for each unicast route in use of static, global or RIP routing, in linear time:
 * ns-3's public functions search the list of routes from its start for each route.
 * @param protocol a routing protocol
 * @param visit the function, called for each route
 * @return whether the routes were visited: true if the protocol's class is exactly one of ns-3's
 * classes of static, global and RIP routing, or if it derives from InheritsUnicastTable (another
 * derived class may have a separate table)
 */
bool VisitRoutes(const Ipv4RoutingProtocol& protocol,
                 const RouteVisitor<Ipv4RoutingTableEntry>& visit);
/**
 * Calls a function for each unicast route in use of static routing or RIPng, in linear time, like
 * the overload for IPv4.
 * @param protocol a routing protocol
 * @param visit the function, called for each route
 * @return whether the routes were visited; true for the classes for which the overload for IPv4
 * returns true
 */
bool VisitRoutes(const Ipv6RoutingProtocol& protocol,
                 const RouteVisitor<Ipv6RoutingTableEntry>& visit);

/**
 * Extends Ping's list of requests so that the index of the last request is its sequence number.
 * Ping appends only requests that its socket accepted, but looks up the request of an answer by its
 * sequence number, which is beyond the end of the list if the socket refused an earlier request
 * (src/internet-apps/model/ping.cc, 3.44 to 3.48). Must be called for each request sent (trace
 * source Tx).
 * @param ping the application
 * @param sequence the sequence number of the last request sent
 */
void KeepPlacesOfRefused(Ping& ping, uint16_t sequence);

/**
 * Makes Ping end without its final report. The report divides by the number of Ping's requests, so
 * it ends the process with signal 8 if Ping has sent no request (src/internet-apps/model/ping.cc,
 * 3.44 to 3.48).
 * @param ping the application
 */
void LeaveOutReport(Ping& ping);

/**
 * Replaces the callback that a socket calls when its connection fails, and keeps the callback for
 * success: ns-3's OnOffApplication ends the process when its connection fails
 * (src/applications/model/onoff-application.cc, 3.44).
 * @param socket an application's socket, which connects to a peer
 * @param failed the new callback, called with the socket
 */
void SetConnectionFailed(Socket& socket, Callback<void, Ptr<Socket>> failed);

/**
 * Makes TCP probe a zero window only while TCP has data to send (RFC 9293, section 3.8.6.1). ns-3's
 * persist timer (TcpSocketBase::PersistTimeout(), 3.44 to 3.48) also starts if a socket has no data
 * to send, even a listening socket. When the timer expires and there are no data, the function
 * dereferences a null pointer. Must be called after each segment that may have started the timer: a
 * segment without ACK or with a window of zero. Does nothing if the socket is not a TCP socket.
 * @param socket a socket
 */
void ProbeOnlyWithData(Ptr<Socket> socket);

/**
 * Calls the sinks of an ARP cache's trace source Drop.
 * @param cache the cache
 * @param packet a packet whose next hop was not resolved, with its IP header
 */
void TraceDrop(ArpCache& cache, Ptr<const Packet> packet);

/**
 * @return the time of the simulation's next event, in steps of ns-3's time resolution; the maximum
 * of uint64_t if there is no event; std::nullopt if the simulator is not a DefaultSimulatorImpl
 */
std::optional<uint64_t> NextEventTime();

} // namespace ns3access
} // namespace ns3

#endif // VIADUCT_NS3_ACCESS_H
