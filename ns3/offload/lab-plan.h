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
 * A link whose far end is in the part of the lab on another host.
 */
struct LabTunnel
{
    viaduct::lab::Tunnel tunnel;                      //!< leads to the far end
    std::string link;                                 //!< the link's name
    viaduct::path::Spec spec;                         //!< for packets that this end sends
    std::vector<viaduct::path::TrafficClass> classes; //!< classes with separate SPECs
    bool live{false};                                 //!< the path engine always emulates it
    viaduct::wire::MacAddress neighbour;              //!< MAC address of the far end
    std::vector<viaduct::wire::IpAddress> neighbours; //!< IP addresses of the far end
};

/**
 * @ingroup viaduct
 * The user's settings of a lab in addition to the scenario itself; LabHelper's functions explain
 * each.
 */
struct LabSettings
{
    std::string name{"ns3"};                                           //!< the lab's name
    const viaduct::fib::DataPlane* plane{&viaduct::fib::kKernelPlane}; //!< default of nodes
    std::map<Ptr<Node>, const viaduct::fib::DataPlane*> planes;        //!< overrides `plane`
    /** An interface of the machine, and the link that it is. */
    struct Physical
    {
        std::string interface;
        std::string link;
    };

    std::map<Ptr<NetDevice>, Physical> physical;              //!< key: the replaced ns-3 device
    std::map<Ptr<Node>, std::vector<std::string>> kernelOnly; //!< interfaces without a device
    std::map<Ptr<NetDevice>, LabTunnel> tunnels;              //!< links to another host
    std::map<Ptr<NetDevice>, viaduct::path::Spec> specs;      //!< override the channel's
    std::map<Ptr<Channel>, std::vector<viaduct::path::TrafficClass>> classes; //!< the user's
    std::map<Ptr<Channel>, std::string> linkNames;                            //!< the user's
    viaduct::lab::Emulator emulator{viaduct::lab::Emulator::kEngine};         //!< default of links
    std::map<Ptr<Channel>, viaduct::lab::Emulator> emulators;                 //!< overrides
    std::set<Ptr<Channel>> live;                                              //!< SPECs may change
    std::map<Ptr<Node>, std::map<std::string, std::string>> sysctls;          //!< the user's
    std::map<Ptr<Node>, std::string> byHop;            //!< reason to go hop by hop
    std::set<std::string> ignore;                      //!< effects left out
    bool programs{true};                               //!< TUN devices
    std::map<Ptr<Node>, std::string> containers;       //!< existing namespaces of nodes
    std::map<Ptr<Node>, viaduct::lab::Remote> remotes; //!< name and interface are not set
    std::map<Ptr<Node>, viaduct::lab::Remote> clients; //!< clients that have the node's programs
    viaduct::lab::HubAddress hub;                      //!< the address to which clients send
    std::vector<viaduct::lab::OtherNode> others;       //!< known only by their names
};

/**
 * @ingroup viaduct
 * One interface of a lab and its ns-3 devices.
 */
struct LabAttachment
{
    Ptr<Node> node;          //!< the node
    std::string nodeName;    //!< the node's name in the lab
    std::string interface;   //!< the interface's name in the lab
    Ptr<NetDevice> original; //!< the simulated device
    Ptr<NetDevice> device;   //!< replaces `original`; null before
};

/**
 * @ingroup viaduct
 * The lab that is going to be built.
 */
struct LabPlan
{
    viaduct::lab::Topology topology;        //!< the lab
    std::vector<LabAttachment> attachments; //!< the lab's interfaces, by node and device
    std::vector<std::string> ignored;       //!< effects left out, e.g. "n0-n1: rate"
};

/**
 * @ingroup viaduct
 * Derives a lab from a scenario's nodes, devices, channels and addresses.
 */
class LabPlanner
{
  public:
    /** @param settings the user's settings; must outlive the planner */
    explicit LabPlanner(const LabSettings& settings);

    /**
     * @param nodes the scenario's nodes
     * @return the plan
     * @throw viaduct::UsageError naming the node and device that a lab cannot have
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

    const LabSettings& m_settings; //!< the user's settings
    LabPlan m_plan;                //!< the plan so far
};

} // namespace ns3

#endif // VIADUCT_LAB_PLAN_H
