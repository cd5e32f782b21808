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
 * RBridges and terminals in a simulation, for the tests of WMRP.
 */

namespace ns3::viaducttest
{

constexpr uint16_t TERMINAL_PROTOCOL = 0x88b5; //!< EtherType for local experiments (IEEE 802)

/** A node without knowledge of RBridges. */
struct Terminal
{
    /** A frame that reached the node, with any destination address. */
    struct Arrival
    {
        uint32_t size;       //!< the payload's size, bytes
        uint16_t protocol;   //!< EtherType
        Mac48Address source; //!< the sender
    };

    std::vector<Ptr<NetDevice>> devices; //!< one for each place of the node, same address
    std::vector<Arrival> arrivals;       //!< in order

    /** @return the node's address */
    Mac48Address Address() const
    {
        return Mac48Address::ConvertFrom(devices.front()->GetAddress());
    }
};

/** RBridges, links and terminals. Links have a delay of 1 ms. */
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

    /** Links RBridges: two by a pair, more by an Ethernet.
     * @param rbridges their numbers
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

    /** @param ring whether the last is linked to the first
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
     * @param rbridges the RBridges to which it is linked, each by a separate link
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

    /** Adds an Ethernet with RBridges and terminals on it.
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

    /** Makes a node an RBridge with its present devices; Start() makes the other nodes RBridges
     * with the default attributes.
     * @param i the node's number
     * @param attributes the attributes of that RBridge
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

    /** @return the nodes that are RBridges, or will be */
    const NodeContainer& GetNodes() const
    {
        return m_nodes;
    }

    /** @return the helper that makes RBridges */
    RBridgeHelper& Helper()
    {
        return m_helper;
    }

    /** Installs the RBridges that are not installed yet, and runs until the network is ready. */
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

    /** @param seconds the duration */
    void Run(double seconds)
    {
        Simulator::Stop(Seconds(seconds));
        Simulator::Run();
    }

    /**
     * @param i a number
     * @return the RBridge with this number
     */
    Ptr<RBridge> Get(uint32_t i) const
    {
        return m_nodes.Get(i)->GetObject<RBridge>();
    }

    /** @return the number of pairs of RBridges that reach each other, each direction counted */
    uint32_t CountReachable() const
    {
        uint32_t pairs = 0;
        for (uint32_t i = 0; i < m_nodes.GetN(); i++)
        {
            pairs += Get(i)->GetReachable().size();
        }
        return pairs;
    }

    /** Sends a frame.
     * @param from the sender
     * @param to the receiver
     * @param size the payload's size, bytes
     * @param place the index of the sender's device
     */
    static void Send(const Terminal& from, Mac48Address to, uint32_t size, size_t place = 0)
    {
        from.devices[place]->Send(Create<Packet>(size), to, TERMINAL_PROTOCOL);
    }

    /** Sends a broadcast of one terminal, and counts its arrivals at the other terminals.
     * @param from the sender
     * @return the number of other terminals that got it, and the number of further frames
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

    /** Forgets the frames that have arrived at terminals. */
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

    NodeContainer m_nodes;                              //!< the RBridges
    RBridgeHelper m_helper;                             //!< makes RBridges
    std::vector<std::unique_ptr<Terminal>> m_terminals; //!< all terminals
    uint32_t m_links{0};                                //!< the number of links
};

} // namespace ns3::viaducttest

#endif // VIADUCT_WMRP_TEST_NETWORK_H
