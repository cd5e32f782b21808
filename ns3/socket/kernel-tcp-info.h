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
 * @brief The state of a TCP socket in the kernel (struct tcp_info of linux/tcp.h).
 */
struct KernelTcpInfo
{
    uint64_t socket;               //!< identifies the socket in its guest (SO_COOKIE)
    Address local;                 //!< InetSocketAddress or Inet6SocketAddress
    Address peer;                  //!< InetSocketAddress or Inet6SocketAddress
    std::string state;             //!< state by its ss(8) name: ESTAB, FIN-WAIT-1...
    std::string caState;           //!< congestion state: Open, Disorder, CWR, Recovery, Loss
    std::string congestionControl; //!< congestion control: cubic...
    uint32_t cwnd;                 //!< congestion window, segments
    uint32_t ssthresh;             //!< slow start threshold, segments; initially 0x7fffffff
    uint32_t mss;                  //!< maximum size of sent segments, bytes
    Time rtt;                      //!< smoothed round-trip time
    Time rttvar;                   //!< mean deviation of the round-trip time
    Time minRtt;                   //!< minimum round-trip time of the last minutes
    Time rto;                      //!< retransmission timeout
    uint32_t retransmits;          //!< segments retransmitted, in total
    uint32_t lost;                 //!< segments currently considered lost
    uint32_t unacked;              //!< segments sent and not acknowledged
    uint32_t sacked;               //!< unacked segments that are acknowledged selectively
    uint64_t bytesSent;            //!< payload bytes sent, including retransmissions
    uint64_t bytesRetransmitted;   //!< payload bytes retransmitted
    uint64_t bytesAcked;           //!< payload bytes acknowledged
    uint64_t bytesReceived;        //!< payload bytes received
    uint64_t pacingRate;           //!< pacing rate, bytes/s; UINT64_MAX: no pacing
    uint64_t deliveryRate;         //!< delivery rate, bytes/s
    uint32_t notSent;              //!< bytes in the send buffer that were never sent
    uint32_t receiveQueue;         //!< bytes that the program has not read
    uint32_t sendQueue;            //!< bytes that are not acknowledged
    Time busy;                     //!< time with data to send
    Time receiveWindowLimited;     //!< part of `busy` spent waiting for the peer's window
    Time sendBufferLimited;        //!< part of `busy` spent waiting for the program
};

} // namespace ns3

#endif // VIADUCT_KERNEL_TCP_INFO_H
