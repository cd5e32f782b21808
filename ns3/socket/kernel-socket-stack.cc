/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/socket/kernel-socket-stack.h"

#include "ns3/socket/kernel-socket-factory.h"

#include "ns3/boolean.h"
#include "ns3/global-value.h"
#include "ns3/net-device.h"
#include "ns3/node.h"

#include <utility>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(KernelSocketStack);
NS_OBJECT_ENSURE_REGISTERED(KernelTcpSocketFactory);
NS_OBJECT_ENSURE_REGISTERED(KernelUdpSocketFactory);
NS_OBJECT_ENSURE_REGISTERED(KernelRawSocketFactory);
NS_OBJECT_ENSURE_REGISTERED(KernelRaw6SocketFactory);
NS_OBJECT_ENSURE_REGISTERED(KernelDccpSocketFactory);
NS_OBJECT_ENSURE_REGISTERED(KernelSctpSocketFactory);
NS_OBJECT_ENSURE_REGISTERED(KernelMptcpSocketFactory);

TypeId
KernelSocketStack::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::KernelSocketStack").SetParent<Object>().SetGroupName("Viaduct");
    return tid;
}

Ptr<KernelSocketStack>
KernelSocketStack::Create(Ptr<Node> node,
                          std::shared_ptr<viaduct::guest::AgentClient> agent,
                          uint32_t number)
{
    auto stack = CreateObject<KernelSocketStack>();
    stack->m_agent = std::move(agent);
    stack->m_number = number;
    node->AggregateObject(stack);
    return stack;
}

Ptr<KernelSocketStack>
KernelSocketStack::Install(Ptr<Node> node,
                           std::shared_ptr<viaduct::guest::AgentClient> agent,
                           uint32_t number)
{
    // ns-3 must compute checksums, because kernels verify the checksums of packets, including
    // packets of raw sockets and of nodes with ns-3's own stack.
    GlobalValue::Bind("ChecksumEnabled", BooleanValue(true));
    const auto stack = Create(node, std::move(agent), number);
    node->AggregateObject(CreateObject<KernelTcpSocketFactory>());
    node->AggregateObject(CreateObject<KernelUdpSocketFactory>());
    node->AggregateObject(CreateObject<KernelRawSocketFactory>());
    node->AggregateObject(CreateObject<KernelRaw6SocketFactory>());
    node->AggregateObject(CreateObject<KernelDccpSocketFactory>());
    node->AggregateObject(CreateObject<KernelSctpSocketFactory>());
    node->AggregateObject(CreateObject<KernelMptcpSocketFactory>());
    // ns-3's IPv6 layer has a separate factory of raw sockets. If two objects have the same type,
    // GetObject() returns the object that was requested more often (Object::UpdateSortedArray()).
    // One request for the kernel's factory makes GetObject() return the kernel's factory.
    node->GetObject<KernelRaw6SocketFactory>();
    return stack;
}

void
KernelSocketStack::DoDispose()
{
    m_open.clear();
    m_names.clear();
    m_devices.clear();
    m_byIndex.clear();
    m_updateRoutes = {};
    m_agent.reset();
    Object::DoDispose();
}

std::string
KernelSocketStack::GetInterfaceName(Ptr<NetDevice> device) const
{
    const auto found = m_devices.find(device);
    return found == m_devices.end() ? "" : found->second.name;
}

int
KernelSocketStack::GetInterfaceIndex(Ptr<NetDevice> device) const
{
    const auto found = m_devices.find(device);
    return found == m_devices.end() ? 0 : found->second.ifindex;
}

Ptr<NetDevice>
KernelSocketStack::GetDevice(int ifindex) const
{
    const auto found = m_byIndex.find(ifindex);
    return found == m_byIndex.end() ? nullptr : found->second;
}

viaduct::guest::AgentClient&
KernelSocketStack::GetAgent() const
{
    NS_ASSERT_MSG(m_agent, "the node's kernel has ended");
    return *m_agent;
}

bool
KernelSocketStack::Claim(uint32_t number, const Name& name)
{
    return m_names.try_emplace(name, number).first->second == number;
}

void
KernelSocketStack::Unclaim(uint32_t number)
{
    std::erase_if(m_names, [number](const auto& entry) { return entry.second == number; });
}

void
KernelSocketStack::Release(uint32_t number)
{
    m_open.erase(number);
    Unclaim(number);
}

} // namespace ns3
