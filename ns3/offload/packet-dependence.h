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
 * Detects that a protocol's next hop depends on more of a packet than its destination: on its
 * source or port, or on its turn. A data plane outside the simulator has one next hop for each
 * destination.
 *
 * When the next hop for a destination changes, the protocol is asked again about the previous
 * packet, at the same instant. A protocol whose routes have changed has the new next hop for that
 * packet, too.
 */
class PacketDependence
{
  public:
    /** The next hop's address, or unspecified, and its device; null: there is none. */
    using Hop = std::pair<viaduct::wire::IpAddress, Ptr<NetDevice>>;

    /**
     * Takes a decision about a packet.
     * @param destination the packet's destination
     * @param isOwn whether the node itself sends it
     * @param hop the decision
     * @param ask asks the protocol about the same packet again
     */
    void Note(const viaduct::wire::IpAddress& destination,
              bool isOwn,
              const Hop& hop,
              std::function<Hop()> ask);

    /** @return the finding, with the first destination and its next hops; empty: nothing was found
     */
    const std::string& GetFinding() const
    {
        return m_finding;
    }

    /** Forgets the packets, and with them the protocol. */
    void Clear()
    {
        m_last.clear();
    }

  private:
    /** The last packet to a destination. */
    struct Last
    {
        Hop hop;                  //!< the decision about the packet
        std::function<Hop()> ask; //!< asks about the packet again
        Time at;                  //!< the instant of the decision
    };

    std::map<std::pair<viaduct::wire::IpAddress, bool>, Last> m_last; //!< key: destination, isOwn
    std::string m_finding;                                            //!< GetFinding()
};

} // namespace ns3

#endif // VIADUCT_PACKET_DEPENDENCE_H
