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
 * @brief A queueing discipline of a kernel node's device, with its counters since its creation (tc
 * -s qdisc).
 */
struct KernelQdiscStatistics
{
    std::string device;  //!< name on the node: eth0...
    std::string kind;    //!< pfifo_fast, fq_codel...
    uint32_t handle;     //!< major number << 16; 0 for a default discipline
    uint32_t parent;     //!< handle of the parent class; UINT32_MAX: the device's root
    uint64_t bytes;      //!< sent, including Ethernet headers
    uint64_t packets;    //!< sent
    uint32_t drops;      //!< packets dropped
    uint32_t overlimits; //!< times that a packet had to wait for a rate
    uint32_t requeues;   //!< packets the device did not accept
    uint32_t backlog;    //!< bytes that wait
    uint32_t queued;     //!< packets that wait
};

/**
 * @ingroup viaduct
 * @brief The state of a kernel node over time. Aggregated to the node by KernelStackHelper.
 *
 * At each Interval the kernel is asked for the values of the trace sources that have sinks.
 * Sampling does not change the behaviour of the kernel and takes no virtual time.
 */
class KernelState : public Object
{
  public:
    /** Counters by nstat's names, e.g. "TcpRetransSegs", since the start of the simulation. */
    using Counters = std::map<std::string, int64_t>;

    /**
     * TracedCallback signature of TcpInfo.
     * @param [in] info the state of one socket
     */
    typedef void (*TcpInfoTracedCallback)(const KernelTcpInfo& info);
    /**
     * TracedCallback signature of QdiscStatistics.
     * @param [in] statistics the statistics of one queueing discipline
     */
    typedef void (*QdiscTracedCallback)(const KernelQdiscStatistics& statistics);
    /**
     * TracedCallback signature of Counters.
     * @param [in] counters all counters of the node
     */
    typedef void (*CountersTracedCallback)(const Counters& counters);

    /** @return the object TypeId */
    static TypeId GetTypeId();
    KernelState();
    ~KernelState() override;

    /** @param stack the node's sockets */
    void Install(Ptr<KernelSocketStack> stack)
    {
        m_stack = stack;
    }

    /** @param interval between two samples; 0: never */
    void SetInterval(Time interval);
    /** @return the time between two samples; 0: never */
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
    std::shared_ptr<viaduct::guest::StateClient> m_client; //!< asks the node's guest
    Time m_interval;                                       //!< attribute Interval
    EventId m_event;                                       //!< the next sample
    /** Sockets of the simulation whose trace sources have sinks, by local and peer address. */
    std::map<std::pair<Address, Address>, Ptr<KernelTcpSocket>> m_sockets;
    TracedCallback<const KernelTcpInfo&> m_tcp;            //!< trace source
    TracedCallback<const KernelQdiscStatistics&> m_qdiscs; //!< trace source
    TracedCallback<const Counters&> m_counters;            //!< trace source
};

} // namespace ns3

#endif // VIADUCT_KERNEL_STATE_H
