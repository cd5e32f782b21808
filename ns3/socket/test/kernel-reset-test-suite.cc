/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test/kernel-socket-test-support.h"

#include <string>
#include <utility>

/**
 * @file
 * @ingroup viaduct
 * Tests of connections that are reset, against this machine's kernel.
 */

using namespace ns3;
using viaducttest::Diary;
using viaducttest::KernelSocketTestCase;
using viaducttest::Local;
using viaducttest::NativeNode;
using viaducttest::Pattern;
using viaducttest::TCP;

namespace
{

// Tests a reset while data waits to be sent: send(2) reports the reset, for data that did not fit
// in the buffer, and recv(2) then reports the end of the stream.
void
TestResetWhileSending(KernelSocketTestCase& test, NativeNode& kernel)
{
    Ptr<Socket> reader;
    auto listener = kernel.MakeSocket(TCP);
    listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), 5001));
    listener->Listen();
    listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                Callback<void, Ptr<Socket>, const Address&>(
                                    [&](Ptr<Socket> socket, const Address&) { reader = socket; }));
    auto sender = kernel.MakeSocket(TCP);
    Diary diary;
    diary.Watch(sender, "sender");
    uint32_t before = 0;
    uint32_t sent = 0;
    int unchanged = 0;
    const auto fill = [&](Ptr<Socket> socket, uint32_t) {
        while (socket->GetTxAvailable() > 0 && socket->Send(Pattern(sent, 1000)) > 0)
        {
            sent += 1000;
        }
    };
    sender->SetSendCallback(Callback<void, Ptr<Socket>, uint32_t>(fill));
    sender->Connect(Local(5001));
    kernel.RunUntil([&] {
        unchanged = std::exchange(before, sent) == sent ? unchanged + 1 : 0;
        return unchanged > 200 && reader && reader->GetRxAvailable() >= 131072;
    });
    if (!reader)
    {
        test.Equal(false, true, "connected");
        return;
    }
    reader->Close(); // resets the connection: the reader has unread data
    kernel.RunPast([&] { return diary.text.find("connected, ") + 11 < diary.text.size(); });
    test.Equal(diary.text, "sender connected, sender broken, ", "what the sender is told");
    test.Equal(sender->Send(Create<Packet>(1)), -1, "sending after that");
}

/** The test suite of connections that are reset. */
class KernelResetTestSuite : public TestSuite
{
  public:
    KernelResetTestSuite() : TestSuite("viaduct-kernel-reset", Type::UNIT)
    {
        AddTestCase(
            new KernelSocketTestCase("a reset while data waits to be sent", TestResetWhileSending),
            Duration::QUICK);
    }
};

KernelResetTestSuite g_kernelResetTestSuite; //!< registers the suite

} // namespace
