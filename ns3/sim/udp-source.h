/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_UDP_SOURCE_H
#define VIADUCT_SIM_UDP_SOURCE_H

#include "ns3/address.h"
#include "ns3/application.h"
#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/socket.h"

#include <cstdint>

namespace ns3
{
namespace sim
{

/**
 * Offers UDP packets at a constant rate, the first packet at its start. Each has a SeqTsSizeHeader.
 * Other than ns3::OnOffApplication it does not keep a packet that the socket refuses for later:
 * that packet was offered, is lost, and is counted.
 */
class UdpSource : public Application
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    /**
     * @param remote the destination
     * @param rate payload, bit/s
     * @param size payload of a packet, bytes; not less than the header's size
     */
    void Configure(const Address& remote, int64_t rate, uint32_t size);

    /** @return packets offered */
    uint64_t GetOffered() const;
    /** @return packets offered that the socket refused */
    uint64_t GetRefused() const;

  private:
    void StartApplication() override;
    void StopApplication() override;
    void Offer();

    Address m_remote;      //!< the destination
    double m_period{0};    //!< time between two packets, s
    Time m_start;          //!< time of the first packet
    uint32_t m_size{0};    //!< payload of a packet, bytes
    Ptr<Socket> m_socket;  //!< open while it runs
    EventId m_next;        //!< the next packet
    uint64_t m_offered{0}; //!< packets offered
    uint64_t m_refused{0}; //!< packets refused
};

} // namespace sim
} // namespace ns3

#endif // VIADUCT_SIM_UDP_SOURCE_H
