/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_STATE_H
#define VIADUCT_KERNEL_STATE_H

#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/socket/kernel-tcp-info.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

struct tcp_info;

namespace viaduct::guest
{
class StateClient;
} // namespace viaduct::guest

namespace viaduct::guest::agent
{
struct QdiscState;
struct TcpState;
} // namespace viaduct::guest::agent

namespace ns3
{
class KernelSocketStack;
class KernelTcpSocket;

/**
 * @ingroup viaduct
 * @brief The statistics of a queueing discipline of a kernel node's device, counted since the
 * creation of the queueing discipline (`tc -s qdisc`).
 */
struct KernelQdiscStatistics
{
    std::string device;  //!< device's name in the node's kernel: eth0...
    std::string kind;    //!< kind of discipline: pfifo_fast, fq_codel...
    uint32_t handle;     //!< discipline's major number << 16; 0: a default discipline
    uint32_t parent;     //!< handle of the parent class; UINT32_MAX: the device's root
    uint64_t bytes;      //!< bytes sent, including Ethernet headers
    uint64_t packets;    //!< packets sent
    uint32_t drops;      //!< packets dropped
    uint32_t overlimits; //!< number of times that a packet had to wait for a rate
    uint32_t requeues;   //!< packets that the device did not accept
    uint32_t backlog;    //!< bytes in the queue
    uint32_t queued;     //!< packets in the queue
};

/**
 * @ingroup viaduct
 * @brief Samples the state of a kernel node over time. KernelStackHelper aggregates the object to
 * the node.
 *
 * After each Interval, the kernel is asked for the values of the trace sources that have sinks.
 * Sampling does not change the behaviour of the kernel and takes no virtual time.
 */
class KernelState : public Object
{
  public:
    /** Counters since the start of the simulation, by their names in nstat, e.g.
     * "TcpRetransSegs". */
    using Counters = std::map<std::string, int64_t>;

    /**
     * TracedCallback signature of the trace source TcpInfo.
     * @param [in] info the state of one socket
     */
    typedef void (*TcpInfoTracedCallback)(const KernelTcpInfo& info);
    /**
     * TracedCallback signature of the trace source QdiscStatistics.
     * @param [in] statistics the statistics of one queueing discipline
     */
    typedef void (*QdiscTracedCallback)(const KernelQdiscStatistics& statistics);
    /**
     * TracedCallback signature of the trace source Counters.
     * @param [in] counters all counters of the node
     */
    typedef void (*CountersTracedCallback)(const Counters& counters);

    /** @return the object TypeId */
    static TypeId GetTypeId();
    KernelState();
    ~KernelState() override;

    /** Sets the connection to the kernel. @param stack the node's socket stack */
    void Install(Ptr<KernelSocketStack> stack)
    {
        m_stack = stack;
    }

    /** Sets the interval. @param interval the time between two samples; 0: no samples */
    void SetInterval(Time interval);
    /** @return the time between two samples; 0: no samples */
    Time GetInterval() const
    {
        return m_interval;
    }

  protected:
    void DoInitialize() override;
    void DoDispose() override;

  private:
    void Start();
    void Sample();
    void FindSockets();
    void TellTcp(const viaduct::guest::agent::TcpState& socket, const ::tcp_info& info);
    void TellQdisc(const viaduct::guest::agent::QdiscState& qdisc);

    Ptr<KernelSocketStack> m_stack;                        //!< the connection to the kernel
    std::shared_ptr<viaduct::guest::StateClient> m_client; //!< client of the node's guest
    Time m_interval;                                       //!< attribute Interval
    EventId m_event;                                       //!< event of the next sample
    /** The ns-3 sockets of the node whose trace sources have sinks, by local and peer address. */
    std::map<std::pair<Address, Address>, Ptr<KernelTcpSocket>> m_sockets;
    TracedCallback<const KernelTcpInfo&> m_tcp;            //!< trace source TcpInfo
    TracedCallback<const KernelQdiscStatistics&> m_qdiscs; //!< trace source QdiscStatistics
    TracedCallback<const Counters&> m_counters;            //!< trace source Counters
};

} // namespace ns3

#endif // VIADUCT_KERNEL_STATE_H
