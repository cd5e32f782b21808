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
 * The one place that reaches private members of ns-3's classes.
 *
 * ns-3 (3.44 to 3.48) has no public call to give an IP interface another device, none to list
 * raw sockets and protocol handlers, and none to mend the list of Ping's requests or what an
 * application does when a connection fails. ns3-access.cc
 * reaches the members by explicit instantiation, where the language lifts access checks
 * ([temp.spec] p6), and checks the type of each at compile time, so that a release that renames or
 * changes one fails to build there and nowhere else.
 */
namespace ns3access
{

/** A protocol handler registered on a node. */
struct ProtocolHandler
{
    Node::ProtocolHandler handler; //!< what is called
    Ptr<NetDevice> device;         //!< the device it is for; null for all
    uint16_t protocol;             //!< EtherType; 0 for all
    bool promiscuous;              //!< also frames for other hosts
};

/** Replaces a device in the device-to-interface map by another one.
 * @param ipv4 the IP layer
 * @param oldDevice the device to remove
 * @param newDevice the device that takes its interface
 */
void ReplaceInReverseMap(Ipv4L3Protocol& ipv4, Ptr<NetDevice> oldDevice, Ptr<NetDevice> newDevice);
/** @copydoc ReplaceInReverseMap(Ipv4L3Protocol&,Ptr<NetDevice>,Ptr<NetDevice>)
 *  @param ipv6 the IP layer */
void ReplaceInReverseMap(Ipv6L3Protocol& ipv6, Ptr<NetDevice> oldDevice, Ptr<NetDevice> newDevice);

/**
 * @param ip the IP layer; null: none
 * @return its raw sockets
 */
std::vector<Ptr<Socket>> RawSockets(Ptr<Ipv4L3Protocol> ip);
/** @copydoc RawSockets(Ptr<Ipv4L3Protocol>) */
std::vector<Ptr<Socket>> RawSockets(Ptr<Ipv6L3Protocol> ip);
/**
 * @param ip an IP layer
 * @return whether it has raw sockets
 */
bool HasRawSockets(const Ipv4L3Protocol& ip);
/** @copydoc HasRawSockets(const Ipv4L3Protocol&) */
bool HasRawSockets(const Ipv6L3Protocol& ip);
/**
 * Give a packet packet tags that exist already: copies, fragments and those who add further tags
 * share them, and PacketTagList::TagData::count is the number of those who do.
 * @param packet a packet without packet tags
 * @param tags the tags
 */
void SharePacketTags(Packet& packet, const PacketTagList& tags);
/**
 * @param transport UdpL4Protocol or TcpL4Protocol; null: none
 * @return its sockets
 */
std::vector<Ptr<Socket>> SocketsOf(Ptr<const Object> transport);

/**
 * @param node a node
 * @return the protocol handlers registered on it, in order of registration
 */
std::vector<ProtocolHandler> ProtocolHandlers(const Node& node);

/**
 * @param protocol OLSR
 * @return the routes it has learned from HNA messages. (GetRoutingTableAssociation() is the table
 *         it announces, not the one it learns.)
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
 * @return whether it is one of these classes itself; a derived one may have a table of its own,
 * unless it says that it has not (InheritsUnicastTable)
 */
bool VisitRoutes(const Ipv4RoutingProtocol& protocol,
                 const RouteVisitor<Ipv4RoutingTableEntry>& visit);
/** @copydoc VisitRoutes(const Ipv4RoutingProtocol&,const RouteVisitor<Ipv4RoutingTableEntry>&) */
bool VisitRoutes(const Ipv6RoutingProtocol& protocol,
                 const RouteVisitor<Ipv6RoutingTableEntry>& visit);

/**
 * Makes Ping's list of requests as long as their sequence numbers say: it appends those only that
 * its socket took, but looks answers up by number, beyond the end of the list if one was refused
 * before (src/internet-apps/model/ping.cc, 3.44 to 3.48). To be called for each request sent (trace
 * source Tx).
 * @param ping the application
 * @param sequence the number of the request that it sent last
 */
void KeepPlacesOfRefused(Ping& ping, uint16_t sequence);

/**
 * Lets Ping end without its report, which divides by the number of its requests, and so ends the
 * process with signal 8 if it has sent none (src/internet-apps/model/ping.cc, 3.44 to 3.48).
 * @param ping the application
 */
void LeaveOutReport(Ping& ping);

/**
 * Replaces what is called when a connection cannot be made, and only that: ns-3's OnOffApplication
 * ends the process then (src/applications/model/onoff-application.cc, 3.44).
 * @param socket a socket of a connection that an application makes
 * @param failed gets the socket
 */
void SetConnectionFailed(Socket& socket, Callback<void, Ptr<Socket>> failed);

/**
 * Makes TCP probe a window of zero only while it has data to send (RFC 9293, section 3.8.6.1).
 * ns-3's timer (TcpSocketBase::PersistTimeout(), 3.44 to 3.48) also starts without any, for a
 * listening socket too, and reads the data through a null pointer when it expires. To be called
 * after a segment that may have started it: one without ACK or with a window of zero.
 * @param socket a socket; of TCP, or nothing is done
 */
void ProbeOnlyWithData(Ptr<Socket> socket);

/**
 * Calls what is connected to an ARP cache's trace source Drop.
 * @param cache the cache
 * @param packet a packet whose next hop was not resolved, with its IP header
 */
void TraceDrop(ArpCache& cache, Ptr<const Packet> packet);

/**
 * @return when the next event of the simulation is due, in steps of the time resolution (the
 * largest number: there is none); nothing if the implementation is not DefaultSimulatorImpl
 */
std::optional<uint64_t> NextEventTime();

} // namespace ns3access
} // namespace ns3

#endif // VIADUCT_NS3_ACCESS_H
