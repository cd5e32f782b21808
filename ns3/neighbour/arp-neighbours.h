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
 * ARP (RFC 826) as implemented by Linux (net/ipv4/arp.c of Linux 6.18), in place of ns-3's, for the
 * interfaces of Add().
 *
 * ns-3's ArpL3Protocol, which IP interfaces call and which cannot be replaced, sends through the
 * traffic control layer that was set: this object. Its requests are therefore interpreted as the
 * information that a packet waits in an ArpCache for an address, and never sent; nor are its
 * replies. An entry of an ArpCache is alive while the neighbour may be used without a notification
 * of this object, and else dead and expired, so that the next packet makes ns-3 request it.
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
     * @param cache the cache of an interface whose neighbours are from now on resolved as by Linux;
     * no effect if they are already
     * @param limits the timers and limits
     */
    void Add(Ptr<ArpCache> cache, const NeighbourLimits& limits);

    /** Takes the messages of ns-3's ARP.
     * @param device the device
     * @param item a request or a reply */
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

    Ptr<Node> m_node;                                                  //!< the node
    Ptr<TrafficControlLayer> m_tc;                                     //!< the node's own layer
    std::map<Ptr<NetDevice>, std::unique_ptr<Interface>> m_interfaces; //!< interfaces by device
};

} // namespace ns3

#endif // VIADUCT_ARP_NEIGHBOURS_H
