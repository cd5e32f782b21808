/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_NETWORK_H
#define VIADUCT_SIM_NETWORK_H

#include "ns3/channel.h"
#include "ns3/net-device-container.h"
#include "ns3/net-device.h"
#include "ns3/node-container.h"

#include "scenario/scenario.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace ns3::sim
{

/** A scenario's link in ns-3. */
struct NetworkLink
{
    const viaduct::scenario::LinkSettings* settings; //!< the link's settings
    Ptr<Channel> channel;                            //!< the channel
    /** The nodes' devices on the link, in the order of settings->nodes. */
    std::vector<Ptr<NetDevice>> devices;
    /** The receive error models that the devices had before the link went down, to be restored. */
    std::vector<Ptr<Object>> errorModels;
};

/** The ns-3 network that is built from a scenario: nodes, devices, addresses and routing protocols.
 *
 * In mode simulate links with a SPEC are PathChannels, the other links ns-3's point-to-point or
 * CSMA channels. In the real modes all links are plain wires, and the SPECs are passed to the lab
 * (LabHelper::SetSpec()).
 */
class Network
{
  public:
    /**
     * @param scenario the scenario; must outlive this object
     * @param plain mode simulate: the links that are ns-3's own channels; must outlive this object
     * @param machine in a lab on several machines, the machine whose nodes are built; nodes of
     * other machines are bare nodes and devices, so that node numbers and MAC addresses are the
     * same on all machines; empty: all nodes are built
     * @throw viaduct::UsageError naming a feature of the scenario that ns-3 does not have
     */
    Network(const viaduct::scenario::Scenario& scenario,
            const std::set<std::string>& plain,
            const std::string& host = "");

    /** @return all nodes, in the scenario's order */
    const NodeContainer& GetNodes() const
    {
        return m_nodes;
    }

    /** @return the nodes that are on this machine */
    NodeContainer GetNodesHere() const;

    /**
     * @param name a node's name
     * @return whether the node is on this machine
     */
    bool IsLocal(const std::string& name) const;

    /**
     * @param name a node's name
     * @return the node
     */
    Ptr<Node> GetNode(const std::string& name) const
    {
        return m_byName.at(name);
    }

    /** @return all links, in the scenario's order */
    const std::vector<NetworkLink>& GetLinks() const
    {
        return m_links;
    }

    /**
     * @param name a link's name
     * @return the link
     */
    const NetworkLink& GetLink(const std::string& name) const;
    /** Returns the SPEC of a node's transmissions on a link.
     * @param link the link
     * @param end the position of the node among the link's nodes
     * @return the SPEC
     */
    static const viaduct::path::Spec& SpecOf(const viaduct::scenario::LinkSettings& link,
                                             size_t end);
    /** Mode simulate: unplugs or plugs in a link.
     * @param name the link's name
     * @param up whether the link carries frames; if not, all frames are lost
     */
    void SetLinkUp(const std::string& name, bool up);
    /** Returns the state of a link in mode simulate.
     * @param name a link's name
     * @return whether the link is plugged in
     */
    bool IsLinkUp(const std::string& name) const
    {
        return !m_down.contains(name);
    }

    /** Mode simulate: changes the SPECs of a link, which must not be one of ns-3's own channels.
     * @param name the link's name
     * @param up the SPEC of the first node's transmissions; on a shared link, of all nodes'
     * transmissions
     * @param down the SPEC of the second node's transmissions
     */
    void SetSpecs(const std::string& name,
                  const viaduct::path::Spec& up,
                  const viaduct::path::Spec& down) const;

  private:
    void CheckAddresses() const;
    void MakeNodes();
    void MakeLinks();
    NodeContainer NodesOf(const viaduct::scenario::LinkSettings& settings) const;
    NetworkLink MakePath(const viaduct::scenario::LinkSettings& settings) const;
    NetDeviceContainer MakePlain(const viaduct::scenario::LinkSettings& settings) const;
    void CheckPhysical(const viaduct::scenario::NodeSettings& settings) const;

    const viaduct::scenario::Scenario& m_scenario; //!< the scenario
    /** Mode simulate: names of the links that are ns-3's own channels. */
    const std::set<std::string>& m_plain;
    bool m_simulate;       //!< whether the scenario's mode is simulate
    std::string m_host;    //!< the name of this machine; empty: the scenario runs on one machine
    NodeContainer m_nodes; //!< all nodes, in the scenario's order
    std::map<std::string, Ptr<Node>> m_byName; //!< all nodes, by name
    std::vector<NetworkLink> m_links;          //!< all links, in the scenario's order
    std::set<std::string> m_down;              //!< names of the unplugged links
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_NETWORK_H
