/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/device/test/interface-test-support.h"

#include "ns3/path/test/path-test-link.h"

#include "ns3/device/ring-device-helper.h"
#include "ns3/node-container.h"
#include "ns3/output-stream-wrapper.h"
#include "ns3/path/path-helper.h"
#include "ns3/pcap-file.h"

#include <fstream>
#include <iterator>
#include <sstream>

/**
 * @file
 * @ingroup viaduct
 * Tests of ns3::RingDeviceHelper and of the files that ns3::EthernetTraceHelper writes.
 */

using namespace ns3;
using namespace ns3::viaducttest;

namespace
{

/** @return the frames in a pcap file */
std::vector<Frame>
FramesOf(const std::string& name)
{
    PcapFile file;
    file.Open(name, std::ios::in);
    std::vector<Frame> frames;
    while (true)
    {
        Frame frame(65536);
        uint32_t seconds = 0;
        uint32_t microseconds = 0;
        uint32_t captured = 0;
        uint32_t original = 0;
        uint32_t read = 0;
        file.Read(reinterpret_cast<uint8_t*>(frame.data()),
                  frame.size(),
                  seconds,
                  microseconds,
                  captured,
                  original,
                  read);
        if (file.Eof() || file.Fail())
        {
            return frames;
        }
        frame.resize(read);
        frames.push_back(frame);
    }
}

/** @return the lines of an ASCII trace, without their times */
std::vector<std::string>
LinesOf(std::istream& in)
{
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);)
    {
        std::istringstream words(line);
        std::string event;
        std::string time;
        std::string rest;
        words >> event >> time >> std::ws;
        std::getline(words, rest);
        lines.push_back(event + " " + rest);
    }
    return lines;
}

/** A device of RingDeviceHelper on an interface is traced to pcap and ASCII files. */
class RingHelperTestCase : public PortTestCase
{
  public:
    RingHelperTestCase()
        : PortTestCase("AfPacket", "the helper's device is traced to pcap and ASCII files")
    {
    }

  private:
    /** Sends a frame to the device of a new node, and makes the device send one frame that fits and
     * one that is longer than the MTU.
     * @param prefix the prefix of the trace files' names
     * @param in the frame that the device receives
     * @return the frames that the device has sent; the trace files are closed on return
     */
    std::vector<Frame> Exchange(const std::string& prefix, const Frame& in)
    {
        ReactorScope reactor(TestTime::REAL);
        TestInterface link;
        auto outside = link.Outside();
        RingDeviceHelper helper;
        helper.SetDeviceAttribute("Namespace", StringValue(link.network.b.Path()));
        helper.SetDeviceAttribute("Filter", StringValue("ether proto 0x88b5"));
        helper.SetDeviceAttribute("Port", StringValue("AfPacket"));
        NodeContainer nodes(1);
        const NetDeviceContainer devices = helper.Install(nodes.Get(0), "b0");
        Ptr<NetDevice> device = devices.Get(0);
        helper.EnablePcap(prefix, devices, true);
        helper.EnableAscii(prefix, devices);
        PathHelper().EnablePcapAll(prefix + "-path"); // PathHelper ignores the RingNetDevice
        int received = 0;
        device->SetReceiveCallback(
            Callback<bool, Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&>(
                [&](Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&) {
                    received++;
                    return true;
                }));
        std::vector<Frame> sent;
        auto look = [&] {
            for (const Frame& frame : TakeFrames(outside))
            {
                const bool own = frame.size() > 13 && frame[12] == std::byte{0x88} &&
                                 frame[13] == std::byte{0xb5};
                sent.insert(sent.end(), own ? 1 : 0, frame);
            }
            return !sent.empty();
        };
        auto answer = [&] {
            device->Send(Create<Packet>(46), Mac48Address::GetBroadcast(), PROTOCOL);
            device->Send(Create<Packet>(9000), Mac48Address::GetBroadcast(), PROTOCOL);
            return true;
        };
        bool answered = false;
        Simulator::Schedule(MilliSeconds(1), [&] {
            viaduct::io::SendFrame(outside, in);
            StopWhen([&] {
                answered = answered || (received > 0 && answer());
                return answered && look();
            });
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(received, 1, "received");
        return sent;
    }

    void RunOnInterfaces() override
    {
        const std::string prefix = CreateTempDirFilename("ring");
        const Frame in = FromHex("ffffffffffff 020000000002 88b5 0102030405");
        const std::vector<Frame> sent = Exchange(prefix, in);
        NS_TEST_ASSERT_MSG_EQ(sent.size(), 1, "sent");
        const std::vector<Frame> captured = FramesOf(prefix + "-0-0.pcap");
        NS_TEST_ASSERT_MSG_EQ(captured.size(), 2, "as many as passed");
        NS_TEST_EXPECT_MSG_EQ((captured[0] == in), true, "what came");
        NS_TEST_EXPECT_MSG_EQ((captured[1] == sent[0]), true, "what went");
        std::ifstream file(prefix + "-0-0.tr");
        const std::vector<std::string> lines = LinesOf(file);
        NS_TEST_ASSERT_MSG_EQ(lines.size(), 3, "a line each");
        NS_TEST_EXPECT_MSG_EQ(lines[0].substr(0, 2), "r ", "received");
        NS_TEST_EXPECT_MSG_NE(lines[0].find("size=19"), std::string::npos, lines[0]);
        NS_TEST_EXPECT_MSG_EQ(lines[1].substr(0, 2), "- ", "sent");
        NS_TEST_EXPECT_MSG_EQ(lines[2].substr(0, 2), "d ", "longer than the MTU");
        NS_TEST_EXPECT_MSG_EQ(std::ifstream(prefix + "-path-0-0.pcap").good(), false, "no path");
    }
};

/** Two devices on a path are traced to one ASCII stream. */
class PathStreamTestCase : public TestCase
{
  public:
    PathStreamTestCase() : TestCase("devices on a path are traced to one ASCII stream")
    {
    }

  private:
    void DoRun() override
    {
        TestLink link("delay=1ms", "delay=2ms");
        std::ostringstream text;
        PathHelper().EnableAsciiAll(Create<OutputStreamWrapper>(&text));
        link.SendAt(0, Seconds(1), Create<Packet>(100));
        link.SendAt(1, Seconds(2), Create<Packet>(200));
        link.SendAt(1, Seconds(3), Create<Packet>(2000)); // longer than the MTU
        Simulator::Run();
        std::istringstream in(text.str());
        const std::vector<std::string> lines = LinesOf(in);
        const std::string first =
            "/NodeList/" + std::to_string(link.nodes.Get(0)->GetId()) + "/DeviceList/0/";
        const std::string second =
            "/NodeList/" + std::to_string(link.nodes.Get(1)->GetId()) + "/DeviceList/0/";
        const std::string type = "$ns3::PathNetDevice/";
        const std::vector<std::string> expected{"- " + first + type + "MacTx",
                                                "r " + second + type + "MacRx",
                                                "- " + second + type + "MacTx",
                                                "r " + first + type + "MacRx",
                                                "d " + second + type + "MacTxDrop"};
        NS_TEST_ASSERT_MSG_EQ(lines.size(), expected.size(), text.str());
        for (size_t i = 0; i < lines.size(); i++)
        {
            NS_TEST_EXPECT_MSG_EQ(lines[i].substr(0, expected[i].size()), expected[i], "event");
        }
        NS_TEST_EXPECT_MSG_NE(lines[0].find("EthernetHeader"), std::string::npos, lines[0]);
        NS_TEST_EXPECT_MSG_NE(lines[1].find("size=100"), std::string::npos, lines[1]);
        Simulator::Destroy();
    }
};

/** The tests of the traces of devices. */
class RingDeviceHelperTestSuite : public TestSuite
{
  public:
    RingDeviceHelperTestSuite() : TestSuite("viaduct-device-traces", Type::UNIT)
    {
        AddTestCase(new RingHelperTestCase, TestCase::Duration::QUICK);
        AddTestCase(new PathStreamTestCase, TestCase::Duration::QUICK);
    }
};

RingDeviceHelperTestSuite g_ringDeviceHelperTestSuite; //!< registers the suite

} // namespace
