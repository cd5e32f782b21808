/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_WMRP_TEST_NETWORK_H
#define VIADUCT_WMRP_TEST_NETWORK_H

#include "ns3/mac48-address.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/path/path-channel.h"
#include "ns3/path/path-helper.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/wmrp/rbridge-helper.h"
#include "ns3/wmrp/rbridge.h"

#include <memory>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup viaduct
 * A simulated network of RBridges and terminals, for the tests of WMRP.
 */

namespace ns3::viaducttest
{

constexpr uint16_t TERMINAL_PROTOCOL = 0x88b5; //!< EtherType for local experiments (IEEE 802)

/** A terminal: a node that sends and receives ordinary Ethernet frames. */
struct Terminal
{
    /** A frame that has arrived at the node, with any destination address. */
    struct Arrival
    {
        uint32_t size;       //!< the payload's size, bytes
        uint16_t protocol;   //!< the frame's EtherType
        Mac48Address source; //!< the sender's MAC address
    };

    /** The node's devices, one for each place to which it moves, all with the same address. */
    std::vector<Ptr<NetDevice>> devices;
    std::vector<Arrival> arrivals; //!< frames that have arrived, in the order of arrival

    /** @return the node's MAC address */
    Mac48Address Address() const
    {
        return Mac48Address::ConvertFrom(devices.front()->GetAddress());
    }
};

/** A network of RBridges, links and terminals. The links' default delay is 1 ms. */
class WmrpNetwork
{
  public:
    /** @param rbridges the number of RBridges */
    explicit WmrpNetwork(uint32_t rbridges)
    {
        Simulator::Destroy();
        m_nodes.Create(rbridges);
    }

    ~WmrpNetwork()
    {
        Simulator::Destroy();
    }

    /** Links RBridges: two RBridges by a pair, more RBridges by a shared Ethernet.
     * @param rbridges the numbers of the RBridges
     * @param spec the link's SPEC
     * @return the link
     */
    Ptr<PathChannel> Link(const std::vector<uint32_t>& rbridges,
                          const std::string& spec = "delay=1ms")
    {
        NodeContainer nodes;
        for (const uint32_t i : rbridges)
        {
            nodes.Add(m_nodes.Get(i));
        }
        return MakeLink(nodes, spec);
    }

    /** Links all RBridges in a line or ring.
     * @param ring whether the last RBridge is also linked to the first
     * @return the links
     */
    std::vector<Ptr<PathChannel>> Line(bool ring = false)
    {
        std::vector<Ptr<PathChannel>> links;
        for (uint32_t i = 0; i + 1 < m_nodes.GetN(); i++)
        {
            links.push_back(Link({i, i + 1}));
        }
        if (ring)
        {
            links.push_back(Link({m_nodes.GetN() - 1, 0}));
        }
        return links;
    }

    /** Adds a terminal.
     * @param rbridges the RBridges to which the terminal is linked, each by a separate link
     * @return the terminal
     */
    Terminal& AddTerminal(const std::vector<uint32_t>& rbridges)
    {
        auto node = CreateObject<Node>();
        m_terminals.push_back(std::make_unique<Terminal>());
        for (const uint32_t i : rbridges)
        {
            NodeContainer nodes(node);
            nodes.Add(m_nodes.Get(i));
            Attach(*m_terminals.back(), MakeLink(nodes, "delay=1ms")->GetDevice(0));
        }
        return *m_terminals.back();
    }

    /** Adds a shared Ethernet to which RBridges and new terminals are attached.
     * @param rbridges the RBridges' numbers
     * @param terminals the number of terminals
     * @return the terminals
     */
    std::vector<Terminal*> AddLan(const std::vector<uint32_t>& rbridges, uint32_t terminals)
    {
        NodeContainer nodes;
        nodes.Create(terminals);
        for (const uint32_t i : rbridges)
        {
            nodes.Add(m_nodes.Get(i));
        }
        const Ptr<PathChannel> lan = MakeLink(nodes, "delay=1ms");
        std::vector<Terminal*> added;
        for (uint32_t i = 0; i < terminals; i++)
        {
            m_terminals.push_back(std::make_unique<Terminal>());
            Attach(*m_terminals.back(), lan->GetDevice(i));
            added.push_back(m_terminals.back().get());
        }
        return added;
    }

    /** Installs an RBridge on a node, with the node's current devices as ports. Start() installs
     * RBridges with the helper's attributes on the remaining nodes.
     * @param i the node's number
     * @param attributes attributes of this RBridge, in addition to the helper's
     */
    void Install(uint32_t i, const std::vector<std::pair<std::string, uint64_t>>& attributes = {})
    {
        RBridgeHelper helper = m_helper;
        for (const auto& [name, value] : attributes)
        {
            helper.SetAttribute(name, UintegerValue(value));
        }
        helper.Install(m_nodes.Get(i))->AssignStreams(100 + i);
    }

    /** @return the nodes of the RBridges, including nodes on which no RBridge is installed yet */
    const NodeContainer& GetNodes() const
    {
        return m_nodes;
    }

    /** @return the helper that installs RBridges */
    RBridgeHelper& Helper()
    {
        return m_helper;
    }

    /** Installs the RBridges that are not installed yet, and runs for 6 s, so that the routes
     * converge. */
    void Start()
    {
        for (uint32_t i = 0; i < m_nodes.GetN(); i++)
        {
            if (!m_nodes.Get(i)->GetObject<RBridge>())
            {
                Install(i);
            }
        }
        Run(6);
    }

    /** Runs the simulation.
     * @param seconds the duration, s */
    void Run(double seconds)
    {
        Simulator::Stop(Seconds(seconds));
        Simulator::Run();
    }

    /**
     * @param i an RBridge's number
     * @return the RBridge
     */
    Ptr<RBridge> Get(uint32_t i) const
    {
        return m_nodes.Get(i)->GetObject<RBridge>();
    }

    /** @return the number of ordered pairs of RBridges of which the first reaches the second */
    uint32_t CountReachable() const
    {
        uint32_t pairs = 0;
        for (uint32_t i = 0; i < m_nodes.GetN(); i++)
        {
            pairs += Get(i)->GetReachable().size();
        }
        return pairs;
    }

    /** Sends a frame from a terminal.
     * @param from the sender
     * @param to the receiver's MAC address
     * @param size the payload's size, bytes
     * @param place the index of the sender's device
     */
    static void Send(const Terminal& from, Mac48Address to, uint32_t size, size_t place = 0)
    {
        from.devices[place]->Send(Create<Packet>(size), to, TERMINAL_PROTOCOL);
    }

    /** Sends a broadcast frame from a terminal, and counts the arrivals at all terminals.
     * @param from the sender
     * @return the number of other terminals at which the frame has arrived, and the number of
     * superfluous frames: duplicates, and frames at the sender
     */
    std::pair<uint32_t, uint32_t> Broadcast(const Terminal& from)
    {
        Clear();
        Send(from, Mac48Address::GetBroadcast(), 100);
        Run(0.5);
        uint32_t once = 0;
        uint32_t besides = 0;
        for (const auto& terminal : m_terminals)
        {
            const auto count = static_cast<uint32_t>(terminal->arrivals.size());
            const bool expected = terminal.get() != &from && count > 0;
            once += expected ? 1 : 0;
            besides += expected ? count - 1 : count;
        }
        return {once, besides};
    }

    /** Clears the records of frames that have arrived at terminals. */
    void Clear()
    {
        for (const auto& terminal : m_terminals)
        {
            terminal->arrivals.clear();
        }
    }

  private:
    Ptr<PathChannel> MakeLink(const NodeContainer& nodes, const std::string& spec)
    {
        PathHelper helper;
        helper.SetChannelAttribute("Name", StringValue("link" + std::to_string(m_links++)));
        helper.SetChannelAttribute("Up", StringValue(spec));
        helper.SetChannelAttribute("Down", StringValue(spec));
        helper.SetDeviceAttribute("Mtu", UintegerValue(1500 + RBridge::GetOverhead()));
        return DynamicCast<PathChannel>(helper.Install(nodes).Get(0)->GetChannel());
    }

    static void Attach(Terminal& terminal, Ptr<NetDevice> device)
    {
        if (!terminal.devices.empty())
        {
            device->SetAddress(terminal.Address());
        }
        terminal.devices.push_back(device);
        device->SetPromiscReceiveCallback([&terminal](Ptr<NetDevice>,
                                                      Ptr<const Packet> packet,
                                                      uint16_t protocol,
                                                      const ns3::Address& source,
                                                      const ns3::Address&,
                                                      NetDevice::PacketType) {
            if (protocol != viaduct::rbridge::kIsIsType && protocol != viaduct::rbridge::kTrillType)
            {
                terminal.arrivals.push_back(
                    {packet->GetSize(), protocol, Mac48Address::ConvertFrom(source)});
            }
            return true;
        });
    }

    NodeContainer m_nodes;                              //!< the nodes of the RBridges
    RBridgeHelper m_helper;                             //!< installs RBridges
    std::vector<std::unique_ptr<Terminal>> m_terminals; //!< all terminals
    uint32_t m_links{0};                                //!< number of links created
};

} // namespace ns3::viaducttest

#endif // VIADUCT_WMRP_TEST_NETWORK_H
