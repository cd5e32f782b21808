/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test/viaduct-test-support.h"

#include "ns3/device/lab-fd-net-device.h"
#include "ns3/test.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/**
 * @file
 * @ingroup viaduct
 * Tests of ns3::LabFdNetDevice under ns-3's own real-time simulator, over sockets of this process.
 */

using namespace ns3;
using ns3::viaducttest::Frame;
using ns3::viaducttest::FromHex;

namespace
{

/** The device continues to read its socket after the socket has reported an error, as a packet
 * socket does when its interface goes down. */
class ReadsOnTestCase : public TestCase
{
  public:
    ReadsOnTestCase() : TestCase("the device reads on after its socket has reported an error")
    {
    }

  private:
    void DoRun() override
    {
        Simulator::Destroy();
        GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::RealtimeSimulatorImpl"));
        int fds[2];
        NS_TEST_ASSERT_MSG_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0, "sockets");
        m_outside.reset(fds[1]);
        Name(fds[0]);
        MakeDevice(fds[0]);
        Simulator::Schedule(MilliSeconds(1), &ReadsOnTestCase::BreakAndSend, this);
        Simulator::Stop(Seconds(30)); // the frame arrives long before 30 s
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(m_received, 7, "bytes of the payload");
        Simulator::Destroy();
        GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::DefaultSimulatorImpl"));
    }

    /** Binds the device's socket to an address that the kernel chooses. */
    void Name(int fd)
    {
        m_name.sun_family = AF_UNIX;
        const auto* chosen = reinterpret_cast<const sockaddr*>(&m_name);
        NS_TEST_ASSERT_MSG_EQ(bind(fd, chosen, sizeof(sa_family_t)), 0, "name");
        m_nameLength = sizeof(m_name);
        getsockname(fd, reinterpret_cast<sockaddr*>(&m_name), &m_nameLength);
    }

    void MakeDevice(int fd)
    {
        Ptr<Node> node = CreateObject<Node>();
        Ptr<LabFdNetDevice> device = CreateObject<LabFdNetDevice>();
        device->SetAddress(Mac48Address("02:00:00:00:00:01"));
        device->SetFileDescriptor(fd);
        node->AddDevice(device);
        NS_TEST_EXPECT_MSG_EQ(device->IsMulticast(), true, "RIP and IPv6 need it");
        device->SetReceiveCallback(
            Callback<bool, Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&>(
                [this](Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address&) {
                    m_received = packet->GetSize();
                    Simulator::Stop();
                    return true;
                }));
    }

    /** Disconnects the peer of the device's socket, which then reports ECONNRESET once
     * (unix_dgram_disconnected()), and sends a frame. */
    void BreakAndSend()
    {
        sockaddr nobody{};
        nobody.sa_family = AF_UNSPEC;
        NS_TEST_ASSERT_MSG_EQ(connect(m_outside.get(), &nobody, sizeof(nobody)), 0, "disconnected");
        const Frame frame = FromHex("020000000001 020000000002 88b5 01020304050607");
        const auto sent = sendto(m_outside.get(),
                                 frame.data(),
                                 frame.size(),
                                 0,
                                 reinterpret_cast<sockaddr*>(&m_name),
                                 m_nameLength);
        NS_TEST_ASSERT_MSG_EQ(sent, static_cast<ssize_t>(frame.size()), "frame sent");
    }

    viaduct::UniqueFd m_outside; //!< peer of the device's socket
    sockaddr_un m_name{};        //!< address of the device's socket
    socklen_t m_nameLength{0};   //!< bytes of m_name
    uint32_t m_received{0};      //!< bytes of the received payload
};

/** The device counts the frames that it drops at a full queue, which FdNetDevice does not
 * report. */
class QueueFullTestCase : public TestCase
{
  public:
    QueueFullTestCase() : TestCase("Frames that the simulator is too slow to take are counted")
    {
    }

  private:
    void DoRun() override
    {
        GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::RealtimeSimulatorImpl"));
        int fds[2];
        NS_TEST_ASSERT_MSG_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0, "sockets");
        m_outside.reset(fds[1]);
        Ptr<Node> node = CreateObject<Node>();
        m_device = CreateObject<LabFdNetDevice>();
        m_device->SetAddress(Mac48Address("02:00:00:00:00:01"));
        m_device->SetAttribute("RxQueueSize", UintegerValue(1));
        m_device->SetFileDescriptor(fds[0]);
        node->AddDevice(m_device);
        m_device->SetReceiveCallback(
            Callback<bool, Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&>(
                [this](Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&) {
                    m_received++;
                    Simulator::Stop();
                    return true;
                }));
        Simulator::Schedule(MilliSeconds(1), &QueueFullTestCase::SendAll, this);
        Simulator::Stop(Seconds(60)); // the first frame arrives long before 60 s
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(m_received, 1, "the first");
        Simulator::Destroy();
        GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::DefaultSimulatorImpl"));
    }

    /** Sends all frames in one event, during which the simulator receives no frame. */
    void SendAll()
    {
        const Frame frame = FromHex("020000000001 020000000002 88b5 01020304050607");
        for (int i = 0; i < 4; i++)
        {
            const auto sent = send(m_outside.get(), frame.data(), frame.size(), 0);
            NS_TEST_ASSERT_MSG_EQ(sent, static_cast<ssize_t>(frame.size()), "frame sent");
        }
        for (int waited = 0; m_device->GetQueueDrops() < 2 && waited < 3000; waited++)
        {
            usleep(10000);
        }
        NS_TEST_EXPECT_MSG_EQ(m_device->GetQueueDrops(), 2, "the others but the last");
        NS_TEST_EXPECT_MSG_EQ(m_device->GetKernelDrops(), 0, "no packet socket");
    }

    viaduct::UniqueFd m_outside;  //!< peer of the device's socket
    Ptr<LabFdNetDevice> m_device; //!< device under test
    uint32_t m_received{0};       //!< received frames
};

/** The device drops and counts frames longer than the MTU, and counts frames that its socket
 * refuses. */
class TooLongTestCase : public TestCase
{
  public:
    TooLongTestCase() : TestCase("Frames that cannot be sent are counted")
    {
    }

  private:
    void DoRun() override
    {
        GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::RealtimeSimulatorImpl"));
        int fds[2];
        NS_TEST_ASSERT_MSG_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0, "sockets");
        m_outside.reset(fds[1]);
        Ptr<Node> node = CreateObject<Node>();
        m_device = CreateObject<LabFdNetDevice>();
        m_device->SetAddress(Mac48Address("02:00:00:00:00:01"));
        m_device->SetMtu(100);
        m_device->SetFileDescriptor(fds[0]);
        node->AddDevice(m_device);
        Simulator::Schedule(MilliSeconds(1), &TooLongTestCase::SendAll, this);
        Simulator::Stop(MilliSeconds(2));
        Simulator::Run();
        Simulator::Destroy();
        GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::DefaultSimulatorImpl"));
    }

    /** @param size bytes of the payload
     * @return whether the packet was sent
     */
    bool Send(uint32_t size)
    {
        return m_device->Send(Create<Packet>(size), Mac48Address("02:00:00:00:00:02"), 0x88b5);
    }

    void SendAll()
    {
        NS_TEST_EXPECT_MSG_EQ(Send(100), true, "fits");
        NS_TEST_EXPECT_MSG_EQ(Send(101), false, "too long");
        NS_TEST_EXPECT_MSG_EQ(m_device->GetTooLong(), 1, "one of these");
        m_outside.reset();
        NS_TEST_EXPECT_MSG_EQ(Send(100), false, "nobody takes it");
        NS_TEST_EXPECT_MSG_EQ(m_device->GetRefused(), 1, "one of these");
        NS_TEST_EXPECT_MSG_EQ(m_device->GetTooLong(), 1, "as before");
    }

    viaduct::UniqueFd m_outside;  //!< peer of the device's socket
    Ptr<LabFdNetDevice> m_device; //!< device under test
};

/** The tests of ns3::LabFdNetDevice. */
class LabFdNetDeviceTestSuite : public TestSuite
{
  public:
    LabFdNetDeviceTestSuite() : TestSuite("viaduct-lab-fd-net-device", Type::UNIT)
    {
        AddTestCase(new ReadsOnTestCase, TestCase::Duration::QUICK);
        AddTestCase(new TooLongTestCase, TestCase::Duration::QUICK);
        AddTestCase(new QueueFullTestCase, TestCase::Duration::QUICK);
    }
};

LabFdNetDeviceTestSuite g_labFdNetDeviceTestSuite; //!< registers the suite

} // namespace
