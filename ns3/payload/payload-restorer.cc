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

uint32_t g_nodes = 0; //!< number of nodes of NodeList that are watched

/**
 * Makes a packet whole that ns-3 shows to trace sinks. It is the same object that the IP layer
 * continues to process: there is no other place before a protocol reads it.
 */
void
Restore(Ptr<const Packet> packet)
{
    RestorePayload(const_cast<Packet&>(*packet), FirstHeader::IP);
}

/** Makes a packet whole whose IP header has been removed. */
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

/** Makes packets whole for a node that compares multicast packets with earlier ones (RFC 6621). */
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

/** @return whether ns-3 may send an ICMPv6 error before it reports the drop */
bool
MayBeQuoted(const Packet& packet, Ipv6L3Protocol& ip)
{
    Ipv6Header header;
    packet.PeekHeader(header);
    for (uint32_t i = 0; i < ip.GetNInterfaces(); ++i)
    {
        if (ip.GetMtu(i) < packet.GetSize())
        {
            return true; // too big
        }
    }
    return ip.GetInterfaceForAddress(header.GetDestination()) >= 0; // e.g. port unreachable
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

/** Makes a dropped packet whole: ns-3 sends its ICMPv6 error after it has reported the drop. */
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
