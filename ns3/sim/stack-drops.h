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

/** Counts the packets to one receiver that the nodes' ns-3 stacks drop: a flow's packets for the
 * flow, other packets for the node. Also counts packets that the devices of mode simulate drop; for
 * nodes with a forwarding program, all frames. Such a program itself counts the frames that it
 * cannot send.
 *
 * ns-3 does not report packets that wait in vain for the resolution of an IPv6 address.
 */
class StackDrops
{
  public:
    /** Counts from this call on.
     * @param scenario must outlive this object
     * @param network the nodes, in mode emulate with their devices of the lab; this object must
     * outlive it
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
    /** Counts the packets of a trace source that reports nothing but the packet.
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
    /** Counts a frame that a node with a forwarding program should have received, whatever its
     * content. */
    void CountFrame(const std::string& node, const char* reason, Ptr<const Packet> content);
    /** @return whether the packet belongs to a flow, for which it is then counted */
    bool CountOfFlow(const std::string& node, const char* reason, Ptr<const Packet> packet);
    /** @return the index of the only flow to which the packet can belong */
    std::optional<size_t> FlowOf(const viaduct::wire::IpLayers& layers,
                                 viaduct::wire::ConstBytes packet) const;
    bool IsOf(size_t flow,
              const viaduct::wire::IpLayers& layers,
              viaduct::wire::ConstBytes packet) const;

    const viaduct::scenario::Scenario& m_scenario;                    //!< the scenario
    std::vector<viaduct::wire::IpAddress> m_receivers;                //!< receivers of flows
    std::vector<std::map<std::string, uint64_t>> m_ofFlows;           //!< per flow, key: a place
    std::map<std::string, std::map<std::string, uint64_t>> m_ofNodes; //!< keys: place, reason
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_STACK_DROPS_H
