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
 * @brief A real Linux kernel in virtual time, the network stack of one or many nodes.
 */
class KernelGuest : public Object
{
  public:
    /** The process in which the guest's kernel runs. */
    enum Place
    {
        PROCESS,  //!< a separate process
        EMBEDDED, //!< the simulator's process if possible, else a separate one
    };

    /** @return the object TypeId */
    static TypeId GetTypeId();

    /** Adds the guest to the calendar; call it once, after its attributes are set. */
    void Enter();
    /**
     * Adds a node, before the start of the simulation.
     * @param node the node
     * @param name the node's name in the guest
     * @return the node's number in the guest
     */
    uint32_t AddNode(Ptr<KernelNode> node, const std::string& name);
    /** Adds a device to the guest, while it is being prepared.
     * @param device the ns-3 device that the guest's device stands for
     * @return the guest's device
     */
    viaduct::guest::Nic& AddNic(Ptr<NetDevice> device);
    /** Adds a device that stands for no ns-3 device.
     * @param mac the device's address
     * @return the guest's device
     */
    viaduct::guest::Nic& AddNic(const viaduct::wire::MacAddress& mac);

    /** Makes every node add its devices; called before the boot. */
    void Prepare();
    /** Ends the program if an error occurred in the guest; called after the boot. */
    void CheckBooted();
    /** Called after the boot and when a node's last device is known: once all devices are, passes
     * the present routes to the kernel, and then the queued requests of sockets.
     */
    void StartNodes();

    /** @return the client of the guest's agent */
    std::shared_ptr<viaduct::guest::AgentClient> GetAgent() const
    {
        return m_agent;
    }

    /** @return the guest itself */
    viaduct::guest::Guest& GetGuest() const
    {
        return *m_guest;
    }

    /** @return the kernel's release, e.g. "6.12.117" */
    std::string GetRelease() const
    {
        return m_options.image.release;
    }

    /** @return whether the kernel is in this process; known once guests have been started */
    bool IsEmbedded() const
    {
        return m_options.embedded;
    }
    /** @return whether attribute Place asks for the kernel in this process */
    bool MayBeEmbedded() const
    {
        return m_place == EMBEDDED;
    }

    /**
     * Keeps the kernel out of this process, before guests are started.
     * @param why the reason, for a user who has asked for it in this process
     */
    void HaveProcess(const std::string& why);

    /** @return the maximum number of nodes' devices */
    uint32_t GetMaxDevices() const;
    /** @return the number of nodes' devices */
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
    uint32_t m_number{0};                                     //!< number among the guests
    viaduct::guest::GuestOptions m_options;                   //!< start options
    viaduct::guest::Guest* m_guest{nullptr};                  //!< the guest, owned by the calendar
    std::unique_ptr<viaduct::guest::ControlNic> m_control;    //!< the agent's interface
    bool m_serveSockets;                                      //!< attribute ServeSockets
    std::unique_ptr<viaduct::guest::KernelSockets> m_sockets; //!< sockets that its kernel serves
    std::shared_ptr<viaduct::guest::AgentClient> m_agent;     //!< client of the guest's agent
    std::vector<Ptr<KernelNode>> m_nodes;                     //!< nodes whose stack it is
    std::vector<std::string> m_names;                         //!< the nodes' names
    std::set<viaduct::wire::MacAddress> m_macs;               //!< addresses of the nodes' devices
};

} // namespace ns3

#endif // VIADUCT_KERNEL_GUEST_H
