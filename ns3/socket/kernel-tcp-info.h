/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_TCP_INFO_H
#define VIADUCT_KERNEL_TCP_INFO_H

#include "ns3/address.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <string>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief A TCP socket as the kernel sees it (struct tcp_info of linux/tcp.h).
 */
struct KernelTcpInfo
{
    uint64_t socket;               //!< identifies the socket in its guest (SO_COOKIE)
    Address local;                 //!< InetSocketAddress or Inet6SocketAddress
    Address peer;                  //!< the same
    std::string state;             //!< as ss(8) names it: ESTAB, FIN-WAIT-1...
    std::string caState;           //!< congestion state: Open, Disorder, CWR, Recovery, Loss
    std::string congestionControl; //!< cubic...
    uint32_t cwnd;                 //!< congestion window, segments
    uint32_t ssthresh;             //!< slow start threshold, segments; at first 0x7fffffff
    uint32_t mss;                  //!< of sent segments, bytes
    Time rtt;                      //!< smoothed
    Time rttvar;                   //!< its mean deviation
    Time minRtt;                   //!< smallest of the last minutes
    Time rto;                      //!< retransmission timeout
    uint32_t retransmits;          //!< segments sent again, in total
    uint32_t lost;                 //!< segments considered lost now
    uint32_t unacked;              //!< segments sent and not acknowledged
    uint32_t sacked;               //!< those of them acknowledged selectively
    uint64_t bytesSent;            //!< payload, including retransmissions
    uint64_t bytesRetransmitted;   //!< payload
    uint64_t bytesAcked;           //!< payload
    uint64_t bytesReceived;        //!< payload
    uint64_t pacingRate;           //!< bytes/s; UINT64_MAX: none
    uint64_t deliveryRate;         //!< bytes/s
    uint32_t notSent;              //!< bytes in the send buffer that were never sent
    uint32_t receiveQueue;         //!< bytes the program has not read
    uint32_t sendQueue;            //!< bytes not acknowledged
    Time busy;                     //!< with data to send
    Time receiveWindowLimited;     //!< the part of it spent waiting for the peer's window
    Time sendBufferLimited;        //!< the part of it spent waiting for the program
};

} // namespace ns3

#endif // VIADUCT_KERNEL_TCP_INFO_H
