/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_LAB_HELPER_H
#define VIADUCT_LAB_HELPER_H

#include "ns3/offload/lab-plan.h"
#include "ns3/offload/offload-helper.h"

#include "ns3/channel.h"
#include "ns3/guard/transport-guard.h"
#include "ns3/net-device.h"
#include "ns3/node-container.h"
#include "ns3/offload/program-port.h"

#include "lab/broker/client.h"
#include "lab/topology.h"

#include <linux/if_ether.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * Moves an existing scenario to the real network: builds a lab of namespaces and virtual links that
 * corresponds to the scenario's nodes, devices and channels, and replaces the simulated devices by
 * devices on the virtual links. The scenario itself does not change, except for three lines:
 *
 * @code
 *   #include "ns3/viaduct-module.h"                                           // 1
 *   GlobalValue::Bind("SimulatorImplementationType",                          // 2: first in main()
 *                     StringValue("ns3::ReactorSimulatorImpl"));
 *   ... nodes, channels, Internet stack, addresses, applications ...
 *   LabHelper("offload").Install(NodeContainer::GetGlobal());                 // 3: before Run()
 * @endcode
 *
 * A node's name in the lab is its name in ns3::Names, or "n" and the node's id; the node's
 * interfaces are eth0, eth1... in the order of its devices. Programs run in the node's namespace,
 * LAB.NODE (`ip netns exec`). The lab is removed when the simulator is destroyed.
 */
class LabHelper
{
  public:
    /** The place where packets are forwarded. */
    enum Mode
    {
        TRADITIONAL, //!< ns-3 forwards, through ns-3's FdNetDevice (the baseline)
        EMULATE,     //!< ns-3 forwards, through RingNetDevice
        OFFLOAD,     //!< the kernel forwards, by routes that the simulator's protocols compute
    };

    /** @param mode "traditional", "emulate" or "offload"; any other value ends the program */
    explicit LabHelper(const std::string& mode = "offload");
    /** @param mode the place where packets are forwarded */
    explicit LabHelper(Mode mode);

    /** @param name the lab's name; namespaces are named NAME.NODE. Default "ns3". */
    void SetLabName(const std::string& name)
    {
        m_settings.name = name;
    }

    /**
     * @param node a node
     * @param plane the data plane of the node, independently of the mode of the lab:
     * viaduct::fib::kKernelPlane, kEbpfPlane, kAutoPlane or kSimulatorPlane
     */
    void SetDataPlane(Ptr<Node> node, const viaduct::fib::DataPlane& plane);
    /** Moves an interface of the machine into a node's namespace during the run.
     * @param node the node
     * @param interface the interface's name on the machine, e.g. "eth1"; also its name in the
     * node's namespace
     * @param device the ns-3 device that the interface replaces; the device's channel is ignored.
     * Null: only the kernel and programs use the interface.
     */
    void AddPhysicalInterface(Ptr<Node> node,
                              const std::string& interface,
                              Ptr<NetDevice> device,
                              const std::string& link = "");
    /** Emulates a SPEC for the frames that a device sends, instead of the effects of the device's
     * channel.
     * @param device the sender
     * @param spec the SPEC
     */
    void SetSpec(Ptr<NetDevice> device, const viaduct::path::Spec& spec)
    {
        m_settings.specs[device] = spec;
    }

    /** Gives classes of packets on a channel separate SPECs.
     * @param channel a channel
     * @param classes the classes; the direction up is from the channel's first device to its
     * second, or from each device if the channel has more than two devices
     */
    void SetClasses(Ptr<Channel> channel, const std::vector<viaduct::path::TrafficClass>& classes)
    {
        m_settings.classes[channel] = classes;
    }

    /**
     * @param emulator the emulator of the channels and SPECs: Viaduct's path engine (the default),
     * or the kernel's own queueing disciplines where the kernel has suitable ones
     */
    void SetEmulator(viaduct::lab::Emulator emulator)
    {
        m_settings.emulator = emulator;
    }

    /**
     * @param channel a channel
     * @param emulator the emulator of the channel
     */
    void SetEmulator(Ptr<Channel> channel, viaduct::lab::Emulator emulator)
    {
        m_settings.emulators[channel] = emulator;
    }

    /** Connects a device's link to its far end, which is in the part of the lab on another machine.
     * @param device the device at the near end
     * @param tunnel the tunnel to the far end
     */
    void SetTunnel(Ptr<NetDevice> device, const LabTunnel& tunnel)
    {
        m_settings.tunnels[device] = tunnel;
    }

    /** Lets the SPECs of a channel change during the run (`viaduct path set LAB`): the path engine
     * emulates the channel, even if the SPECs have no effect on packets at first.
     * @param channel a channel
     */
    void SetLive(Ptr<Channel> channel)
    {
        m_settings.live.insert(channel);
    }

    /** Keeps the data plane kAutoPlane from passing a node's packets over several hops in one step.
     * @param node the node
     * @param reason the reason why each packet must enter the node, e.g. "link a-b is captured"
     */
    void SetByHop(Ptr<Node> node, const std::string& reason)
    {
        m_settings.byHop[node] = reason;
    }

    /**
     * @param channel a channel
     * @param name the name of the channel's link in the lab; default: the name of a PathChannel,
     * else "n0-n1" or "lan" and the channel's number
     */
    void SetLinkName(Ptr<Channel> channel, const std::string& name)
    {
        m_settings.linkNames[channel] = name;
    }

    /** Leaves an effect of all channels out of the lab although the scenario has it. GetIgnored()
     * reports this deliberate deviation for the results.
     * @param effect "rate" (with its queue), "delay", "loss", "ber" or "aqm"
     */
    void Ignore(const std::string& effect);
    /**
     * @param node a node
     * @param name the name of a kernel setting, e.g. "net.ipv4.tcp_congestion_control"
     * @param value the setting's value
     */
    void SetSysctl(Ptr<Node> node, const std::string& name, const std::string& value)
    {
        m_settings.sysctls[node][name] = value;
    }

    /**
     * Places a node in the existing namespace of a container instead of a new namespace. The
     * namespace is not changed, except that the node's interfaces are added, with their addresses
     * and routes. The node must not route packets of other nodes, and its data plane must be the
     * kernel.
     * @param node the node
     * @param container the pid of a process in the namespace, or a name of `ip netns`
     */
    void SetContainer(Ptr<Node> node, const std::string& container)
    {
        m_settings.containers[node] = container;
    }

    /**
     * Leaves a node out of the lab: its programs run on another machine, the node's client, which a
     * VXLAN tunnel connects to the end of the node's link (remote/tunnel/client_hub.h). The node
     * must be on one link, and must not route packets of other nodes.
     * @param node the node
     * @param remote the node's VXLAN identifier and the permitted clients; LabPlanner fills in the
     * remaining fields
     */
    void SetRemote(Ptr<Node> node, const viaduct::lab::Remote& remote)
    {
        m_settings.remotes[node] = remote;
    }

    /**
     * Runs the programs of a node on a client, another machine that is connected by a VXLAN tunnel
     * as in SetRemote(). The node stays in the lab, with its protocol and its links; ns-3 is its IP
     * layer (kSimulatorPlane), which treats the client's packets as the node's own
     * (RemoteHub::AddPrograms()).
     * @param node the node
     * @param client the client's VXLAN identifier and the permitted clients; LabPlanner fills in
     * the remaining fields
     */
    void SetClient(Ptr<Node> node, const viaduct::lab::Remote& client)
    {
        m_settings.clients[node] = client;
        SetDataPlane(node, viaduct::fib::kSimulatorPlane);
    }

    /**
     * Makes a node in another machine's part of the lab known to the lab's programs, by the node's
     * name.
     * @param other the node
     */
    void AddOther(const viaduct::lab::OtherNode& other)
    {
        m_settings.others.push_back(other);
    }

    /** @param hub the address to which clients of remote nodes send */
    void SetHub(const viaduct::lab::HubAddress& hub)
    {
        m_settings.hub = hub;
    }

    /**
     * Sets whether programs can run on nodes whose data plane is the simulator (on a TUN device).
     * @param on the setting; default true
     */
    void SetPrograms(bool on)
    {
        m_settings.programs = on;
    }

    /** @param broker the broker to use; default: broker::Client::ConnectOrSpawn() */
    void SetBroker(std::shared_ptr<viaduct::broker::Client> broker);
    /** @return the broker; null before Install() */
    std::shared_ptr<viaduct::broker::Client> GetBroker() const;
    /** @return the settings of nodes whose data plane is outside the simulator */
    OffloadHelper& Offload()
    {
        return m_offload;
    }

    /** Takes over the lab that a failed simulator of the same scenario has left, instead of
     * building a lab (broker::Client::AdoptLab()). Until Release() the lab forwards packets as the
     * failed simulator left it. */
    void Adopt()
    {
        m_adopts = true;
    }

    /** Makes an adopted lab forward packets by the current routes. Must be called when the
     * protocols have converged. */
    void Release();

    /** Describes the lab that Install() would build; needs no privilege.
     * @param nodes the scenario's nodes, with their devices and addresses
     * @return the lab
     * @throw viaduct::UsageError naming the node and device that a lab cannot have
     */
    viaduct::lab::Topology Describe(const NodeContainer& nodes) const;

    /**
     * Builds the lab and replaces the devices. An error, also an uncaught error during the run, is
     * printed as one line and ends the program with the product's exit status for the error (the
     * lab then no longer exists).
     * @param nodes the scenario's nodes, with their Internet stacks, devices and addresses
     */
    void Install(const NodeContainer& nodes);
    /**
     * Builds the lab as Install() does, for programs that handle errors themselves.
     * @param nodes the scenario's nodes
     * @throw viaduct::Error
     */
    void InstallOrThrow(const NodeContainer& nodes);

    using Attachment = LabAttachment; //!< an interface of the lab and its ns-3 devices

    /** @return all interfaces of the lab, ordered by node and device; empty before Install() */
    const std::vector<Attachment>& GetAttachments() const;
    /** @return the objects installed on the nodes whose data plane is outside the simulator, by
     * node name; empty before Install() */
    const std::map<std::string, OffloadHelper::Offload>& GetOffloads() const;
    /** @return the program ports, by node name; empty before Install() */
    const std::map<std::string, Ptr<ProgramPort>>& GetProgramPorts() const;
    /** @return the TransportGuards of the nodes' UDP, by node name; empty before Install() */
    const std::map<std::string, Ptr<TransportGuard>>& GetTransportGuards() const;
    /** @return limits that all namespaces of the machine share and that the lab may exceed, one
     * line each */
    std::vector<std::string> GetExceededLimits() const;
    /** @return effects that the scenario has but Ignore() left out, e.g. "n0-n1: rate" */
    std::vector<std::string> GetIgnored() const;

  private:
    struct State;

    void CheckSimulator() const;
    void GuardUdp(const NodeContainer& nodes);
    void Attach(const LabPlan& plan);
    /** Makes the simulated devices ignore received packets. Remote nodes, which are not in the lab,
     * still send packets (neighbour discovery) to simulated devices that the other nodes no longer
     * use. */
    void SilenceOriginals() const;
    void WatchLinks(const std::string& node);
    /** The frames that a socket receives: frames of all EtherTypes, as on the wire; or frames of
     * one EtherType, including frames with a VLAN tag, which then arrive without the tag. If
     * `filter` is not empty, the socket receives only frames that pass this filter
     * (pcap-filter(7)), too. */
    struct Frames
    {
        uint16_t etherType = ETH_P_ALL;
        std::string filter = {};
    };

    static Frames ControlFramesOf(const viaduct::forward::ProgramDescription& program);
    void AttachSimulatorNode(const viaduct::lab::Node& node, const Frames& frames);
    void AttachOffloadedNode(const viaduct::lab::Node& node, const LabAddresses& known);
    /** @return a port for an interface of a node */
    std::unique_ptr<viaduct::io::AnyPort> OpenRing(const std::string& node,
                                                   const std::string& interface,
                                                   const Frames& frames) const;
    Ptr<NetDevice> MakeRingDevice(const Attachment& attachment, const Frames& frames);
    Ptr<NetDevice> MakeFdDevice(const Attachment& attachment);

    Mode m_mode;                                       //!< the place where packets are forwarded
    bool m_adopts{false};                              //!< whether to adopt an existing lab
    LabSettings m_settings;                            //!< the user's settings
    std::shared_ptr<viaduct::broker::Client> m_broker; //!< the broker of SetBroker()
    OffloadHelper m_offload;                           //!< moves data planes out of the simulator
    std::shared_ptr<State> m_state;                    //!< the installed lab
};

} // namespace ns3

#endif // VIADUCT_LAB_HELPER_H
