/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_ARP_NEIGHBOURS_H
#define VIADUCT_ARP_NEIGHBOURS_H

#include "ns3/neighbour/neighbour-table.h"

#include "ns3/arp-cache.h"
#include "ns3/arp-header.h"
#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/traffic-control-layer.h"

#include <map>
#include <memory>

namespace ns3
{

/**
 * @ingroup viaduct
 * ARP (RFC 826) as implemented by Linux (net/ipv4/arp.c of Linux 6.18), which replaces ns-3's ARP
 * on the interfaces that are passed to Add().
 *
 * IP interfaces call ns-3's ArpL3Protocol, which cannot be replaced. This object is set as the
 * traffic control layer of ArpL3Protocol, and therefore receives the messages that ArpL3Protocol
 * sends. The object does not pass on these requests and replies: a request only informs the object
 * that a packet waits in an ArpCache for an address. An entry of an ArpCache is alive while the
 * neighbour's address may be used without a notification of this object. Otherwise the entry is
 * dead and expired, so that ArpL3Protocol sends a request for the next packet.
 */
class ArpNeighbours : public TrafficControlLayer
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();
    /** @param node the node, which has ns-3's ARP */
    explicit ArpNeighbours(Ptr<Node> node);
    ~ArpNeighbours() override;

    /**
     * Makes an interface resolve its neighbours as Linux does. Does nothing if the cache has been
     * added already.
     * @param cache the interface's ArpCache
     * @param limits the timers and limits
     */
    void Add(Ptr<ArpCache> cache, const NeighbourLimits& limits);

    /** Receives the messages that ns-3's ArpL3Protocol sends.
     * @param device the device
     * @param item an ARP request or reply */
    void Send(Ptr<NetDevice> device, Ptr<QueueDiscItem> item) override;

  protected:
    void DoDispose() override;

  private:
    class Interface;

    void HandleMessage(Ptr<NetDevice> device,
                       Ptr<const Packet> packet,
                       uint16_t protocol,
                       const Address& from,
                       const Address& to,
                       NetDevice::PacketType type);

    Ptr<Node> m_node;              //!< the node
    Ptr<TrafficControlLayer> m_tc; //!< the node's own traffic control layer
    std::map<Ptr<NetDevice>, std::unique_ptr<Interface>> m_interfaces; //!< interfaces by device
};

} // namespace ns3

#endif // VIADUCT_ARP_NEIGHBOURS_H
