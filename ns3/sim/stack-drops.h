/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_STACK_DROPS_H
#define VIADUCT_SIM_STACK_DROPS_H

#include "network.h"

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

/** Counts the packets to one receiver that the nodes' ns-3 stacks drop: those of a flow for the
 * flow, the others for the node. Also those that the devices of mode simulate drop, for nodes with
 * a forwarding program all frames. What such a program cannot send it counts itself.
 *
 * ns-3 does not tell of packets that wait for the resolution of an IPv6 address in vain.
 */
class StackDrops
{
  public:
    /** Counts from now on.
     * @param scenario must outlive this
     * @param network the nodes, in mode emulate with their devices of the lab; this must outlive it
     */
    StackDrops(const viaduct::scenario::Scenario& scenario, const Network& network);
    StackDrops(const StackDrops&) = delete;
    StackDrops& operator=(const StackDrops&) = delete;

    /** @return for each flow its packets by place: "NODE: REASON" */
    const std::vector<std::map<std::string, uint64_t>>& GetOfFlows() const
    {
        return m_ofFlows;
    }

    /** Adds the packets of no flow.
     * @param [in,out] report gets counters "NODE/stack"
     */
    void Describe(viaduct::result::SimulatorReport& report) const;

  private:
    void Watch(Ptr<Node> node, const std::string& name);
    template <class Layer, class Base, class Header>
    void WatchIp(Ptr<Node> node, const std::string& name);
    void WatchResolution(Ptr<Node> node, const std::string& name);
    void WatchDevice(Ptr<NetDevice> device, const std::string& name);
    /** Counts the packets of a trace source that tells nothing but the packet.
     * @param source whose trace source
     * @param trace its name
     * @param name the node's
     * @param reason why they are dropped
     * @param link how many bytes precede the IP header
     */
    void WatchPackets(Ptr<Object> source,
                      const std::string& trace,
                      const std::string& name,
                      const char* reason,
                      uint32_t link = 0);
    void Count(const std::string& node, const char* reason, Ptr<const Packet> packet);
    /** Counts a frame that a node with a forwarding program should have got, whatever is in it. */
    void CountFrame(const std::string& node, const char* reason, Ptr<const Packet> content);
    /** @return whether it is of a flow, for which it is counted then */
    bool CountOfFlow(const std::string& node, const char* reason, Ptr<const Packet> packet);
    /** @return the index of the only flow that the packet can be of */
    std::optional<size_t> FlowOf(const viaduct::wire::IpLayers& layers,
                                 viaduct::wire::ConstBytes packet) const;
    bool IsOf(size_t flow,
              const viaduct::wire::IpLayers& layers,
              viaduct::wire::ConstBytes packet) const;

    const viaduct::scenario::Scenario& m_scenario;                    //!< the scenario
    std::vector<viaduct::wire::IpAddress> m_receivers;                //!< of each flow
    std::vector<std::map<std::string, uint64_t>> m_ofFlows;           //!< by place
    std::map<std::string, std::map<std::string, uint64_t>> m_ofNodes; //!< place, reason
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_STACK_DROPS_H
