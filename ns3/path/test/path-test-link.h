/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_PATH_TEST_LINK_H
#define VIADUCT_PATH_TEST_LINK_H

#include "ns3/mac48-address.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/packet.h"
#include "ns3/path/path-channel.h"
#include "ns3/path/path-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <string>
#include <vector>

/**
 * @file
 * @ingroup viaduct
 * A fixture for tests of PathChannel: two or more nodes on one channel.
 */

namespace ns3::viaducttest
{

constexpr uint16_t PROTOCOL = 0x88b5; //!< EtherType for local experiments (IEEE 802)

/** Nodes on a channel, and the frames that the nodes received. */
struct TestLink
{
    /** A frame that arrived. */
    struct Arrival
    {
        Time at;            //!< time of arrival
        Ptr<Packet> packet; //!< payload of the Ethernet frame
    };

    /**
     * @param up the channel's attribute Up: the SPEC of frames from the first node, or from all
     * nodes if there are more than two
     * @param down the channel's attribute Down: the SPEC of frames from the second node
     * @param n the number of nodes
     */
    TestLink(const std::string& up, const std::string& down, uint32_t n = 2) : nodes(n)
    {
        PathHelper helper;
        helper.SetChannelAttribute("Name", StringValue("wire"));
        helper.SetChannelAttribute("Up", StringValue(up));
        helper.SetChannelAttribute("Down", StringValue(down));
        devices = helper.Install(nodes);
        path = DynamicCast<PathChannel>(devices.Get(0)->GetChannel());
        arrivals.resize(n);
        for (uint32_t i = 0; i < n; i++)
        {
            auto receive = [this,
                            i](Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address&) {
                arrivals[i].push_back({Simulator::Now(), packet->Copy()});
                return true;
            };
            devices.Get(i)->SetReceiveCallback(NetDevice::ReceiveCallback(receive));
        }
    }

    /**
     * Sends a packet at a given time.
     * @param from the number of the sending node
     * @param at the time of sending
     * @param packet the packet, sent to the broadcast address
     */
    void SendAt(uint32_t from, Time at, Ptr<Packet> packet)
    {
        auto send = [this, from, packet]() {
            devices.Get(from)->Send(packet, Mac48Address::GetBroadcast(), PROTOCOL);
        };
        Simulator::ScheduleWithContext(nodes.Get(from)->GetId(), at, send);
    }

    NodeContainer nodes;                        //!< all nodes
    NetDeviceContainer devices;                 //!< one device per node
    Ptr<PathChannel> path;                      //!< the nodes' channel
    std::vector<std::vector<Arrival>> arrivals; //!< arrivals by node
};

} // namespace ns3::viaducttest

#endif // VIADUCT_PATH_TEST_LINK_H
