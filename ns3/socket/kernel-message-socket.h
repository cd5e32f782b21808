/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_MESSAGE_SOCKET_H
#define VIADUCT_KERNEL_MESSAGE_SOCKET_H

#include "ns3/socket/kernel-socket-mixin.h"

namespace ns3
{
/**
 * @ingroup viaduct
 * @brief Message-oriented connections: the common part of DCCP and SCTP. Each Send() is one
 * message.
 *
 * The socket type is NS3_SOCK_SEQPACKET, because BulkSendApplication refuses NS3_SOCK_DGRAM.
 */
class KernelMessageSocket : public KernelSocketMixin<Socket, KernelMessageSocket>
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    /** @param kind the kind of socket */
    explicit KernelMessageSocket(const KernelSocketCore::Kind& kind);

    /** @param size the maximum number of bytes that are sent but not yet accepted by the kernel */
    void SetSndBufSize(uint32_t size)
    {
        Core().SetSendBuffer(size);
    }

    /** @return the size that SetSndBufSize() has set */
    uint32_t GetSndBufSize() const
    {
        return Core().GetSendBuffer();
    }

    /** @param size the maximum number of bytes that wait for the application */
    void SetRcvBufSize(uint32_t size)
    {
        Core().SetReceiveBuffer(size);
    }

    /** @return the size that SetRcvBufSize() has set */
    uint32_t GetRcvBufSize() const
    {
        return Core().GetReceiveBuffer();
    }
};

/**
 * @ingroup viaduct
 * @brief DCCP (RFC 4340) of the node's kernel: datagrams with congestion control, without
 * retransmission. A message that does not fit in a packet fails with ERROR_MSGSIZE.
 */
class KernelDccpSocket : public KernelMessageSocket
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();
    KernelDccpSocket();

    /** @param ccid the congestion control of both directions: 2 (TCP-like) or 3 (TFRC); 0:
     * leaves the kernel's setting unchanged */
    void SetCcid(uint8_t ccid);
    /** @return the value of SetCcid(); 0: the kernel's default */
    uint8_t GetCcid() const
    {
        return m_ccid;
    }

  private:
    uint8_t m_ccid{0}; //!< attribute Ccid
};

/**
 * @ingroup viaduct
 * @brief SCTP (RFC 9260) of the node's kernel, with one association per socket ("one-to-one
 * style").
 */
class KernelSctpSocket : public KernelMessageSocket
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();
    KernelSctpSocket();

    /** @param noDelay whether to send small messages at once (SCTP_NODELAY) */
    void SetNoDelay(bool noDelay);
    /** @return the value of SetNoDelay() */
    bool GetNoDelay() const
    {
        return m_noDelay;
    }

  private:
    bool m_noDelay{true}; //!< attribute NoDelay
};

} // namespace ns3

#endif /* VIADUCT_KERNEL_MESSAGE_SOCKET_H */
