/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_WMRP_TEST_NETWORK_H
#define VIADUCT_WMRP_TEST_NETWORK_H

#include "ns3/mac48-address.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/path-channel.h"
#include "ns3/path-helper.h"
#include "ns3/rbridge-helper.h"
#include "ns3/rbridge.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

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

/** A node that knows nothing of RBridges. */
struct Terminal
{
    /** A frame that reached it, whatever its address. */
    struct Arrival
    {
        uint32_t size;       //!< of the payload, bytes
        uint16_t protocol;   //!< EtherType
        Mac48Address source; //!< who sent it
    };

    std::vector<Ptr<NetDevice>> devices; //!< one for each place where it can be, of one address
    std::vector<Arrival> arrivals;       //!< in order

    /** @return its address */
    Mac48Address Address() const
    {
        return Mac48Address::ConvertFrom(devices.front()->GetAddress());
    }
};

/** RBridges, links and terminals. Links have a delay of 1 ms. */
class WmrpNetwork
{
  public:
    /** @param rbridges how many */
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
     * @param spec what the link does
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
     * @param rbridges on whose links it has devices, each on a link of its own
     * @return it
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
     * @param terminals how many terminals
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

    /** Makes a node an RBridge with the devices that it has; Start() makes the others ones with the
     * usual attributes.
     * @param i its number
     * @param attributes of that RBridge
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

    /** @return what makes RBridges */
    RBridgeHelper& Helper()
    {
        return m_helper;
    }

    /** Installs the RBridges that are not yet, and runs until the network is ready. */
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

    /** @param seconds how long */
    void Run(double seconds)
    {
        Simulator::Stop(Seconds(seconds));
        Simulator::Run();
    }

    /**
     * @param i its number
     * @return an RBridge
     */
    Ptr<RBridge> Get(uint32_t i) const
    {
        return m_nodes.Get(i)->GetObject<RBridge>();
    }

    /** @return how many pairs of RBridges reach each other, in both directions */
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
     * @param size of the payload, bytes
     * @param place which of the sender's devices
     */
    static void Send(const Terminal& from, Mac48Address to, uint32_t size, size_t place = 0)
    {
        from.devices[place]->Send(Create<Packet>(size), to, TERMINAL_PROTOCOL);
    }

    /** Sends a broadcast of one terminal, and counts its arrivals at the others.
     * @param from the sender
     * @return how many others got it once, and how many frames there were besides
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

    /** Forgets what has arrived at terminals. */
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
    RBridgeHelper m_helper;                             //!< makes them
    std::vector<std::unique_ptr<Terminal>> m_terminals; //!< all
    uint32_t m_links{0};                                //!< how many there are
};

} // namespace ns3::viaducttest

#endif // VIADUCT_WMRP_TEST_NETWORK_H
