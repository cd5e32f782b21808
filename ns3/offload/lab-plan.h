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
 * A link whose far end is in the part of the lab on another machine.
 */
struct LabTunnel
{
    viaduct::lab::Tunnel tunnel;                      //!< the tunnel to the far end
    std::string link;                                 //!< the link's name
    viaduct::path::Spec spec;                         //!< the SPEC for packets from the near end
    std::vector<viaduct::path::TrafficClass> classes; //!< classes with separate SPECs
    /** Whether the path engine emulates the link in any case. */
    bool live{false};
    viaduct::wire::MacAddress neighbour;              //!< MAC address of the far end
    std::vector<viaduct::wire::IpAddress> neighbours; //!< IP addresses of the far end
};

/**
 * @ingroup viaduct
 * The user's settings of a lab in addition to the scenario itself; LabHelper's functions explain
 * each setting.
 */
struct LabSettings
{
    std::string name{"ns3"};                                           //!< the lab's name
    const viaduct::fib::DataPlane* plane{&viaduct::fib::kKernelPlane}; //!< default data plane
    /** The data planes of nodes, which override `plane`. */
    std::map<Ptr<Node>, const viaduct::fib::DataPlane*> planes;
    /** An interface of the machine, and the name of the link that it is on. */
    struct Physical
    {
        std::string interface;
        std::string link;
    };

    std::map<Ptr<NetDevice>, Physical> physical;              //!< key: the replaced ns-3 device
    std::map<Ptr<Node>, std::vector<std::string>> kernelOnly; //!< interfaces without an ns-3 device
    std::map<Ptr<NetDevice>, LabTunnel> tunnels;              //!< links to other machines
    /** SPECs that override the channels' SPECs; key: the sending device. */
    std::map<Ptr<NetDevice>, viaduct::path::Spec> specs;
    /** The traffic classes with separate SPECs, by channel. */
    std::map<Ptr<Channel>, std::vector<viaduct::path::TrafficClass>> classes;
    /** The names of links, by channel. */
    std::map<Ptr<Channel>, std::string> linkNames;
    viaduct::lab::Emulator emulator{viaduct::lab::Emulator::kEngine}; //!< default emulator
    /** The emulators of channels, which override `emulator`. */
    std::map<Ptr<Channel>, viaduct::lab::Emulator> emulators;
    /** The channels whose SPECs may change during the run. */
    std::set<Ptr<Channel>> live;
    /** The kernel settings of nodes: values by the names of settings. */
    std::map<Ptr<Node>, std::map<std::string, std::string>> sysctls;
    /** Reasons for forwarding hop by hop (SetByHop()). */
    std::map<Ptr<Node>, std::string> byHop;
    std::set<std::string> ignore; //!< effects of channels to leave out
    /** Whether nodes of kSimulatorPlane get TUN devices. */
    bool programs{true};
    std::map<Ptr<Node>, std::string> containers; //!< namespaces of containers, by node
    /** Settings of remote nodes, except name and interface. */
    std::map<Ptr<Node>, viaduct::lab::Remote> remotes;
    /** Settings of the clients that run nodes' programs. */
    std::map<Ptr<Node>, viaduct::lab::Remote> clients;
    viaduct::lab::HubAddress hub;                //!< the address to which clients send
    std::vector<viaduct::lab::OtherNode> others; //!< nodes on other machines
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
    Ptr<NetDevice> device;   //!< the device that replaces `original`, or null
};

/**
 * @ingroup viaduct
 * The plan of a lab, from which the broker builds the lab.
 */
struct LabPlan
{
    viaduct::lab::Topology topology;        //!< the lab
    std::vector<LabAttachment> attachments; //!< the lab's interfaces, by node and device
    std::vector<std::string> ignored;       //!< effects left out of the lab, e.g. "n0-n1: rate"
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
