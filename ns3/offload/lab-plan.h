/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_LAB_PLAN_H
#define VIADUCT_LAB_PLAN_H

#include "ns3/channel.h"
#include "ns3/net-device.h"
#include "ns3/node-container.h"
#include "ns3/node.h"

#include "lab/topology.h"
#include "plane/fib/data_plane.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * A link whose other end is in the part of the lab that another host has.
 */
struct LabTunnel
{
    viaduct::lab::Tunnel tunnel;                      //!< what leads there
    std::string link;                                 //!< the link's name
    viaduct::path::Spec spec;                         //!< of what this end sends
    std::vector<viaduct::path::TrafficClass> classes; //!< of the link, with SPECs of their own
    bool live{false};                                 //!< the path engine emulates it in any case
    viaduct::wire::MacAddress neighbour;              //!< of the other end
    std::vector<viaduct::wire::IpAddress> neighbours; //!< its IP addresses
};

/**
 * @ingroup viaduct
 * The user's settings of a lab besides the scenario itself; LabHelper's functions explain each.
 */
struct LabSettings
{
    std::string name{"ns3"};                                           //!< of the lab
    const viaduct::fib::DataPlane* plane{&viaduct::fib::kKernelPlane}; //!< of all nodes but
    std::map<Ptr<Node>, const viaduct::fib::DataPlane*> planes;        //!< these
    /** An interface of the machine, and the link that it is. */
    struct Physical
    {
        std::string interface;
        std::string link;
    };

    std::map<Ptr<NetDevice>, Physical> physical;              //!< by its ns-3 device
    std::map<Ptr<Node>, std::vector<std::string>> kernelOnly; //!< the same, without a device
    std::map<Ptr<NetDevice>, LabTunnel> tunnels;              //!< whose other ends are elsewhere
    std::map<Ptr<NetDevice>, viaduct::path::Spec> specs;      //!< instead of the channel's
    std::map<Ptr<Channel>, std::vector<viaduct::path::TrafficClass>> classes; //!< users' own
    std::map<Ptr<Channel>, std::string> linkNames;                            //!< users' own
    viaduct::lab::Emulator emulator{viaduct::lab::Emulator::kEngine};         //!< of all links but
    std::map<Ptr<Channel>, viaduct::lab::Emulator> emulators;                 //!< these
    std::set<Ptr<Channel>> live;                                     //!< whose SPECs may change
    std::map<Ptr<Node>, std::map<std::string, std::string>> sysctls; //!< users' own
    std::map<Ptr<Node>, std::string> byHop;                          //!< why not joined
    std::set<std::string> ignore;                                    //!< effects left out
    bool programs{true};                                             //!< TUN devices
    std::map<Ptr<Node>, std::string> containers;       //!< whose namespaces the nodes have
    std::map<Ptr<Node>, viaduct::lab::Remote> remotes; //!< without name and interface
    std::map<Ptr<Node>, viaduct::lab::Remote> clients; //!< each has its node's programs
    viaduct::lab::HubAddress hub;                      //!< where their clients send to
    std::vector<viaduct::lab::OtherNode> others;       //!< known by their names only
};

/**
 * @ingroup viaduct
 * One interface of a lab and its ns-3 devices.
 */
struct LabAttachment
{
    Ptr<Node> node;          //!< the node
    std::string nodeName;    //!< in the lab
    std::string interface;   //!< in the lab
    Ptr<NetDevice> original; //!< the simulated device
    Ptr<NetDevice> device;   //!< its replacement; null before
};

/**
 * @ingroup viaduct
 * The lab that is going to be built.
 */
struct LabPlan
{
    viaduct::lab::Topology topology;        //!< the lab
    std::vector<LabAttachment> attachments; //!< its interfaces, by node and device
    std::vector<std::string> ignored;       //!< effects left out, e.g. "n0-n1: rate"
};

/**
 * @ingroup viaduct
 * Derives a lab from a scenario's nodes, devices, channels and addresses.
 */
class LabPlanner
{
  public:
    /** @param settings the user's; must outlive the planner */
    explicit LabPlanner(const LabSettings& settings);

    /**
     * @param nodes the scenario's nodes
     * @return the plan
     * @throw viaduct::UsageError naming the node and device that no lab can be made of
     */
    LabPlan MakePlan(const NodeContainer& nodes);

  private:
    /** A channel and the interfaces on it. */
    using Wire = std::pair<Ptr<Channel>, std::vector<LabAttachment>>;

    void PlanNode(Ptr<Node> node);
    void PlanRemote(Ptr<Node> node, viaduct::lab::Remote planned);
    viaduct::lab::Interface InterfaceOf(Ptr<Node> node, Ptr<NetDevice> device) const;
    void PlanClient(const viaduct::lab::Node& node, viaduct::lab::Remote planned);
    bool HasPrograms(Ptr<Node> node) const;
    std::string FreeLinkName(const std::string& base) const;
    void PlanLoopback(Ptr<Node> node, std::vector<viaduct::wire::IpPrefix> addresses);
    void PlanDevice(Ptr<Node> node, Ptr<NetDevice> device);
    std::vector<Wire> Wires() const;
    void PlanLink(const Wire& wire);
    void PlanTunnel(const LabAttachment& end, const LabTunnel& settings);
    std::string LinkName(const Wire& wire) const;
    viaduct::path::Spec SpecFor(const LabAttachment& sender,
                                const std::vector<LabAttachment>& all,
                                const std::string& link);
    void LeaveOut(viaduct::path::Spec& spec, const std::string& link);

    const LabSettings& m_settings; //!< the user's
    LabPlan m_plan;                //!< so far
};

} // namespace ns3

#endif // VIADUCT_LAB_PLAN_H
