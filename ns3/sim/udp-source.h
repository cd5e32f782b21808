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
 * An application that sends UDP packets at a constant rate, the first packet when the application
 * starts. Each packet has a SeqTsSizeHeader. If the socket refuses a packet, the application does
 * not send the packet later, unlike ns3::OnOffApplication: the packet is lost, and is counted as
 * offered and as refused.
 */
class UdpSource : public Application
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    /**
     * @param remote the destination
     * @param rate the rate of the payload, bit/s
     * @param size the payload of a packet, bytes; at least the size of SeqTsSizeHeader
     */
    void Configure(const Address& remote, int64_t rate, uint32_t size);

    /** @return the number of packets offered to the socket */
    uint64_t GetOffered() const;
    /** @return the number of packets offered that the socket refused */
    uint64_t GetRefused() const;

  private:
    void StartApplication() override;
    void StopApplication() override;
    void Offer();

    Address m_remote;      //!< the destination
    double m_period{0};    //!< time between two packets, s
    Time m_start;          //!< time of the first packet
    uint32_t m_size{0};    //!< payload of a packet, bytes
    Ptr<Socket> m_socket;  //!< the socket, open while the application runs
    EventId m_next;        //!< the event of the next packet
    uint64_t m_offered{0}; //!< number of packets offered to the socket
    uint64_t m_refused{0}; //!< number of packets that the socket refused
};

} // namespace sim
} // namespace ns3

#endif // VIADUCT_SIM_UDP_SOURCE_H
