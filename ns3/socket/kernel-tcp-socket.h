/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_TCP_SOCKET_H
#define VIADUCT_KERNEL_TCP_SOCKET_H

#include "ns3/socket/kernel-socket-mixin.h"

#include "ns3/nstime.h"
#include "ns3/tcp-socket.h"
#include "ns3/traced-callback.h"
#include "ns3/uinteger.h"

#include <string>

namespace ns3
{
struct KernelTcpInfo;

/**
 * @ingroup viaduct
 * @brief A TCP or MPTCP socket of the node's kernel.
 *
 * The kernel supports these attributes of ns3::TcpSocket: SndBufSize (SO_SNDBUF), RcvBufSize
 * (SO_RCVBUF), SegmentSize (TCP_MAXSEG), TcpNoDelay (TCP_NODELAY) and ConnCount (TCP_SYNCNT). A
 * buffer or segment size with ns-3's default is left to the kernel, which adapts buffers to the
 * connection. All remaining attributes have no equivalent in a kernel: a value other than ns-3's
 * default ends the simulation with a message. MaxSegLifetime, which ns-3's HTTP applications set,
 * is kept without effect.
 *
 * The trace sources are those of ns3::TcpSocketBase, in the same units. The trace sources follow
 * the kernel in steps of KernelState's attribute Interval, which must be set on the node.
 */
class KernelTcpSocket : public KernelSocketMixin<TcpSocket, KernelTcpSocket>
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    /** @param protocol IPPROTO_TCP or IPPROTO_MPTCP */
    explicit KernelTcpSocket(int protocol);
    KernelTcpSocket();

    /** @param name a congestion control (TCP_CONGESTION); empty: the node's default */
    void SetCongestionControl(const std::string& name);
    /** @return the value of SetCongestionControl() */
    std::string GetCongestionControl() const
    {
        return m_congestionControl;
    }

    /** @return whether any sink is connected to the trace sources that TellState() fires */
    bool HasStateListeners() const;
    /**
     * @param info the current state of this socket in the kernel; changes are reported to the trace
     * sources
     */
    void TellState(const KernelTcpInfo& info);

  private:
    void SetSndBufSize(uint32_t size) override
    {
        Core().SetSendBuffer(size);
    }

    uint32_t GetSndBufSize() const override
    {
        return Core().GetSendBuffer();
    }

    void SetRcvBufSize(uint32_t size) override
    {
        Core().SetReceiveBuffer(size);
    }

    uint32_t GetRcvBufSize() const override
    {
        return Core().GetReceiveBuffer();
    }

    void SetSegSize(uint32_t size) override;
    uint32_t GetSegSize() const override
    {
        return m_segmentSize;
    }

    void SetSynRetries(uint32_t count) override;
    uint32_t GetSynRetries() const override
    {
        return m_synRetries;
    }

    void SetTcpNoDelay(bool noDelay) override;
    bool GetTcpNoDelay() const override
    {
        return m_noDelay;
    }

    // Attributes for which the kernel has no option. Only ns-3's default can be set, and the
    // getters return the kernel's constant.
    void SetInitialSSThresh(uint32_t threshold) override
    {
        SetUnsupported("InitialSlowStartThreshold", UintegerValue(threshold));
    }

    uint32_t GetInitialSSThresh() const override
    {
        return UINT32_MAX;
    }

    void SetInitialCwnd(uint32_t cwnd) override
    {
        SetUnsupported("InitialCwnd", UintegerValue(cwnd));
    }

    uint32_t GetInitialCwnd() const override
    {
        return 10; // the kernel's TCP_INIT_CWND, equal to ns-3's default
    }

    void SetConnTimeout(Time timeout) override
    {
        SetUnsupported("ConnTimeout", TimeValue(timeout));
    }

    Time GetConnTimeout() const override
    {
        return Seconds(1); // the kernel's TCP_TIMEOUT_INIT
    }

    void SetDataRetries(uint32_t retries) override
    {
        SetUnsupported("DataRetries", UintegerValue(retries));
    }

    uint32_t GetDataRetries() const override
    {
        return 15; // the kernel's TCP_RETR2
    }

    void SetDelAckTimeout(Time timeout) override
    {
        SetUnsupported("DelAckTimeout", TimeValue(timeout));
    }

    Time GetDelAckTimeout() const override
    {
        return MilliSeconds(200); // the maximum: the kernel's TCP_DELACK_MAX
    }

    void SetDelAckMaxCount(uint32_t count) override
    {
        SetUnsupported("DelAckCount", UintegerValue(count));
    }

    uint32_t GetDelAckMaxCount() const override
    {
        return 2;
    }

    void SetPersistTimeout(Time timeout) override
    {
        SetUnsupported("PersistTimeout", TimeValue(timeout));
    }

    Time GetPersistTimeout() const override
    {
        return MilliSeconds(200); // the kernel's TCP_RTO_MIN
    }

    /**
     * Ends the simulation with a message unless the value is ns-3's default.
     * @param name an attribute without an equivalent in the kernel
     * @param value the attribute's new value
     */
    void SetUnsupported(const std::string& name, const AttributeValue& value) const;
    /** Sets an option if the attribute's new value differs from ns-3's default, or the attribute
     * had another value before.
     * @param attribute the attribute's name
     * @param value the attribute's new value
     * @param present the attribute's previous value; set to the new value
     * @param option an option of IPPROTO_TCP
     */
    void SetSize(const std::string& attribute, uint32_t value, uint32_t* present, int option);

    uint32_t m_segmentSize{0};       //!< attribute SegmentSize; 0: not set yet
    uint32_t m_synRetries{0};        //!< attribute ConnCount; 0: not set yet
    bool m_noDelay{true};            //!< attribute TcpNoDelay
    double m_maxSegLifetime{120};    //!< attribute MaxSegLifetime
    std::string m_congestionControl; //!< attribute CongestionControl

    uint32_t m_lastCwnd{0};                        //!< last reported congestion window
    uint32_t m_lastSsthresh{UINT32_MAX};           //!< last reported slow start threshold
    Time m_lastRtt;                                //!< last reported round-trip time
    Time m_lastRto;                                //!< last reported retransmission timeout
    TracedCallback<uint32_t, uint32_t> m_cwnd;     //!< trace source CongestionWindow
    TracedCallback<uint32_t, uint32_t> m_ssthresh; //!< trace source SlowStartThreshold
    TracedCallback<Time, Time> m_rtt;              //!< trace source RTT
    TracedCallback<Time, Time> m_rto;              //!< trace source RTO
};

/**
 * @ingroup viaduct
 * @brief Multipath TCP (RFC 8684) of the node's kernel. KernelMptcpHelper sets the addresses that
 * its subflows use.
 */
class KernelMptcpSocket : public KernelTcpSocket
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();
    KernelMptcpSocket();
};

} // namespace ns3

#endif /* VIADUCT_KERNEL_TCP_SOCKET_H */
