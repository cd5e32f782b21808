/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_NDISC_NEIGHBOURS_H
#define VIADUCT_NDISC_NEIGHBOURS_H

#include "ns3/neighbour/neighbour-table.h"

#include "ns3/callback.h"
#include "ns3/icmpv6-l4-protocol.h"
#include "ns3/ipv6-interface.h"
#include "ns3/ndisc-cache.h"

namespace ns3
{

/**
 * @ingroup viaduct
 * Neighbour discovery (RFC 4861) as implemented by Linux (net/ipv6/ndisc.c of Linux 6.18), which
 * replaces ns-3's neighbour discovery on one interface. The object is the interface's ICMPv6
 * protocol: it resolves addresses, and passes all other messages to the node's ICMPv6. The object
 * also writes the neighbours into ns-3's NdiscCache, for ns-3.
 */
class NdiscNeighbours : public Icmpv6L4Protocol, public NeighbourTable::Link
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    /**
     * @param icmpv6 the node's ICMPv6
     * @param interface one of the node's interfaces
     * @param limits the timers and limits
     */
    NdiscNeighbours(Ptr<Icmpv6L4Protocol> icmpv6,
                    Ptr<Ipv6Interface> interface,
                    const NeighbourLimits& limits);

    /** Sets the function that is called for each dropped packet.
     * @param dropped called with each packet that was dropped because its neighbour did not answer;
     * the packet includes its IPv6 header */
    void SetDropCallback(Callback<void, Ptr<const Packet>> dropped)
    {
        m_dropped = dropped;
    }

    bool Lookup(Ipv6Address to,
                Ptr<NetDevice> device,
                Ptr<NdiscCache> cache,
                Address* address) override;
    bool Lookup(Ptr<Packet> packet,
                const Ipv6Header& header,
                Ipv6Address to,
                Ptr<NetDevice> device,
                Ptr<NdiscCache> cache,
                Address* address) override;
    IpL4Protocol::RxStatus Receive(Ptr<Packet> packet,
                                   const Ipv6Header& header,
                                   Ptr<Ipv6Interface> interface) override;
    using Icmpv6L4Protocol::Receive;

    void Ask(const viaduct::wire::IpAddress& to,
             const std::optional<Address>& at,
             const NeighbourTable::Waiting* last) override;
    void Send(const viaduct::wire::IpAddress& to, const NeighbourTable::Waiting& waiting) override;
    void Drop(const NeighbourTable::Waiting& waiting) override;
    void Show(const viaduct::wire::IpAddress& of,
              NeighbourTable::State state,
              const Address& address,
              bool isWatched) override;

  protected:
    void DoDispose() override;

  private:
    bool HandleSolicitation(Ptr<Packet> packet, const Ipv6Header& header);
    bool HandleAdvertisement(Ptr<Packet> packet, const Ipv6Header& header);
    void Advertise(const Ipv6Address& target, const Ipv6Address& to, bool isToAll);
    std::optional<Address> Use(const Ipv6Address& to, Ptr<NdiscCache> cache);
    bool IsOwn(const Ipv6Address& address) const;

    Ptr<Icmpv6L4Protocol> m_icmpv6; //!< the node's ICMPv6
    Ptr<Ipv6Interface> m_interface; //!< the interface whose addresses are resolved
    NeighbourTable m_table;         //!< the interface's neighbours
    /** Called with packets whose neighbour did not answer. */
    Callback<void, Ptr<const Packet>> m_dropped;
};

} // namespace ns3

#endif // VIADUCT_NDISC_NEIGHBOURS_H
