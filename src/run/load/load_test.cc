#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <numeric>

#include "base/error.h"
#include "base/wire/probe_header.h"
#include "run/load/options.h"
#include "run/load/pace.h"
#include "run/load/pacer.h"
#include "run/load/receiver.h"
#include "run/load/sender.h"
#include "run/load/socket.h"
#include "run/load/tally.h"

namespace viaduct::load {
namespace {

Instant At(int64_t microseconds) { return Instant() + Duration::Microseconds(microseconds); }

void Record(Tally& tally, std::initializer_list<uint64_t> sequences) {
  for (uint64_t sequence : sequences) {
    tally.Record({.sequence = sequence, .sent = At(10)}, 160, At(10 + sequence));
  }
}

TEST(PayloadTest, ReadsBackWhatItWrote) {
  std::array<std::byte, kHeaderBytes> payload;
  WriteHeader({.type = PacketType::kEnd, .flow = 7, .sequence = 1ull << 40, .sent = At(5)},
              payload);
  const auto header = ReadHeader(payload);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->type, PacketType::kEnd);
  EXPECT_EQ(header->flow, 7u);
  EXPECT_EQ(header->sequence, 1ull << 40);
  EXPECT_EQ(header->sent, At(5));
}

TEST(PayloadTest, RefusesWhatIsNotItsOwn) {
  std::array<std::byte, kHeaderBytes> payload{};
  EXPECT_FALSE(ReadHeader(payload));
  WriteHeader({}, payload);
  EXPECT_TRUE(ReadHeader(payload));
  EXPECT_FALSE(ReadHeader(std::span(payload).first(kHeaderBytes - 1)));
  payload[kTypeOffset] = std::byte{9};
  EXPECT_FALSE(ReadHeader(payload));
}

TEST(TallyTest, CountsInOrder) {
  Tally tally;
  Record(tally, {0, 1, 2, 5});
  EXPECT_EQ(tally.received(), 4u);
  EXPECT_EQ(tally.sequences_seen(), 6u);
  EXPECT_EQ(tally.bytes(), 640u);
  EXPECT_EQ(tally.reordered(), 0u);
  EXPECT_EQ(tally.delay().Max(), 5000);
  EXPECT_EQ(tally.last() - tally.first(), Duration::Microseconds(5));
}

TEST(TallyTest, TellsReorderedFromDuplicate) {
  Tally tally;
  Record(tally, {0, 2, 1, 2, 1, 3, 0});
  EXPECT_EQ(tally.received(), 4u);
  EXPECT_EQ(tally.reordered(), 1u);
  EXPECT_EQ(tally.duplicates(), 3u);
}

TEST(TallyTest, AGapForgetsWhatItCovers) {
  Tally tally;
  const uint64_t far = SequenceWindow::kNumbers;
  Record(tally, {0, 1, far + 1, far});  // far shares a slot with 0, and far + 1 with 1
  EXPECT_EQ(tally.received(), 4u);
  EXPECT_EQ(tally.duplicates(), 0u);
  EXPECT_EQ(tally.reordered(), 1u);
}

TEST(TallyTest, OlderThanTheWindowIsReorderedAndMarksNothing) {
  Tally tally;
  const uint64_t far = 3 * SequenceWindow::kNumbers;
  Record(tally, {far, 0, 2 * SequenceWindow::kNumbers});
  EXPECT_EQ(tally.reordered(), 2u);
  EXPECT_EQ(tally.duplicates(), 0u);
  Record(tally, {far - SequenceWindow::kNumbers + 1});
  EXPECT_EQ(tally.duplicates(), 0u);
}

TEST(PaceTest, ARefusedPacketWasOffered) {
  PaceOptions options;
  options.rate = 1e6;
  options.duration = Duration::Seconds(10);
  options.count = 100;
  options.batch = 8;
  const std::atomic<bool> stop = false;
  std::vector<uint64_t> taken;
  const Paced paced = Pace(options, stop, [&](uint64_t number, int packets, Instant) {
    // Accepts packets except number 30 to 69, as if the link were down for 40 of the 100 packets.
    int count = 0;
    for (; count < packets && (number + count < 30 || number + count >= 70); ++count) {
      taken.push_back(number + count);
    }
    return count;
  });
  EXPECT_EQ(paced.offered, 100u);
  EXPECT_EQ(paced.sent, 60u);
  EXPECT_EQ(taken.back(), 99u) << "no number is used again";
}

uint16_t FreePort() {
  const UniqueFd socket = OpenReceiver({.bind = "127.0.0.1"});
  sockaddr_in address{};
  socklen_t length = sizeof address;
  getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length);
  return ntohs(address.sin_port);
}

TEST(ReceiverTest, DuplicatesCountForNoRate) {
  ReceiveOptions options;
  options.socket = {.port = FreePort(), .bind = "127.0.0.1"};
  const ReceiveResult result = Receive(options, {}, [&] {
    const Endpoint to = MakeEndpoint("127.0.0.1", options.socket.port);
    const UniqueFd sender = OpenSender(to, "", "");
    ASSERT_EQ(TryConnect(sender.get(), to), 0);
    std::array<std::byte, kHeaderBytes> payload;
    const auto send_packet = [&](const Header& header) {
      WriteHeader(header, payload);
      EXPECT_EQ(send(sender.get(), payload.data(), payload.size(), 0), ssize_t{kHeaderBytes});
    };
    for (const uint64_t sequence : {0, 0, 1, 1, 1, 2})
      send_packet({.sequence = sequence, .sent = At(0)});
    send_packet({.type = PacketType::kEnd, .sequence = 3, .sent = At(0)});
  });
  EXPECT_EQ(result.received, 3u);
  EXPECT_EQ(result.tally.duplicates(), 3u);
  const auto& counts = result.series.counts();
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), uint64_t{0}), 3u);
}

// Sends packets to an interface that does not exist, so that there is no route for them.
TEST(SenderTest, RefusesWhatItHasNoWayForAndGoesOn) {
  SendOptions options;
  options.to = MakeEndpoint("fe80::1", 9);
  reinterpret_cast<sockaddr_in6&>(options.to.address).sin6_scope_id = INT32_MAX;
  options.rate = 1e4;
  options.count = 200;
  options.duration = Duration::Seconds(10);
  const std::atomic<bool> stop = false;
  const SendResult result = Send(options, stop);
  EXPECT_EQ(result.offered, 200u);
  EXPECT_EQ(result.sent, 0u);
  EXPECT_EQ(result.refused, (std::map<int, uint64_t>{{ENETUNREACH, 200}}));
}

TEST(PacerTest, SendsOnePacketAPeriod) {
  Pacer pacer(1000, At(0), Duration::Milliseconds(2));
  EXPECT_EQ(pacer.DueNow(0, At(0), 32), 1);
  EXPECT_EQ(pacer.DueNow(1, At(999), 32), 0);
  EXPECT_EQ(pacer.DueNow(1, At(1000), 32), 1);
  EXPECT_EQ(pacer.Due(1'000'000'000), At(1'000'000'000'000));
}

TEST(PacerTest, CatchesUpAtMostTheLimit) {
  Pacer pacer(1'000'000, At(0), Duration::Milliseconds(2));
  EXPECT_EQ(pacer.DueNow(0, At(100), 1024), 101);
  EXPECT_EQ(pacer.DueNow(0, At(100), 32), 32);
  EXPECT_EQ(pacer.Slip(), Duration());
  // The sender is 50 ms late: it catches up 2 ms, and the schedule slips by 48 ms.
  EXPECT_EQ(pacer.DueNow(0, At(50'000), 4096), 2001);
  EXPECT_EQ(pacer.Slip(), Duration::Milliseconds(48));
  EXPECT_EQ(pacer.DueNow(2001, At(50'000), 4096), 0);
}

TEST(OptionsTest, ReadsRates) {
  EXPECT_EQ(ParsePacketRate("max", 160), std::nullopt);
  EXPECT_DOUBLE_EQ(*ParsePacketRate("20000pps", 160), 20000);
  EXPECT_DOUBLE_EQ(*ParsePacketRate("16Mbit", 160), 12500);
  for (const char* bad : {"pps", "-1pps", "0pps", "1e5pps", "nanpps", "16", "fast"}) {
    EXPECT_THROW(ParsePacketRate(bad, 160), UsageError) << bad;
  }
}

TEST(OptionsTest, ReadsCommandLines) {
  const char* const send[] = {"viaduct-load",  "send",       "--to",
                              "10.0.0.1:5001", "--duration", "250ms",
                              "--json",        "--count",    "5"};
  const CommandLine line = ParseCommandLine(std::size(send), send);
  ASSERT_TRUE(line.send);
  EXPECT_TRUE(line.json);
  EXPECT_EQ(line.send->duration, Duration::Milliseconds(250));
  EXPECT_EQ(line.send->count, 5u);
  EXPECT_EQ(line.send->size, 160);
  EXPECT_FALSE(line.send->rate);
  const char* const sample[] = {"viaduct-load", "receive", "--port", "5", "--sample", "3"};
  EXPECT_THROW(ParseCommandLine(std::size(sample), sample), UsageError);
  const char* const nothing[] = {"viaduct-load"};
  EXPECT_THROW(ParseCommandLine(1, nothing), UsageError);
}

TEST(OptionsTest, ReadsPings) {
  const char* const ping[] = {"viaduct-load", "ping",       "--to",  "2001:db8::1", "--interval",
                              "2500us",       "--duration", "250ms", "--count",     "7"};
  const CommandLine line = ParseCommandLine(std::size(ping), ping);
  ASSERT_TRUE(line.ping);
  EXPECT_EQ(line.ping->to.family(), AF_INET6);
  EXPECT_DOUBLE_EQ(*line.ping->rate, 400);
  EXPECT_EQ(line.ping->count, 7u);
  EXPECT_EQ(line.ping->batch, 1);
  for (const auto& [option, bad] : {std::pair("--to", "224.0.0.1"),
                                    {"--to", "n4"},
                                    {"--to", "10.0.0.1:5"},
                                    {"--bind", "::1"},
                                    {"--interval", "0s"},
                                    {"--size", "-1"},
                                    {"--size", "70000"},
                                    {"--duration", "0s"}}) {
    const char* const words[] = {"viaduct-load", "ping", "--to", "10.0.0.1", option, bad};
    const bool is_to = option == std::string_view("--to");
    const char* const only[] = {"viaduct-load", "ping", option, bad};
    EXPECT_THROW(ParseCommandLine(is_to ? 4 : 6, is_to ? only : words), UsageError) << bad;
  }
}

TEST(EndpointTest, ReadsAddressesAndPorts) {
  EXPECT_EQ(ParseEndpoint("10.0.0.1:5001").family(), AF_INET);
  EXPECT_EQ(ParseEndpoint("[2001:db8::1]:5001").family(), AF_INET6);
  for (const char* bad : {"10.0.0.1", ":1", "10.0.0.1:", "10.0.0.1:0", "10.0.0.1:65536", "host:1",
                          "2001:db8::1:5001", "[10.0.0.1]:1", "10.0.0.1:1x"}) {
    EXPECT_THROW(ParseEndpoint(bad), UsageError) << bad;
  }
}

}  // namespace
}  // namespace viaduct::load
