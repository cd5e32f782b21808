#include "guest/agent/state_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/tcp.h>

#include <deque>
#include <utility>
#include <vector>

namespace viaduct::guest {
namespace {

using agent::BytesOf;
using agent::Code;
using testing::ElementsAre;
using testing::Pair;

TEST(ParseCountersTest, ReadsSnmpAndSnmp6AsNstatNamesThem) {
  Counters counters;
  ParseCounters(
      "Ip: Forwarding DefaultTTL\nIp: 2 64\nTcp: MaxConn ActiveOpens\nTcp: -1 "
      "18446744073709551615\n",
      counters);
  ParseCounters("Ip6InReceives                   \t7\nIcmp6InType134                  \t1\n",
                counters);
  ParseCounters("", counters);
  EXPECT_THAT(counters, ElementsAre(Pair("Icmp6InType134", 1), Pair("Ip6InReceives", 7),
                                    Pair("IpDefaultTTL", 64), Pair("IpForwarding", 2),
                                    Pair("TcpActiveOpens", -1), Pair("TcpMaxConn", -1)));
}

TEST(ParseCountersTest, RefusesWhatIsNone) {
  for (const char* text : {"Ip: A B\nIp: 1\n", "Ip: A\nTcp: 1\n", "Ip: A\n", "Ip6InReceives\n",
                           "Ip6InReceives x\n", "Ip: A\nIp: 1x\n"}) {
    Counters counters;
    EXPECT_THROW(ParseCounters(text, counters), agent::ProtocolError) << text;
  }
}

// A channel to a guest whose agent is simulated by the test.
class StateChannel : public AgentChannel {
 public:
  size_t MaxMessage() const override { return 4096; }
  void Send(std::span<const std::byte> message) override {
    reader_.Read(message, [&](const agent::Operation& operation) {
      what = operation.As<uint32_t>();
      request = operation.request;
    });
  }
  void SetReceiver(std::function<void(std::span<const std::byte>)> receiver) override {
    receiver_ = std::move(receiver);
  }
  bool Settle() override { return false; }
  void Say(Code code, std::initializer_list<std::span<const std::byte>> parts) {
    writer_.Add(code, 1, request, parts);
    writer_.Flush();
  }

  uint32_t what = 0;
  uint32_t request = 0;

 private:
  std::function<void(std::span<const std::byte>)> receiver_;
  agent::MessageReader reader_;
  agent::MessageWriter writer_{agent::kMaxMessage,
                               [this](std::span<const std::byte> message) { receiver_(message); }};
};

class StateClientTest : public testing::Test {
 protected:
  void Settle() {
    while (!due_.empty()) {
      const auto action = std::move(due_.front());
      due_.pop_front();
      action();
    }
  }

  std::deque<std::function<void()>> due_;
  StateChannel channel_;
  AgentClient agent_{channel_,
                     [this](std::function<void()> action) { due_.push_back(std::move(action)); }};
  StateClient state_{agent_};
};

TEST_F(StateClientTest, AsksForWhatIsWantedAndHandsItOut) {
  std::vector<std::string> told;
  StateSink sink;
  sink.tcp = [&](const agent::TcpState& socket, const ::tcp_info& info) {
    told.push_back(agent::FixedText(socket.congestion_control) + " " +
                   std::to_string(info.tcpi_snd_cwnd) + " " +
                   std::to_string(info.tcpi_total_retrans));
  };
  sink.counters = [&](const Counters& counters) {
    told.push_back("counters " + std::to_string(counters.at("IpA") + counters.at("B")));
  };
  sink.done = [&] { told.push_back("done"); };
  state_.Sample(1, sink);
  Settle();
  EXPECT_EQ(channel_.what, agent::kSampleTcp | agent::kSampleCounters);
  agent::TcpState socket{};
  std::string_view("bbr").copy(socket.congestion_control, 4);
  ::tcp_info info{};
  info.tcpi_snd_cwnd = 10;
  info.tcpi_total_retrans = 3;
  // The tcp_info of an old kernel, which is shorter.
  const auto bytes = BytesOf(info).first(offsetof(::tcp_info, tcpi_total_retrans));
  channel_.Say(agent::kTcpState, {BytesOf(socket), bytes});
  channel_.Say(agent::kTcpState, {BytesOf(socket), BytesOf(info)});
  channel_.Say(agent::kCounterState, {BytesOf(std::string_view("Ip: A\nIp: 1\n"))});
  channel_.Say(agent::kCounterState, {BytesOf(std::string_view("B 2\n"))});
  channel_.Say(Code::kDone, {});
  Settle();
  EXPECT_THAT(told, ElementsAre("bbr 10 0", "bbr 10 3", "counters 3", "done"));
}

TEST_F(StateClientTest, AsksForNothingWithoutListeners) {
  state_.Sample(1, {});
  Settle();
  EXPECT_EQ(channel_.request, 0U);
}

TEST_F(StateClientTest, AGuestThatCannotTellIsAnError) {
  StateSink sink;
  sink.qdisc = [](const agent::QdiscState&) {};
  state_.Sample(1, sink);
  Settle();
  channel_.Say(Code::kFailed, {BytesOf(agent::Failed{1, 0, 0}), BytesOf(std::string_view("no"))});
  EXPECT_THROW(Settle(), Error);
}

}  // namespace
}  // namespace viaduct::guest
