/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/payload/payload-restorer.h"

#include "ns3/payload/held-payloads.h"

#include "ns3/abort.h"
#include "ns3/base/ns3-access.h"
#include "ns3/boolean.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv6-interface.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/node-list.h"
#include "ns3/node.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <limits>
#include <string>

namespace ns3
{

namespace
{

uint32_t g_nodes = 0; //!< number of watched nodes, from the start of NodeList

/**
 * Restores the payload of a packet that ns-3 has passed to a trace sink. The function changes the
 * packet object itself: the IP layer continues to process this object, and calls no other hook
 * before a protocol reads the packet.
 */
void
Restore(Ptr<const Packet> packet)
{
    RestorePayload(const_cast<Packet&>(*packet), FirstHeader::IP);
}

/** Restores the payload of a packet whose IP header has been removed. */
template <class IpHeader>
void
RestoreBehind(const IpHeader& header, Ptr<const Packet> packet)
{
    if (!HasHeldPayload(*packet))
    {
        return;
    }
    Packet& content = const_cast<Packet&>(*packet);
    IpHeader removed;
    content.AddHeader(header);
    RestorePayload(content, FirstHeader::IP);
    content.RemoveHeader(removed);
}

void
HandleIpv4Rx(Ptr<const Packet> packet, Ptr<Ipv4> ip, uint32_t)
{
    auto protocol = static_cast<const Ipv4L3Protocol*>(PeekPointer(ip));
    if (ns3access::HasRawSockets(*protocol) && HasHeldPayload(*packet))
    {
        Restore(packet);
    }
}

/** Restores the payload of each packet that arrives at a node that compares multicast packets with
 * earlier packets (RFC 6621). */
void
HandleComparedRx(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t)
{
    if (HasHeldPayload(*packet))
    {
        Restore(packet);
    }
}

void
HandleIpv4Delivery(const Ipv4Header& header, Ptr<const Packet> packet, uint32_t)
{
    RestoreBehind(header, packet);
}

/** @return whether ns-3 may send an ICMPv6 error that quotes the packet before ns-3 reports that it
 * has dropped the packet */
bool
MayBeQuoted(const Packet& packet, Ipv6L3Protocol& ip)
{
    Ipv6Header header;
    packet.PeekHeader(header);
    for (uint32_t i = 0; i < ip.GetNInterfaces(); ++i)
    {
        if (ip.GetMtu(i) < packet.GetSize())
        {
            return true; // ns-3 may send the error "packet too big"
        }
    }
    // A packet for the node itself may cause errors such as "port unreachable".
    return ip.GetInterfaceForAddress(header.GetDestination()) >= 0;
}

void
HandleIpv6Rx(Ptr<const Packet> packet, Ptr<Ipv6> ip, uint32_t)
{
    if (!HasHeldPayload(*packet))
    {
        return;
    }
    auto protocol = static_cast<Ipv6L3Protocol*>(PeekPointer(ip));
    if (ns3access::HasRawSockets(*protocol) || MayBeQuoted(*packet, *protocol))
    {
        Restore(packet);
    }
}

void
HandleIpv6Delivery(const Ipv6Header& header, Ptr<const Packet> packet, uint32_t)
{
    RestoreBehind(header, packet);
}

/** Restores the payload of a dropped packet. After ns-3 has reported the drop, ns-3 sends the
 * ICMPv6 error that quotes the packet. */
void
HandleIpv6Drop(const Ipv6Header& header,
               Ptr<const Packet> packet,
               Ipv6L3Protocol::DropReason,
               Ptr<Ipv6>,
               uint32_t)
{
    RestoreBehind(header, packet);
}

void
CheckDevices(const Node& node)
{
    for (uint32_t i = 0; i < node.GetNDevices(); ++i)
    {
        const std::string type = node.GetDevice(i)->GetInstanceTypeId().GetName();
        NS_ABORT_MSG_IF(type == "ns3::FdNetDevice" || type == "ns3::TapBridge",
                        "RingNetDevice: HeaderBytes must be 0 in a simulation that has a "
                            << type << " (node " << node.GetId()
                            << "), which would send zeros instead of payloads");
    }
}

void
Watch(const Node& node)
{
    CheckDevices(node);
    if (Ptr<Ipv4L3Protocol> ip = node.GetObject<Ipv4L3Protocol>())
    {
        BooleanValue compares;
        ip->GetAttribute("EnableDuplicatePacketDetection", compares);
        ip->TraceConnectWithoutContext(
            "Rx", MakeCallback(compares.Get() ? &HandleComparedRx : &HandleIpv4Rx));
        ip->TraceConnectWithoutContext("LocalDeliver", MakeCallback(&HandleIpv4Delivery));
    }
    if (Ptr<Ipv6L3Protocol> ip = node.GetObject<Ipv6L3Protocol>())
    {
        ip->TraceConnectWithoutContext("Rx", MakeCallback(&HandleIpv6Rx));
        ip->TraceConnectWithoutContext("LocalDeliver", MakeCallback(&HandleIpv6Delivery));
        ip->TraceConnectWithoutContext("Drop", MakeCallback(&HandleIpv6Drop));
    }
}

} // namespace

void
RestorePayloadsWhereRead()
{
    if (g_nodes == 0)
    {
        Simulator::ScheduleDestroy(Callback<void>([] { g_nodes = 0; }));
    }
    for (; g_nodes < NodeList::GetNNodes(); ++g_nodes)
    {
        Watch(*NodeList::GetNode(g_nodes));
    }
}

} // namespace ns3
