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
 * Access to private members of ns-3's classes, in this file only.
 *
 * ns-3 (3.44 to 3.48) has no public call to give an IP interface another device, none to list
 * raw sockets and protocol handlers, and none to repair the list of Ping's requests or the action
 * of an application when a connection fails. ns3-access.cc reaches the members by explicit
 * instantiation, for which the language lifts access checks ([temp.spec] p6), and checks the type
 * of each at compile time, so that a release that renames or changes one fails to build there and
 * nowhere else.
 */
namespace ns3access
{

/** A protocol handler registered on a node. */
struct ProtocolHandler
{
    Node::ProtocolHandler handler; //!< the function to call
    Ptr<NetDevice> device;         //!< the handler's device; null for all
    uint16_t protocol;             //!< EtherType; 0 for all
    bool promiscuous;              //!< whether it also receives frames for other hosts
};

/** Replaces a device in the device-to-interface map by another one.
 * @param ipv4 the IP layer
 * @param oldDevice the device to remove
 * @param newDevice the device that takes over the interface
 */
void ReplaceInReverseMap(Ipv4L3Protocol& ipv4, Ptr<NetDevice> oldDevice, Ptr<NetDevice> newDevice);
/** @copydoc ReplaceInReverseMap(Ipv4L3Protocol&,Ptr<NetDevice>,Ptr<NetDevice>)
 *  @param ipv6 the IP layer */
void ReplaceInReverseMap(Ipv6L3Protocol& ipv6, Ptr<NetDevice> oldDevice, Ptr<NetDevice> newDevice);

/**
 * @param ip the IP layer; null: none
 * @return the layer's raw sockets
 */
std::vector<Ptr<Socket>> RawSockets(Ptr<Ipv4L3Protocol> ip);
/** @copydoc RawSockets(Ptr<Ipv4L3Protocol>) */
std::vector<Ptr<Socket>> RawSockets(Ptr<Ipv6L3Protocol> ip);
/**
 * @param ip an IP layer
 * @return whether the layer has raw sockets
 */
bool HasRawSockets(const Ipv4L3Protocol& ip);
/** @copydoc HasRawSockets(const Ipv4L3Protocol&) */
bool HasRawSockets(const Ipv6L3Protocol& ip);
/**
 * Gives a packet packet tags that exist already: copies, fragments and packets with further tags
 * share them, and PacketTagList::TagData::count is the number of sharers.
 * @param packet a packet without packet tags
 * @param tags the tags
 */
void SharePacketTags(Packet& packet, const PacketTagList& tags);
/**
 * @param transport UdpL4Protocol or TcpL4Protocol; null: none
 * @return the protocol's sockets
 */
std::vector<Ptr<Socket>> SocketsOf(Ptr<const Object> transport);

/**
 * @param node a node
 * @return the protocol handlers registered on it, in order of registration
 */
std::vector<ProtocolHandler> ProtocolHandlers(const Node& node);

/**
 * @param protocol OLSR
 * @return the routes learned from HNA messages. (GetRoutingTableAssociation() is the table of
 *         announced routes, not of learned ones.)
 */
Ptr<const Ipv4StaticRouting> OlsrHnaTable(const olsr::RoutingProtocol& protocol);

/** A base of classes derived from ns3::Ipv4StaticRouting or Ipv6StaticRouting whose unicast routes
 * are those of the inherited table, so that VisitRoutes() may read it. */
class InheritsUnicastTable
{
  public:
    virtual ~InheritsUnicastTable() = default;
};

/** Takes a route of a protocol's table, and its metric (lower is better; 0 without metrics). */
template <class Entry>
using RouteVisitor = std::function<void(const Entry& route, uint32_t metric)>;

/**
 * Visits the unicast routes in use of static, global and RIP routing, in no more time than that
 * takes: the public calls of ns-3 search the list from its start for each route.
 * @param protocol a protocol
 * @param visit called for each route
 * @return whether the protocol is one of these classes itself; a derived class may have a separate
 * table, unless it derives from InheritsUnicastTable
 */
bool VisitRoutes(const Ipv4RoutingProtocol& protocol,
                 const RouteVisitor<Ipv4RoutingTableEntry>& visit);
/** @copydoc VisitRoutes(const Ipv4RoutingProtocol&,const RouteVisitor<Ipv4RoutingTableEntry>&) */
bool VisitRoutes(const Ipv6RoutingProtocol& protocol,
                 const RouteVisitor<Ipv6RoutingTableEntry>& visit);

/**
 * Extends Ping's list of requests to the length of their sequence numbers: Ping appends only
 * requests that its socket accepted, but finds answers by number, beyond the end of the list if a
 * request was refused before (src/internet-apps/model/ping.cc, 3.44 to 3.48). Must be called for
 * each request sent (trace source Tx).
 * @param ping the application
 * @param sequence the number of the last request sent
 */
void KeepPlacesOfRefused(Ping& ping, uint16_t sequence);

/**
 * Lets Ping end without its report, which divides by the number of its requests, and so ends the
 * process with signal 8 if it has sent none (src/internet-apps/model/ping.cc, 3.44 to 3.48).
 * @param ping the application
 */
void LeaveOutReport(Ping& ping);

/**
 * Replaces only the callback for a connection that cannot be made: ns-3's OnOffApplication ends the
 * process in that case (src/applications/model/onoff-application.cc, 3.44).
 * @param socket a socket of a connection that an application makes
 * @param failed called with the socket
 */
void SetConnectionFailed(Socket& socket, Callback<void, Ptr<Socket>> failed);

/**
 * Makes TCP probe a window of zero only while it has data to send (RFC 9293, section 3.8.6.1).
 * ns-3's timer (TcpSocketBase::PersistTimeout(), 3.44 to 3.48) also starts without any, for a
 * listening socket too, and reads the data through a null pointer when it expires. Must be called
 * after a segment that may have started it: one without ACK or with a window of zero.
 * @param socket a socket; no effect unless it is a TCP socket
 */
void ProbeOnlyWithData(Ptr<Socket> socket);

/**
 * Calls the sinks of an ARP cache's trace source Drop.
 * @param cache the cache
 * @param packet a packet whose next hop was not resolved, with its IP header
 */
void TraceDrop(ArpCache& cache, Ptr<const Packet> packet);

/**
 * @return the time of the next event of the simulation, in steps of the time resolution (the
 * largest number: there is none); none if the implementation is not DefaultSimulatorImpl
 */
std::optional<uint64_t> NextEventTime();

} // namespace ns3access
} // namespace ns3

#endif // VIADUCT_NS3_ACCESS_H
