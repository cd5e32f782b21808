/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_STACK_DROPS_H
#define VIADUCT_SIM_STACK_DROPS_H

#include "ns3/sim/network.h"

#include "ns3/packet.h"

#include "base/result/run.h"
#include "base/wire/layers.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ns3::sim
{

/** Counts the unicast packets that the nodes' ns-3 stacks drop. Packets of a flow are counted for
 * the flow, other packets for the node. The class also counts packets that the devices of mode
 * simulate drop; at nodes with a forwarding program it counts all frames that the devices drop on
 * reception. Frames that a program cannot send are counted by the program's forwarder.
 *
 * ns-3 does not report packets whose wait for the resolution of an IPv6 address ends without
 * success.
 */
class StackDrops
{
  public:
    /** Starts to count.
     * @param scenario the scenario; must outlive this object
     * @param network the nodes, in mode emulate with their devices of the lab; this object must
     * outlive the network
     */
    StackDrops(const viaduct::scenario::Scenario& scenario, const Network& network);
    StackDrops(const StackDrops&) = delete;
    StackDrops& operator=(const StackDrops&) = delete;

    /** @return for each flow, the number of its packets that were dropped, by place and reason:
     * "NODE: REASON" */
    const std::vector<std::map<std::string, uint64_t>>& GetOfFlows() const
    {
        return m_ofFlows;
    }

    /** Adds the counters of packets that belong to no flow to a report.
     * @param [in,out] report gets counters "NODE/stack"
     */
    void Describe(viaduct::result::SimulatorReport& report) const;

  private:
    void Watch(Ptr<Node> node, const std::string& name);
    template <class Layer, class Base, class Header>
    void WatchIp(Ptr<Node> node, const std::string& name);
    void WatchResolution(Ptr<Node> node, const std::string& name);
    void WatchDevice(Ptr<NetDevice> device, const std::string& name);
    /** Counts the packets that a trace source reports, whose only argument is the packet.
     * @param source the object that has the trace source
     * @param trace the trace source's name
     * @param name the node's name
     * @param reason the reason of the drops
     * @param link the number of bytes before the IP header
     */
    void WatchPackets(Ptr<Object> source,
                      const std::string& trace,
                      const std::string& name,
                      const char* reason,
                      uint32_t link = 0);
    void Count(const std::string& node, const char* reason, Ptr<const Packet> packet);
    /** Counts a frame that was dropped on reception at a node with a forwarding program, for any
     * content of the frame. */
    void CountFrame(const std::string& node, const char* reason, Ptr<const Packet> content);
    /** Counts a packet for its flow, if it belongs to one.
     * @return whether the packet belongs to a flow */
    bool CountOfFlow(const std::string& node, const char* reason, Ptr<const Packet> packet);
    /** @return the index of the only flow to which the packet can belong; nothing if it belongs to
     * no flow, or could belong to several */
    std::optional<size_t> FlowOf(const viaduct::wire::IpLayers& layers,
                                 viaduct::wire::ConstBytes packet) const;
    bool IsOf(size_t flow,
              const viaduct::wire::IpLayers& layers,
              viaduct::wire::ConstBytes packet) const;

    const viaduct::scenario::Scenario& m_scenario;     //!< the scenario
    std::vector<viaduct::wire::IpAddress> m_receivers; //!< addresses of the flows' receivers
    /** For each flow: number of dropped packets by "NODE: REASON". */
    std::vector<std::map<std::string, uint64_t>> m_ofFlows;
    /** Number of dropped packets of no flow, by counter name and reason. */
    std::map<std::string, std::map<std::string, uint64_t>> m_ofNodes;
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_STACK_DROPS_H
