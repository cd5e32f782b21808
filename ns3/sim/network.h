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
    std::vector<Ptr<NetDevice>> devices;             //!< same order as settings->nodes
    std::vector<Ptr<Object>> errorModels; //!< receivers' error models, which take the link down
};

/** A scenario built from ns-3's nodes, devices, addresses and routing protocols.
 *
 * In mode simulate links with a SPEC are PathChannels, the other links ns-3's point-to-point or
 * CSMA channels. In the real modes all are plain wires and the SPECs are passed to the lab
 * (LabHelper::SetSpec()).
 */
class Network
{
  public:
    /**
     * @param scenario must outlive this object
     * @param plain mode simulate: the links that are ns-3's own channels; must outlive this object
     * @param host in a lab on several machines, the host whose nodes are built; nodes of other
     * hosts are bare nodes and devices, so that all machines have the same numbers and MAC
     * addresses
     * @throw viaduct::UsageError naming the feature that ns-3 does not have
     */
    Network(const viaduct::scenario::Scenario& scenario,
            const std::set<std::string>& plain,
            const std::string& host = "");

    /** @return all nodes, in the scenario's order */
    const NodeContainer& GetNodes() const
    {
        return m_nodes;
    }

    /** @return the nodes that are on this host */
    NodeContainer GetNodesHere() const;

    /**
     * @param name a node's name
     * @return whether it is on this host
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
     * @param end the position of the node in it
     * @return the SPEC
     */
    static const viaduct::path::Spec& SpecOf(const viaduct::scenario::LinkSettings& link,
                                             size_t end);
    /** Mode simulate: unplugs or plugs in a link.
     * @param name the link's name
     * @param up false: all frames are lost
     */
    void SetLinkUp(const std::string& name, bool up);
    /** Returns the state of a link in mode simulate.
     * @param name a link's name
     * @return whether it is plugged in
     */
    bool IsLinkUp(const std::string& name) const
    {
        return !m_down.contains(name);
    }

    /** Mode simulate: changes the SPECs of a link, which must not be one of ns-3's own channels.
     * @param name the link's name
     * @param up the SPEC of the first node's transmissions; on a shared link, of all
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
    const std::set<std::string>& m_plain;          //!< links that are ns-3's own channels
    bool m_simulate;                               //!< mode simulate
    std::string m_host;                            //!< this host; empty: the only host
    NodeContainer m_nodes;                         //!< all nodes
    std::map<std::string, Ptr<Node>> m_byName;     //!< all nodes
    std::vector<NetworkLink> m_links;              //!< all links
    std::set<std::string> m_down;                  //!< unplugged links
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_NETWORK_H
