#include "io/threaded_port.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "io/test/test_network.h"

namespace viaduct::io {
namespace {

// One end of a pair of sockets that keep the bounds of frames.
class SocketPort final : public AnyPort {
 public:
  static constexpr size_t kLongest = 65600;

  static std::pair<std::unique_ptr<SocketPort>, std::unique_ptr<SocketPort>> MakePair() {
    int fds[2];
    SystemCall("socketpair", socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, fds));
    return {std::make_unique<SocketPort>(UniqueFd(fds[0])),
            std::make_unique<SocketPort>(UniqueFd(fds[1]))};
  }
  explicit SocketPort(UniqueFd fd) : fd_(std::move(fd)) {}

  size_t Receive(std::span<ReceivedFrame> frames) override {
    size_t count = 0;
    for (; count < std::min(frames.size(), memory_.size()); ++count) {
      const ssize_t length = recv(fd_.get(), memory_[count].data(), memory_[count].size(), 0);
      if (length <= 0) break;
      frames[count] = {};
      frames[count].bytes = std::span(memory_[count]).first(static_cast<size_t>(length));
      frames[count].received = Instant::FromNanoseconds(length);
    }
    received_ += count;
    return count;
  }
  size_t Transmit(std::span<const FrameToSend> frames) override {
    size_t count = 0;
    refused_.clear();
    for (; count < frames.size(); ++count) {
      if (frames[count].size() > kLongest) {
        refused_.push_back(static_cast<uint32_t>(count));
        continue;
      }
      if (send(fd_.get(), frames[count].data(), frames[count].size(), MSG_NOSIGNAL) < 0) break;
    }
    sent_ += count - refused_.size();
    return count;
  }
  std::span<const uint32_t> Refused() const override { return refused_; }
  int TransmitFd() override { return fd_.get(); }
  int Fd() override { return fd_.get(); }
  PortCounters Counters() override { return {.rx_frames = received_, .tx_frames = sent_}; }
  size_t BytesInFlight() override { return 7; }

 private:
  UniqueFd fd_;
  std::array<std::array<std::byte, 70000>, 40> memory_;
  std::vector<uint32_t> refused_;
  std::atomic<uint64_t> received_ = 0, sent_ = 0;
};

using Frame = std::vector<std::byte>;

Frame Numbered(uint32_t number, size_t bytes) {
  Frame frame(bytes, static_cast<std::byte>(number));
  std::memcpy(frame.data(), &number, std::min(sizeof number, bytes));
  return frame;
}

class ThreadedPortTest : public testing::Test {
 protected:
  ThreadedPortTest() {
    auto [below, other] = SocketPort::MakePair();
    port_ = std::make_unique<ThreadedPort>(std::move(below));
    other_ = std::move(other);
  }
  // Sends all, however often there is no room.
  static void SendAll(AnyPort& port, const std::vector<Frame>& frames, size_t burst) {
    const std::vector<FrameToSend> spans(frames.begin(), frames.end());
    for (size_t sent = 0; sent < spans.size();) {
      sent += port.Transmit(std::span(spans).subspan(sent, std::min(burst, spans.size() - sent)));
    }
  }
  static std::vector<Frame> Take(AnyPort& port, size_t wanted, size_t burst, int wait_ms = 20000) {
    std::vector<Frame> all;
    std::vector<ReceivedFrame> frames(burst);
    while (all.size() < wanted) {
      const size_t count = port.Receive(frames);
      for (size_t i = 0; i < count; ++i) {
        EXPECT_EQ(frames[i].received.nanoseconds(), static_cast<int64_t>(frames[i].bytes.size()));
        all.emplace_back(frames[i].bytes.begin(), frames[i].bytes.end());
      }
      if (count == 0 && !IsReadable(port.Fd(), wait_ms)) break;
    }
    return all;
  }

  std::unique_ptr<ThreadedPort> port_;
  std::unique_ptr<SocketPort> other_;
};

TEST_F(ThreadedPortTest, KeepsFramesAndTheirOrder) {
  for (const size_t burst : {1, 2, 63, 64, 65, 300}) {
    std::vector<Frame> frames;
    for (uint32_t i = 0; i < 300; ++i) frames.push_back(Numbered(i, 1 + i * 5));
    std::thread sender([&] { SendAll(*other_, frames, burst); });
    EXPECT_EQ(Take(*port_, frames.size(), burst), frames);
    sender.join();
    std::thread receiver([&] { EXPECT_EQ(Take(*other_, frames.size(), 64), frames); });
    SendAll(*port_, frames, burst);
    receiver.join();
  }
}

TEST_F(ThreadedPortTest, CarriesTenThousandFramesEachWayAtOnce) {
  constexpr uint32_t kFrames = 10000;
  std::vector<Frame> frames;
  for (uint32_t i = 0; i < kFrames; ++i) frames.push_back(Numbered(i, 60));
  std::thread source([&] { SendAll(*other_, frames, 32); });
  std::thread sender([&] { SendAll(*port_, frames, 32); });
  std::thread sink([&] { EXPECT_EQ(Take(*other_, kFrames, 40), frames); });
  EXPECT_EQ(Take(*port_, kFrames, 48), frames);
  for (std::thread* thread : {&source, &sender, &sink}) thread->join();
  EXPECT_EQ(port_->Counters().rx_frames, kFrames);
  EXPECT_EQ(port_->Counters().tx_frames, kFrames);
  EXPECT_EQ(port_->Receive({}), 0u);
  EXPECT_FALSE(IsReadable(port_->Fd(), 0)) << "nothing is left, and it says so";
}

TEST_F(ThreadedPortTest, CarriesSuperFrames) {
  std::vector<Frame> frames;
  for (uint32_t i = 0; i < 10; ++i) frames.push_back(Numbered(i, 65500 + i));
  std::thread source([&] { SendAll(*other_, frames, 1); });
  EXPECT_EQ(Take(*port_, frames.size(), 64), frames);
  source.join();
}

TEST_F(ThreadedPortTest, LendsFramesUntilTheNextCall) {
  std::vector<ReceivedFrame> first(1), second(1);
  SendAll(*other_, {Numbered(1, 60), Numbered(2, 60)}, 2);
  while (port_->Receive(first) == 0) ASSERT_TRUE(IsReadable(port_->Fd()));
  EXPECT_EQ(first[0].bytes[0], std::byte{1});
  while (port_->Receive(second) == 0) ASSERT_TRUE(IsReadable(port_->Fd()));
  EXPECT_EQ(second[0].bytes[0], std::byte{2});
}

TEST_F(ThreadedPortTest, IsFullAtSomeTimeAndGoesOn) {
  const Frame frame = Numbered(1, 1000);
  const FrameToSend one(frame);
  size_t taken = 0;
  // Nobody reads the other end, and its buffer is full at some time.
  while (port_->BytesInFlight() < BurstRing::kBursts * frame.size()) {
    taken += port_->Transmit({&one, 1});
  }
  EXPECT_EQ(port_->Transmit({&one, 1}), 0u);
  EXPECT_EQ(Take(*other_, taken, 40).size(), taken);
  EXPECT_EQ(Take(*other_, 1, 40, 0).size(), 0u);
}

TEST_F(ThreadedPortTest, SendsWhatItHasTakenBeforeItEnds) {
  SendAll(*port_, {Numbered(1, 60), Numbered(2, 60), Numbered(3, 60)}, 3);
  port_.reset();
  EXPECT_EQ(Take(*other_, 3, 4).size(), 3u);
}

TEST_F(ThreadedPortTest, WhatIsRefusedHasNoDelay) {
  const size_t too_long = SocketPort::kLongest + 1;
  SendAll(*port_, {Numbered(1, 60), Numbered(2, too_long), Numbered(3, too_long), Numbered(4, 60)},
          4);
  EXPECT_EQ(Take(*other_, 2, 4).size(), 2u);
  while (port_->BytesInFlight() > 7) std::this_thread::yield();  // those of the port below
  EXPECT_EQ(port_->SendingDelays().Count(), 2u);
  EXPECT_EQ(port_->Counters().tx_frames, 2u);
}

TEST_F(ThreadedPortTest, EndsWhileNobodyReadsOrWrites) {
  SendAll(*other_, std::vector<Frame>(100, Numbered(1, 1000)), 1);
  const Frame frame = Numbered(1, 1000);
  const FrameToSend one(frame);
  for (int i = 0; i < 10000; ++i) (void)port_->Transmit({&one, 1});
  port_.reset();
}

TEST_F(ThreadedPortTest, RefusesWhatNoFrameIsAsLongAs) {
  const Frame frame = Numbered(1, 70000);
  const FrameToSend one(frame);
  EXPECT_EQ(port_->Transmit({&one, 1}), 1u);
  EXPECT_EQ(port_->Counters().tx_dropped_error, 1u);
}

}  // namespace
}  // namespace viaduct::io
