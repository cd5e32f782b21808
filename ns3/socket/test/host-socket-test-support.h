/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_HOST_SOCKET_TEST_SUPPORT_H
#define VIADUCT_HOST_SOCKET_TEST_SUPPORT_H

#include "ns3/test/kernel-socket-test-support.h"

#include "ns3/global-value.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/offload/host-socket-helper.h"
#include "ns3/string.h"

#include "base/error.h"
#include "base/fd.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"

#include <algorithm>
#include <array>
#include <functional>
#include <sched.h>
#include <string>
#include <unistd.h>
#include <vector>

/**
 * @file
 * @ingroup viaduct
 * Helpers for tests of the host's sockets, in namespaces that are removed after the test.
 */

namespace ns3::viaducttest
{

inline const char* const HOST_TCP = "ns3::HostTcpSocketFactory";
inline const char* const HOST_UDP = "ns3::HostUdpSocketFactory";

/** @return a new network namespace; for a user without privileges, this process first enters a user
 * namespace */
inline viaduct::UniqueFd
MakeTestNamespace()
{
    if (geteuid() != 0)
    {
        static const int entered = unshare(CLONE_NEWUSER);
        viaduct::SystemCall("unshare", entered);
    }
    return viaduct::sys::CreateNamelessNamespace();
}

/** Makes the simulator ReactorSimulatorImpl, in real time, while this object exists. */
struct RealTimeReactor
{
    RealTimeReactor()
    {
        Simulator::Destroy();
        GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::ReactorSimulatorImpl"));
    }

    ~RealTimeReactor()
    {
        GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::DefaultSimulatorImpl"));
    }

    RealTimeReactor(const RealTimeReactor&) = delete;
    RealTimeReactor& operator=(const RealTimeReactor&) = delete;
};

/** Two nodes, each with sockets in its own network namespace; a veth pair connects the namespaces.
 */
struct HostPair : RunsUntil
{
    HostPair()
    {
        namespaces = {MakeTestNamespace(), MakeTestNamespace()};
        viaduct::sys::Netlink().CreateVethPair(
            {.namespace_fd = namespaces[0].get(), .name = "eth0", .mac = {}, .ifindex = 11},
            {.namespace_fd = namespaces[1].get(), .name = "eth0", .mac = {}, .ifindex = 12});
        for (int i : {0, 1})
        {
            viaduct::sys::Netlink netlink(namespaces[i].get());
            const int eth0 = netlink.IfIndex("eth0");
            netlink.SetUp(netlink.IfIndex("lo"), true);
            netlink.AddAddress(eth0, viaduct::wire::IpPrefix::Parse(Ip(false, i) + "/24"));
            netlink.AddAddress(eth0, viaduct::wire::IpPrefix::Parse(Ip(true, i) + "/64"));
            netlink.SetUp(eth0, true);
            nodes.push_back(CreateObject<Node>());
        }
        for (int i : {0, 1})
        {
            viaduct::sys::Netlink(namespaces[i].get())
                .AwaitRunning("eth0", viaduct::Duration::Seconds(10));
        }
    }

    /** Gives both nodes their sockets.
     * @param helper the helper that installs the sockets
     */
    void Install(const HostSocketHelper& helper = {})
    {
        for (int i : {0, 1})
        {
            const viaduct::sys::NamespaceScope scope(namespaces[i].get());
            helper.Install(nodes[i]);
        }
    }

    /** @return the text of a node's address */
    static std::string Ip(bool ipv6, int node)
    {
        return (ipv6 ? "fd00::" : "10.0.0.") + std::to_string(node + 1);
    }

    /** @return the address of a node with a port; node -1: the unspecified address */
    static Address At(bool ipv6, int node, uint16_t port)
    {
        const std::string any = ipv6 ? "::" : "0.0.0.0";
        const std::string text = node < 0 ? any : Ip(ipv6, node);
        return ipv6 ? Address(Inet6SocketAddress(Ipv6Address(text.c_str()), port))
                    : Address(InetSocketAddress(Ipv4Address(text.c_str()), port));
    }

    /** @return a new socket of a node */
    Ptr<Socket> MakeSocket(int node, const std::string& factory) const
    {
        return Socket::CreateSocket(nodes[node], TypeId::LookupByName(factory));
    }

    RealTimeReactor reactor;
    std::array<viaduct::UniqueFd, 2> namespaces;
    std::vector<Ptr<Node>> nodes;
};

using HostSocketTestCase = SocketTestCase<HostPair>;

/** Sends bytes that depend on their position, as fast as the socket accepts them, then ends the
 * sending. */
struct ByteSource
{
    void Start(Ptr<Socket> from, uint32_t bytes)
    {
        socket = from;
        total = bytes;
        socket->SetSendCallback(
            Callback<void, Ptr<Socket>, uint32_t>([this](Ptr<Socket>, uint32_t) { Push(); }));
        Push();
    }

    void Push()
    {
        while (sent < total && socket->GetTxAvailable() > 0)
        {
            const uint32_t size = std::min({total - sent, socket->GetTxAvailable(), 65536u});
            const int accepted = socket->Send(Pattern(sent, size));
            if (accepted <= 0)
            {
                return;
            }
            sent += static_cast<uint32_t>(accepted);
        }
        if (sent == total && !ended)
        {
            ended = true;
            socket->ShutdownSend();
        }
    }

    Ptr<Socket> socket;
    uint32_t total = 0;
    uint32_t sent = 0;
    bool ended = false;
};

/** Counts the bytes that arrive on a socket, and compares them with the bytes of ByteSource. */
struct ByteSink
{
    void Take(const uint8_t* data, uint32_t size)
    {
        std::vector<uint8_t> expected(size);
        Pattern(received, size)->CopyData(expected.data(), size);
        intact = intact && std::equal(expected.begin(), expected.end(), data);
        received += size;
    }

    void Read(Ptr<Socket> socket)
    {
        for (auto packet = socket->Recv(); packet && packet->GetSize() > 0; packet = socket->Recv())
        {
            std::vector<uint8_t> bytes(packet->GetSize());
            packet->CopyData(bytes.data(), packet->GetSize());
            Take(bytes.data(), packet->GetSize());
        }
    }

    uint32_t received = 0;
    bool intact = true;
    bool ended = false;
};

} // namespace ns3::viaducttest

#endif // VIADUCT_HOST_SOCKET_TEST_SUPPORT_H
