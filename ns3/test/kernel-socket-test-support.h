/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_SOCKET_TEST_SUPPORT_H
#define VIADUCT_KERNEL_SOCKET_TEST_SUPPORT_H

#include "ns3/test/native-agent.h"

#include "ns3/event-id.h"
#include "ns3/inet-socket-address.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/socket/kernel-socket-stack.h"
#include "ns3/test.h"

#include "base/clock.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup viaduct
 * Helpers for tests of kernel sockets that use the kernel of the machine that runs the tests.
 */

namespace ns3::viaducttest
{

/** Functions that run the simulator until a condition holds, as the time that this machine's kernel
 * needs depends on the machine. */
struct RunsUntil
{
    /** Runs the simulator until a condition holds.
     * @return false if the condition does not hold within a minute of real time
     */
    bool RunUntil(const std::function<bool()>& condition)
    {
        const auto end = viaduct::MonotonicClock::Now() + viaduct::Duration::Seconds(60);
        EventId next;
        std::function<void()> look = [&] {
            if (condition() || viaduct::MonotonicClock::Now() > end)
            {
                Simulator::Stop();
            }
            else
            {
                next = Simulator::Schedule(MilliSeconds(1), [&] { look(); });
            }
        };
        // look() is called in an event, because Simulator::Run() ignores a call of Stop() before
        // Run().
        next = Simulator::ScheduleNow([&] { look(); });
        Simulator::Run();
        next.Cancel();
        return condition();
    }

    /** Runs the simulator until a condition holds, and for 100 ms after that, to detect events that
     * must not happen again. */
    void RunPast(const std::function<bool()>& condition)
    {
        RunUntil(condition);
        Simulator::Stop(MilliSeconds(100));
        Simulator::Run();
    }
};

/** A node with sockets of this machine's kernel, in a network namespace that is removed at the end
 * of the test. */
struct NativeNode : RunsUntil
{
    NativeNode()
    {
        agent =
            std::make_shared<viaduct::guest::AgentClient>(channel, [](std::function<void()> work) {
                Simulator::ScheduleNow([work] { work(); });
            });
        node = CreateObject<Node>();
        KernelSocketStack::Install(node, agent, agent->CreateNode("n0"));
    }

    /**
     * @param factory the name of a socket factory's TypeId
     * @return a new socket of the node
     */
    Ptr<Socket> MakeSocket(const std::string& factory) const
    {
        return Socket::CreateSocket(node, TypeId::LookupByName(factory));
    }

    NativeAgent channel;
    std::shared_ptr<viaduct::guest::AgentClient> agent;
    Ptr<Node> node;
};

inline const char* const TCP = "ns3::KernelTcpSocketFactory";
inline const char* const UDP = "ns3::KernelUdpSocketFactory";

/** @return the loopback address with a port */
inline InetSocketAddress
Local(uint16_t port)
{
    return InetSocketAddress(Ipv4Address("127.0.0.1"), port);
}

/** @return a packet whose bytes depend on their offsets in a stream */
inline Ptr<Packet>
Pattern(uint32_t offset, uint32_t size)
{
    std::vector<uint8_t> bytes(size);
    for (uint32_t i = 0; i < size; ++i)
    {
        bytes[i] = static_cast<uint8_t>((offset + i) * 2654435761u >> 24);
    }
    return Create<Packet>(bytes.data(), size);
}

/** A test case that runs a scenario on a new simulator.
 * @tparam Fixture the class of the scenario's argument, which is created before the scenario runs
 * and destroyed after it
 */
template <class Fixture>
class SocketTestCase : public TestCase
{
  public:
    /**
     * @param name the name of the test case
     * @param scenario the function that does the steps of the test case
     */
    SocketTestCase(const std::string& name, std::function<void(SocketTestCase&, Fixture&)> scenario)
        : TestCase(name), m_scenario(std::move(scenario))
    {
    }

    /** Checks that two values are equal.
     * @param actual the actual value
     * @param expected the expected value
     * @param what the description of the value
     */
    template <class A, class B>
    void Equal(const A& actual, const B& expected, const std::string& what)
    {
        NS_TEST_EXPECT_MSG_EQ(actual, expected, what);
    }

  private:
    void DoRun() override
    {
        {
            Fixture fixture;
            m_scenario(*this, fixture);
            Simulator::Destroy();
        }
        Simulator::Destroy();
    }

    std::function<void(SocketTestCase&, Fixture&)> m_scenario;
};

using KernelSocketTestCase = SocketTestCase<NativeNode>;

/** Records the events of sockets as text. */
struct Diary
{
    std::string text;
    Ptr<Socket> accepted;

    void Watch(Ptr<Socket> socket, const std::string& who)
    {
        socket->SetConnectCallback(
            Callback<void, Ptr<Socket>>([this, who](Ptr<Socket>) { text += who + " connected, "; }),
            Callback<void, Ptr<Socket>>([this, who](Ptr<Socket>) { text += who + " failed, "; }));
        socket->SetCloseCallbacks(
            Callback<void, Ptr<Socket>>([this, who](Ptr<Socket>) { text += who + " closed, "; }),
            Callback<void, Ptr<Socket>>([this, who](Ptr<Socket>) { text += who + " broken, "; }));
    }

    void Accept(Ptr<Socket> listener, bool willing)
    {
        listener->SetAcceptCallback(
            Callback<bool, Ptr<Socket>, const Address&>(
                [willing](Ptr<Socket>, const Address&) { return willing; }),
            Callback<void, Ptr<Socket>, const Address&>([this](Ptr<Socket> socket, const Address&) {
                accepted = socket;
                Watch(socket, "server");
                text += "accepted, ";
            }));
    }
};

} // namespace ns3::viaducttest

#endif // VIADUCT_KERNEL_SOCKET_TEST_SUPPORT_H
