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
    const viaduct::scenario::LinkSettings* settings; //!< its settings
    Ptr<Channel> channel;                            //!< the channel
    std::vector<Ptr<NetDevice>> devices;             //!< in the order of settings->nodes
    std::vector<Ptr<Object>> errorModels; //!< receivers' error models, by which it is down
};

/** A scenario built from ns-3's nodes, devices, addresses and routing protocols.
 *
 * In mode simulate links with a SPEC are PathChannels, the others ns-3's point-to-point or CSMA
 * channels. In the real modes all are plain wires and the SPECs go to the lab
 * (LabHelper::SetSpec()).
 */
class Network
{
  public:
    /**
     * @param scenario must outlive this
     * @param plain mode simulate: the links that are ns-3's own channels; must outlive this
     * @param host of a lab on several hosts: the one whose nodes are built; of the others there are
     *        bare nodes and devices, so that all hosts have the same numbers and MAC addresses
     * @throw viaduct::UsageError naming what ns-3 cannot do
     */
    Network(const viaduct::scenario::Scenario& scenario,
            const std::set<std::string>& plain,
            const std::string& host = "");

    /** @return all nodes, in the scenario's order */
    const NodeContainer& GetNodes() const
    {
        return m_nodes;
    }

    /** @return those that are on this host */
    NodeContainer GetNodesHere() const;

    /**
     * @param name a node's name
     * @return whether it is on this host
     */
    bool IsHere(const std::string& name) const;

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
    /** The SPEC of a node's transmissions on a link.
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
    /** Mode simulate.
     * @param name a link's name
     * @return whether it is plugged in
     */
    bool IsLinkUp(const std::string& name) const
    {
        return !m_down.contains(name);
    }

    /** Mode simulate: changes the SPECs of a link, which is not one of ns3's own channels.
     * @param name the link's name
     * @param up of the first node's transmissions; of a shared link: of all
     * @param down of the second node's
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
    std::string m_host;                            //!< this host; empty: there are no others
    NodeContainer m_nodes;                         //!< all
    std::map<std::string, Ptr<Node>> m_byName;     //!< all
    std::vector<NetworkLink> m_links;              //!< all
    std::set<std::string> m_down;                  //!< the links that are unplugged
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_NETWORK_H
