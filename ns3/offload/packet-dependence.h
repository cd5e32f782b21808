/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_PACKET_DEPENDENCE_H
#define VIADUCT_PACKET_DEPENDENCE_H

#include "ns3/net-device.h"
#include "ns3/nstime.h"

#include "base/wire/address.h"

#include <functional>
#include <map>
#include <string>
#include <utility>

namespace ns3
{

/**
 * @ingroup viaduct-offload
 *
 * Detects that a protocol's next hop for a packet does not depend only on the packet's destination:
 * the protocol may consider the source or port, or may alternate between next hops. A data plane
 * outside the simulator has one next hop for each destination.
 *
 * When the next hop for a destination changes, the protocol is asked again about the previous
 * packet to that destination, at the same instant. A protocol whose routes have changed gives the
 * new next hop for the previous packet, too.
 */
class PacketDependence
{
  public:
    /** A next hop: its address (unspecified: the destination is on the link) and its device (null:
     * there is no next hop). */
    using Hop = std::pair<viaduct::wire::IpAddress, Ptr<NetDevice>>;

    /**
     * Records a protocol's decision about a packet.
     * @param destination the packet's destination
     * @param isOwn whether the node itself sends the packet
     * @param hop the decision: the packet's next hop
     * @param ask asks the protocol about the same packet again
     */
    void Note(const viaduct::wire::IpAddress& destination,
              bool isOwn,
              const Hop& hop,
              std::function<Hop()> ask);

    /** @return the first destination that was found to have several next hops, with these next
     * hops; empty: no such destination was found */
    const std::string& GetFinding() const
    {
        return m_finding;
    }

    /** Forgets the recorded packets, and with them the references to the protocol. */
    void Clear()
    {
        m_last.clear();
    }

  private:
    /** The last packet to a destination. */
    struct Last
    {
        Hop hop;                  //!< the decision about the packet
        std::function<Hop()> ask; //!< asks the protocol about the packet again
        Time at;                  //!< the time of the decision
    };

    std::map<std::pair<viaduct::wire::IpAddress, bool>, Last> m_last; //!< key: destination, isOwn
    std::string m_finding;                                            //!< the value of GetFinding()
};

} // namespace ns3

#endif // VIADUCT_PACKET_DEPENDENCE_H
