/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_GUEST_H
#define VIADUCT_KERNEL_GUEST_H

#include "ns3/net-device.h"
#include "ns3/object.h"

#include "guest/agent/agent_client.h"
#include "guest/agent/control_nic.h"
#include "guest/process/guest_process.h"
#include "guest/time/guest.h"
#include "guest/time/kernel_sockets.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace ns3
{
class KernelNode;

/**
 * @ingroup viaduct
 * @brief A guest: a real Linux kernel in virtual time that is the network stack of one or many
 * nodes.
 */
class KernelGuest : public Object
{
  public:
    /** The process in which the guest's kernel runs. */
    enum Place
    {
        PROCESS,  //!< a separate process
        EMBEDDED, //!< the simulator's process if possible, else a separate process
    };

    /** @return the object TypeId */
    static TypeId GetTypeId();

    /** Adds the guest to the calendar. Must be called once, after the attributes are set. */
    void Enter();
    /**
     * Adds a node, before the start of the simulation.
     * @param node the node
     * @param name the node's name in the guest
     * @return the node's number in the guest
     */
    uint32_t AddNode(Ptr<KernelNode> node, const std::string& name);
    /** Adds a device to the guest; called during Prepare().
     * @param device the ns-3 device that the guest's device represents
     * @return the guest's device
     */
    viaduct::guest::Nic& AddNic(Ptr<NetDevice> device);
    /** Adds a device that does not represent an ns-3 device.
     * @param mac the device's address
     * @return the guest's device
     */
    viaduct::guest::Nic& AddNic(const viaduct::wire::MacAddress& mac);

    /** Makes every node add its devices to the guest; called before the boot. */
    void Prepare();
    /** Throws viaduct::Error if the guest's agent does not answer; called after the boot. */
    void CheckBooted();
    /** If the boot has ended and the kernel has all devices of all nodes, passes the current routes
     * of all nodes to the kernel, and then the queued requests of sockets; otherwise does nothing.
     * Called after the boot, and each time the kernel has got another device of a node.
     */
    void StartNodes();

    /** @return the client of the guest's agent */
    std::shared_ptr<viaduct::guest::AgentClient> GetAgent() const
    {
        return m_agent;
    }

    /** @return the viaduct::guest::Guest of this object */
    viaduct::guest::Guest& GetGuest() const
    {
        return *m_guest;
    }

    /** @return the kernel's release, e.g. "6.12.117" */
    std::string GetRelease() const
    {
        return m_options.image.release;
    }

    /** @return whether the kernel runs in this process; known after the start of the guests */
    bool IsEmbedded() const
    {
        return m_options.embedded;
    }
    /** @return whether the attribute Place permits that the kernel runs in this process */
    bool MayBeEmbedded() const
    {
        return m_place == EMBEDDED;
    }

    /**
     * Makes the kernel run in a separate process; must be called before the start of the guests.
     * @param why the reason, for the log, if the attribute Place is EMBEDDED
     */
    void HaveProcess(const std::string& why);

    /** @return the maximum number of devices of all nodes of the guest */
    uint32_t GetMaxDevices() const;
    /** @return the number of devices of all nodes of the guest */
    uint32_t GetNDevices() const
    {
        return static_cast<uint32_t>(m_macs.size());
    }

  protected:
    void DoDispose() override;

  private:
    viaduct::guest::GuestOptions Options() const;
    void ChoosePlace();
    std::string Describe() const;

    std::string m_kernel;                                     //!< attribute Kernel
    uint32_t m_memory;                                        //!< attribute Memory
    std::string m_bootParameters;                             //!< attribute BootParameters
    Place m_place;                                            //!< attribute Place
    uint32_t m_number{0};                                     //!< guest's number, from 0 on
    viaduct::guest::GuestOptions m_options;                   //!< guest's start options
    viaduct::guest::Guest* m_guest{nullptr};                  //!< the guest, owned by the calendar
    std::unique_ptr<viaduct::guest::ControlNic> m_control;    //!< the agent's interface
    bool m_serveSockets;                                      //!< attribute ServeSockets
    std::unique_ptr<viaduct::guest::KernelSockets> m_sockets; //!< sockets served by the kernel
    std::shared_ptr<viaduct::guest::AgentClient> m_agent;     //!< client of the guest's agent
    std::vector<Ptr<KernelNode>> m_nodes;                     //!< nodes of the guest
    std::vector<std::string> m_names;                         //!< the nodes' names
    std::set<viaduct::wire::MacAddress> m_macs;               //!< addresses of the nodes' devices
};

} // namespace ns3

#endif // VIADUCT_KERNEL_GUEST_H
