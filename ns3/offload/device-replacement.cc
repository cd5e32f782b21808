/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/offload/device-replacement.h"

#include "ns3/base/ns3-access.h"
#include "ns3/frames/frame-forwarder.h"
#include "ns3/wmrp/rbridge.h"

#include "ns3/arp-l3-protocol.h"
#include "ns3/icmpv6-l4-protocol.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv6-interface.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/log.h"
#include "ns3/ndisc-cache.h"
#include "ns3/traffic-control-layer.h"
#include "ns3/udp-l4-protocol.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("DeviceReplacement");

namespace
{

void
CopyHandlers(Ptr<Node> node, Ptr<NetDevice> oldDevice, Ptr<NetDevice> newDevice)
{
    for (const auto& entry : ns3access::ProtocolHandlers(*node))
    {
        if (entry.device == oldDevice)
        {
            node->RegisterProtocolHandler(
                entry.handler, entry.protocol, newDevice, entry.promiscuous);
        }
    }
}

void
ReplaceInIpv4(Ptr<Node> node, Ptr<NetDevice> oldDevice, Ptr<NetDevice> newDevice)
{
    Ptr<Ipv4L3Protocol> ipv4 = node->GetObject<Ipv4L3Protocol>();
    const int32_t index = ipv4 ? ipv4->GetInterfaceForDevice(oldDevice) : -1;
    if (index < 0)
    {
        return;
    }
    ns3access::ReplaceInReverseMap(*ipv4, oldDevice, newDevice);
    ipv4->GetInterface(index)->SetDevice(newDevice); // SetDevice() also makes a new ARP cache
    Ptr<TrafficControlLayer> tc = node->GetObject<TrafficControlLayer>();
    tc->RegisterProtocolHandler(
        MakeCallback(&Ipv4L3Protocol::Receive, ipv4), Ipv4L3Protocol::PROT_NUMBER, newDevice);
    tc->RegisterProtocolHandler(
        MakeCallback(&ArpL3Protocol::Receive, node->GetObject<ArpL3Protocol>()),
        ArpL3Protocol::PROT_NUMBER,
        newDevice);
}

void
ReplaceInIpv6(Ptr<Node> node, Ptr<NetDevice> oldDevice, Ptr<NetDevice> newDevice)
{
    Ptr<Ipv6L3Protocol> ipv6 = node->GetObject<Ipv6L3Protocol>();
    const int32_t index = ipv6 ? ipv6->GetInterfaceForDevice(oldDevice) : -1;
    if (index < 0)
    {
        return;
    }
    ns3access::ReplaceInReverseMap(*ipv6, oldDevice, newDevice);
    Ptr<Ipv6Interface> interface = ipv6->GetInterface(index);
    interface->SetDevice(newDevice);
    if (Ptr<NdiscCache> cache = interface->GetNdiscCache())
    {
        cache->Flush();
        cache->SetDevice(newDevice, interface, node->GetObject<Icmpv6L4Protocol>());
    }
    node->GetObject<TrafficControlLayer>()->RegisterProtocolHandler(
        MakeCallback(&Ipv6L3Protocol::Receive, ipv6), Ipv6L3Protocol::PROT_NUMBER, newDevice);
}

/** Binds sockets to the new device. Protocols (DSDV, AODV) bound these sockets to the old device
 * when the interface of the old device came up. */
void
Rebind(const std::vector<Ptr<Socket>>& sockets, Ptr<NetDevice> oldDevice, Ptr<NetDevice> newDevice)
{
    for (const auto& socket : sockets)
    {
        if (socket->GetBoundNetDevice() == oldDevice)
        {
            socket->BindToNetDevice(newDevice);
        }
    }
}

} // namespace

void
ReplaceDevice(Ptr<Node> node, Ptr<NetDevice> oldDevice, Ptr<NetDevice> newDevice)
{
    NS_LOG_FUNCTION(node << oldDevice << newDevice);
    NS_ABORT_MSG_IF(oldDevice->GetNode() != node,
                    "the device to replace does not belong to the node");
    if (newDevice->GetNode() != node)
    {
        node->AddDevice(newDevice);
    }
    CopyHandlers(node, oldDevice, newDevice);
    if (auto rbridge = node->GetObject<RBridge>())
    {
        rbridge->ReplaceDevice(oldDevice, newDevice);
    }
    if (auto forwarder = node->GetObject<FrameForwarder>())
    {
        forwarder->ReplaceDevice(oldDevice, newDevice);
    }
    ReplaceInIpv4(node, oldDevice, newDevice);
    ReplaceInIpv6(node, oldDevice, newDevice);
    Rebind(ns3access::SocketsOf(node->GetObject<UdpL4Protocol>()), oldDevice, newDevice);
    Rebind(ns3access::RawSockets(node->GetObject<Ipv4L3Protocol>()), oldDevice, newDevice);
    Rebind(ns3access::RawSockets(node->GetObject<Ipv6L3Protocol>()), oldDevice, newDevice);
}

} // namespace ns3
