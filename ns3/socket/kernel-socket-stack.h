/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_SOCKET_STACK_H
#define VIADUCT_KERNEL_SOCKET_STACK_H

#include "ns3/net-device.h"
#include "ns3/object.h"
#include "ns3/socket.h"

#include "guest/agent/agent_client.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3
{

class Node;

/**
 * @ingroup viaduct
 * @brief The state shared by the kernel sockets of one node: the agent of the node's guest, the
 * node's number in the guest, and the mapping of ns-3 devices to interfaces of the kernel.
 *
 * KernelStackHelper calls Install(), which aggregates the stack to a node, with every kernel socket
 * factory. On a node with HostSockets the agent is in the simulator's process. The stack keeps open
 * sockets alive, as ns-3's transport protocols do: an application may release a socket that still
 * has data to deliver.
 */
class KernelSocketStack : public Object
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    /** Creates a stack and aggregates it to a node.
     * @param node the node
     * @param agent the agent that holds the node's sockets
     * @param number the node's number at the agent
     * @return the stack
     */
    static Ptr<KernelSocketStack> Create(Ptr<Node> node,
                                         std::shared_ptr<viaduct::guest::AgentClient> agent,
                                         uint32_t number);
    /** Creates a stack, and aggregates the stack and the socket factories to a node that has no
     * transport protocols.
     * @param node the node
     * @param agent the agent of the node's guest
     * @param number the node's number at the agent (AgentClient::CreateNode)
     * @return the stack
     */
    static Ptr<KernelSocketStack> Install(Ptr<Node> node,
                                          std::shared_ptr<viaduct::guest::AgentClient> agent,
                                          uint32_t number);

    /** Sets the kernel's interface of a device. If several devices share an interface, received
     * packets arrive on the last of these devices.
     * @param device the ns-3 device
     * @param ifindex the interface's index on the node
     * @param name the interface's name on the node
     */
    void SetDevice(Ptr<NetDevice> device, int ifindex, const std::string& name)
    {
        m_devices[device] = {ifindex, name};
        m_byIndex[ifindex] = device;
    }

    /**
     * @param device a device of the node
     * @return the name of the device's interface on the node; empty if the device has no interface
     */
    std::string GetInterfaceName(Ptr<NetDevice> device) const;
    /**
     * @param device a device of the node
     * @return the index of the device's interface on the node; 0 if the device has no interface
     */
    int GetInterfaceIndex(Ptr<NetDevice> device) const;
    /**
     * @param ifindex an interface's index on the node
     * @return the interface's device; null if the interface has no device (loopback)
     */
    Ptr<NetDevice> GetDevice(int ifindex) const;

    /** @return whether the simulation still has the node's guest */
    bool HasAgent() const
    {
        return m_agent != nullptr;
    }

    /** @return the agent of the node's guest */
    viaduct::guest::AgentClient& GetAgent() const;
    /** @return the node's number at the agent */
    uint32_t GetNumber() const
    {
        return m_number;
    }

    /**
     * @tparam Client a class that uses the agent for one purpose; constructed from an AgentClient
     * @return the only Client of the guest, shared by the guest's nodes; the Client exists as long
     * as there is a reference to it
     */
    template <class Client>
    std::shared_ptr<Client> GetClient() const
    {
        static std::map<viaduct::guest::AgentClient*, std::weak_ptr<Client>> clients;
        std::erase_if(clients, [](const auto& entry) { return entry.second.expired(); });
        auto client = clients[m_agent.get()].lock();
        if (!client)
        {
            client = std::make_shared<Client>(GetAgent());
            clients[m_agent.get()] = client;
        }
        return client;
    }

    /** Sets the function that updates the routes of the node's kernel before a socket needs them:
     * ns-3's routing protocols do not report routes that are set by hand.
     * @param update called before each Connect() and before a socket's first datagram
     */
    void SetRouteUpdate(std::function<void()> update)
    {
        m_updateRoutes = std::move(update);
    }

    /** Calls the function of SetRouteUpdate(). */
    void UpdateRoutes() const
    {
        if (m_updateRoutes)
        {
            m_updateRoutes();
        }
    }

    /** The name of a datagram socket: port, address and family, device. A name must be unique. */
    using Name = std::tuple<uint16_t, std::vector<uint8_t>, Ptr<NetDevice>>;
    /** Reserves a name for a socket until the name is released.
     * @param number the socket's number
     * @param name the name that the socket is bound to
     * @return false, without a change, if another socket has the name
     */
    bool Claim(uint32_t number, const Name& name);
    /** Releases a socket's name. @param number the socket's number */
    void Unclaim(uint32_t number);

    /**
     * Keeps an open socket alive until Release().
     * @param number the socket's number
     * @param socket the socket
     */
    void Keep(uint32_t number, Ptr<Socket> socket)
    {
        m_open[number] = socket;
    }

    /** Releases the reference to a closed socket. @param number the socket's number */
    void Release(uint32_t number);
    /** @return the open sockets by their numbers */
    const std::map<uint32_t, Ptr<Socket>>& GetOpenSockets() const
    {
        return m_open;
    }

  protected:
    void DoDispose() override;

  private:
    struct Interface
    {
        int ifindex;      //!< the interface's index on the node
        std::string name; //!< the interface's name on the node
    };

    std::shared_ptr<viaduct::guest::AgentClient> m_agent; //!< agent of the node's guest
    uint32_t m_number{0};                                 //!< number of the node at the agent
    std::map<Ptr<NetDevice>, Interface> m_devices;        //!< interfaces by device
    std::map<int, Ptr<NetDevice>> m_byIndex;              //!< the receiving device by ifindex
    std::map<uint32_t, Ptr<Socket>> m_open;               //!< open sockets by number
    std::map<Name, uint32_t> m_names;                     //!< numbers of datagram sockets by name
    std::function<void()> m_updateRoutes;                 //!< the function of SetRouteUpdate()
};

} // namespace ns3

#endif /* VIADUCT_KERNEL_SOCKET_STACK_H */
