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
    /** Where the guest's kernel is. */
    enum Place
    {
        PROCESS,  //!< in a process of its own
        EMBEDDED, //!< in the simulator's process if it can be there, else in one of its own
    };

    /** @return the object TypeId */
    static TypeId GetTypeId();

    /** Adds the guest to the calendar; call it once, after its attributes are set. */
    void Enter();
    /**
     * Adds a node, before the start of the simulation.
     * @param node the node
     * @param name its name in the guest
     * @return its number there
     */
    uint32_t AddNode(Ptr<KernelNode> node, const std::string& name);
    /** Adds a device to the guest, while it is being prepared.
     * @param device the ns-3 device that it stands for
     * @return the guest's device
     */
    viaduct::guest::Nic& AddNic(Ptr<NetDevice> device);
    /** Adds a device that stands for none of ns-3's.
     * @param mac its address
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

    /** @return its agent */
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

    /** @return whether its kernel is in this process; known once guests have been started */
    bool IsEmbedded() const
    {
        return m_options.embedded;
    }
    /** @return whether it is wanted there */
    bool MayBeEmbedded() const
    {
        return m_place == EMBEDDED;
    }

    /**
     * Keeps the kernel out of this process, before guests are started.
     * @param why for who has wanted it there
     */
    void HaveProcess(const std::string& why);

    /** @return how many devices of nodes it can have */
    uint32_t GetMaxDevices() const;
    /** @return how many it has */
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
    uint32_t m_number{0};                                     //!< among the guests
    viaduct::guest::GuestOptions m_options;                   //!< its start options
    viaduct::guest::Guest* m_guest{nullptr};                  //!< of the calendar
    std::unique_ptr<viaduct::guest::ControlNic> m_control;    //!< the agent's interface
    bool m_serveSockets;                                      //!< attribute ServeSockets
    std::unique_ptr<viaduct::guest::KernelSockets> m_sockets; //!< those that its kernel serves
    std::shared_ptr<viaduct::guest::AgentClient> m_agent;     //!< its other end
    std::vector<Ptr<KernelNode>> m_nodes;                     //!< whose stack it is
    std::vector<std::string> m_names;                         //!< their names
    std::set<viaduct::wire::MacAddress> m_macs;               //!< of its devices
};

} // namespace ns3

#endif // VIADUCT_KERNEL_GUEST_H
