/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_DROP_COUNTER_H
#define VIADUCT_DROP_COUNTER_H

#include "ns3/packet.h"
#include "ns3/ptr.h"
#include "ns3/traced-callback.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief Counts dropped packets by reason, and is a trace source that reports each dropped packet.
 *
 * @tparam Reason an enumeration that counts from 0
 * @tparam N the number of reasons
 */
template <typename Reason, std::size_t N>
class DropCounter : public TracedCallback<Ptr<const Packet>, Reason>
{
  public:
    /**
     * Counts a dropped packet and reports it to the sinks of the trace source.
     * @param packet the packet
     * @param reason the reason of the drop
     */
    void Drop(Ptr<const Packet> packet, Reason reason)
    {
        Count(reason);
        (*this)(packet, reason);
    }

    /** Counts dropped packets without tracing them, because the packets are not available.
     * @param reason the reason of the drop
     * @param packets the number of packets
     */
    void Count(Reason reason, uint64_t packets = 1)
    {
        m_counts[reason] += packets;
    }

    /**
     * @param reason a reason
     * @return the number of packets dropped for this reason
     */
    uint64_t Get(Reason reason) const
    {
        return m_counts.at(reason);
    }

    /** @return the total number of dropped packets */
    uint64_t GetTotal() const
    {
        return std::accumulate(m_counts.begin(), m_counts.end(), uint64_t{0});
    }

  private:
    std::array<uint64_t, N> m_counts{}; //!< packets per reason
};

} // namespace ns3

#endif /* VIADUCT_DROP_COUNTER_H */
