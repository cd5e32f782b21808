#include "path/trace/fate_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "path/pipeline.h"
#include "path/queue/test_queues.h"
#include "path/test_pipeline.h"
#include "path/trace/pcapng.h"

namespace viaduct::path {
namespace {

using test::At;
using testing::ElementsAre;

// A block of a pcapng file: its type and its body (the bytes between the two lengths, which must be
// equal).
struct Block {
  uint32_t type;
  std::string body;
};

uint32_t Word(std::string_view text, size_t at) {
  uint32_t word = 0;
  for (size_t i = 0; i < 4; ++i) {
    word |= static_cast<uint32_t>(static_cast<unsigned char>(text.at(at + i))) << (8 * i);
  }
  return word;
}

std::vector<Block> Blocks(std::string_view text) {
  std::vector<Block> blocks;
  while (!text.empty()) {
    const uint32_t length = Word(text, 4);
    EXPECT_EQ(length % 4, 0U);
    EXPECT_EQ(Word(text, length - 4), length);
    blocks.push_back({Word(text, 0), std::string(text.substr(8, length - 12))});
    text.remove_prefix(length);
  }
  return blocks;
}

TEST(PcapngTest, AFileBeginsWithItsSectionAndInterfaces) {
  const auto blocks = Blocks(TraceHeader(TraceFormat::kPcapng, {"a/up", "a/down"}));
  ASSERT_EQ(blocks.size(), 3U);
  EXPECT_EQ(blocks[0].type, 0x0a0d0d0aU);
  EXPECT_EQ(Word(blocks[0].body, 0), 0x1a2b3c4dU);
  EXPECT_EQ(Word(blocks[0].body, 4), 1U);  // pcapng version 1.0
  for (size_t i = 1; i < 3; ++i) {
    EXPECT_EQ(blocks[i].type, 1U);
    EXPECT_EQ(Word(blocks[i].body, 0), 1U);  // the link type is Ethernet
  }
  const std::string options(
      "\x02\x00\x04\x00"
      "a/up"
      "\x09\x00\x01\x00\x09\x00\x00\x00"
      "\x00\x00\x00\x00",
      20);
  EXPECT_EQ(blocks[1].body.substr(8), options);
}

TEST(PcapngTest, APacketHasItsTimeItsBytesAndItsComment) {
  const std::byte frame[] = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}};
  const auto blocks = Blocks(PcapngPacket(3, At((int64_t{7} << 32) + 9), frame, 100, "why"));
  ASSERT_EQ(blocks.size(), 1U);
  const std::string& body = blocks[0].body;
  EXPECT_EQ(blocks[0].type, 6U);
  EXPECT_EQ(Word(body, 0), 3U);     // index of the interface
  EXPECT_EQ(Word(body, 4), 7U);     // time stamp, high half
  EXPECT_EQ(Word(body, 8), 9U);     // time stamp, low half
  EXPECT_EQ(Word(body, 12), 5U);    // captured length in bytes
  EXPECT_EQ(Word(body, 16), 100U);  // length on the wire in bytes
  EXPECT_EQ(body.substr(20, 8), std::string("\1\2\3\4\5\0\0\0", 8));
  EXPECT_EQ(body.substr(28), std::string("\1\0\3\0why\0\0\0\0\0", 12));
}

TEST(FateTraceTest, ALineOfJsonSaysEverything) {
  Packet packet{.frame = 1, .bytes = 60, .number = 7, .arrived = At(5), .ready = At(5)};
  EXPECT_EQ(FateJson("a/up", packet, Fate::kLost, At(9)),
            R"({"at":9,"pipeline":"a/up","number":7,"bytes":60,"arrived":5,"fate":"lost"})"
            "\n");
  packet.duplicate = packet.corrupted = packet.marked = true;
  EXPECT_EQ(FateJson("\"\\\n", packet, Fate::kDelivered, At(9)),
            R"({"at":9,"pipeline":"\"\\\u000a","number":7,"bytes":60,"arrived":5,)"
            R"("fate":"delivered","duplicate":true,"corrupted":true,"marked":true})"
            "\n");
}

TEST(FateTraceTest, ACommentSaysItToAReader) {
  Packet packet{.frame = 1, .bytes = 60, .number = 7, .arrived = At(5), .ready = At(5)};
  EXPECT_EQ(FateComment("a/up", packet, Fate::kAqm, At(1500000005)),
            "aqm, packet 7 of a/up, arrived 1.500000000 s earlier");
  packet.corrupted = true;
  EXPECT_EQ(FateComment("a/up", packet, Fate::kDelivered, At(5)),
            "delivered, packet 7 of a/up, arrived 0.000000000 s earlier, corrupted");
}

std::string TraceOf(TraceFormat format, uint64_t seed, test::Polling polling) {
  test::Bench bench("loss=10% dup=10% ber=1e-4 rate=8Mbit queue=5p delay=1ms jitter=1ms", seed);
  std::string text = TraceHeader(format, {"a/up"});
  FateTrace trace(format, "a/up", 0, bench.frames(), Duration::Seconds(1),
                  [&text](std::string_view more) { text += more; });
  bench.pipeline().SetObserver(&trace);
  bench.pipeline().Refuse(100, Fate::kNoMemory, At(1));
  bench.Run(test::Steady(500, Duration::Microseconds(90)), polling);
  return text;
}

// With the same seed and input, the output is the same, byte for byte, under any clock.
TEST(FateTraceTest, IsTheSameByteForByte) {
  for (const TraceFormat format : {TraceFormat::kJsonLines, TraceFormat::kPcapng}) {
    const std::string exact = TraceOf(format, 1, test::Polling::kExact);
    EXPECT_EQ(exact, TraceOf(format, 1, test::Polling::kExact));
    EXPECT_EQ(exact, TraceOf(format, 1, test::Polling::kLate));
    EXPECT_EQ(exact, TraceOf(format, 1, test::Polling::kRandom));
    EXPECT_NE(exact, TraceOf(format, 2, test::Polling::kExact));
  }
}

TEST(FateTraceTest, HasEveryPacket) {
  const auto blocks = Blocks(TraceOf(TraceFormat::kPcapng, 1, test::Polling::kExact));
  const std::string lines = TraceOf(TraceFormat::kJsonLines, 1, test::Polling::kExact);
  EXPECT_GT(blocks.size(), 500U);
  EXPECT_EQ(static_cast<size_t>(std::count(lines.begin(), lines.end(), '\n')), blocks.size() - 2);
}

TEST(FateTraceTest, ALinksLogHasArrivalsDeparturesAndDrops) {
  std::string log;
  test::Frames frames;
  Pipeline pipeline(ParseSpec("loss=list:2 delay=2500us"), frames, {});
  FateTraces traces;
  for (int i = 0; i < 2; ++i) {
    traces.Add({TraceFormat::kLinkLog, "p/up", 0, frames, Duration(),
                [&log, i](std::string_view line) { log += i == 0 ? line : ""; }});
  }
  traces.Begin(test::AtMs(1));
  pipeline.SetObserver(&traces);
  for (int i = 1; i <= 2; ++i) {
    pipeline.Push(frames.Add(std::vector<std::byte>(100)), 100, test::AtMs(i));
  }
  Departure out[2];
  pipeline.Pop(test::AtMs(10), out);
  EXPECT_EQ(log,
            "0.000000 + 100 p/up\n"
            "1.000000 + 100 p/up\n"
            "1.000000 d 1 100 lost p/up\n"
            "2.500000 - 100 2.500000 p/up\n");
  EXPECT_EQ(TraceHeader(TraceFormat::kLinkLog, {"p/up"})[0], '#');
}

}  // namespace
}  // namespace viaduct::path
