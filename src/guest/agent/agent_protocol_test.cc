#include "guest/agent/agent_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "guest/agent/agent_frames.h"

namespace viaduct::guest::agent {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using Bytes = std::vector<std::byte>;

std::vector<Bytes> Written(size_t max_message, const std::function<void(MessageWriter&)>& write) {
  std::vector<Bytes> messages;
  MessageWriter writer(max_message, [&](std::span<const std::byte> message) {
    messages.emplace_back(message.begin(), message.end());
  });
  write(writer);
  writer.Flush();
  return messages;
}

Bytes OneMessage() {
  return Written(kMaxMessage,
                 [](MessageWriter& writer) {
                   writer.Add(Code::kCreateNode, 3, 1, {BytesOf("n3")});
                   writer.Add(Code::kCredit, 9, 0, {BytesOf(uint64_t{77})});
                 })
      .at(0);
}

Bytes SomeBytes(size_t size) {
  Bytes bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7);
  return bytes;
}

TEST(MessageTest, OperationsOfOneInstantShareAMessage) {
  std::vector<std::string> seen;
  MessageReader reader;
  reader.Read(OneMessage(), [&](const Operation& operation) {
    if (operation.code == Code::kCreateNode) {
      seen.push_back(std::to_string(operation.subject) + std::string(operation.Text()));
    } else {
      seen.push_back(std::to_string(operation.As<uint64_t>()));
    }
  });
  EXPECT_THAT(seen, testing::ElementsAre("3n3", "77"));
}

TEST(MessageTest, WhatDoesNotFitStartsTheNextMessage) {
  const Bytes data = SomeBytes(400);
  const auto messages = Written(1000, [&](MessageWriter& writer) {
    for (int i = 0; i < 5; ++i) writer.Add(Code::kSend, 1, 0, {data});
  });
  ASSERT_EQ(messages.size(), 3u);
  MessageReader reader;
  int operations = 0;
  for (const Bytes& message : messages) {
    EXPECT_LE(message.size(), 1000u);
    reader.Read(message, [&](const Operation& operation) {
      EXPECT_TRUE(std::equal(data.begin(), data.end(), operation.payload.begin()));
      ++operations;
    });
  }
  EXPECT_EQ(operations, 5);
}

TEST(MessageTest, AnOperationLargerThanAnyMessageIsRefused) {
  EXPECT_THAT(
      [] {
        Written(1000,
                [](MessageWriter& writer) { writer.Add(Code::kSend, 1, 0, {SomeBytes(1000)}); });
      },
      ThrowsMessage<UsageError>(HasSubstr("send: 1000 bytes are too many")));
}

TEST(MessageTest, NothingIsHandedOutOfABrokenMessage) {
  const Bytes good = OneMessage();
  const auto refused = [](Bytes message) {
    MessageReader reader;
    try {
      reader.Read(message, [](const Operation&) { ADD_FAILURE() << "handed out"; });
    } catch (const ProtocolError&) {
      return true;
    }
    return false;
  };
  for (size_t length = 0; length < good.size(); ++length) {
    EXPECT_TRUE(refused(Bytes(good.begin(), good.begin() + static_cast<ptrdiff_t>(length))));
  }
  Bytes longer = good;
  longer.resize(longer.size() + 8);
  EXPECT_TRUE(refused(longer));
  // The offsets of magic, version, operations, length and sequence in the message's header.
  for (const size_t at : {0, 4, 6, 8, 12}) {
    Bytes wrong = good;
    wrong[at] ^= std::byte{1};
    EXPECT_TRUE(refused(wrong)) << at;
  }
  Bytes huge = good;  // a message whose first operation has a huge length
  std::fill_n(huge.begin() + sizeof(MessageHeader) + 4, 4, std::byte{0xff});
  EXPECT_TRUE(refused(huge));
}

TEST(MessageTest, APayloadTooShortForItsStructureIsAnError) {
  Operation operation;
  operation.code = Code::kBind;
  const Bytes payload = SomeBytes(sizeof(Endpoint) - 1);
  operation.payload = payload;
  EXPECT_THROW(operation.As<Endpoint>(), ProtocolError);
  EXPECT_THROW(operation.After(sizeof(Endpoint)), ProtocolError);
}

TEST(EndpointTest, KeepsAddressesOfBothFamilies) {
  for (const char* text : {"10.1.2.3", "fd00::1:2"}) {
    const auto address = wire::IpAddress::Parse(text);
    EXPECT_EQ(FromEndpoint(ToEndpoint(address, 80)), address);
  }
  EXPECT_THROW(FromEndpoint(Endpoint{}), ProtocolError);
}

std::vector<Bytes> Frames(FrameSplitter& splitter, const Bytes& message) {
  std::vector<Bytes> frames;
  splitter.Split(message, [&](std::span<const std::byte> frame) {
    frames.emplace_back(frame.begin(), frame.end());
  });
  return frames;
}

TEST(FramesTest, MessagesOfAnySizeArriveWhole) {
  FrameSplitter splitter(1500);
  FrameAssembler assembler;
  for (const size_t size : {1, 44, 45, 1484, 1485, 2968, 5000, 131072}) {
    const Bytes message = SomeBytes(size);
    std::optional<std::span<const std::byte>> whole;
    const auto frames = Frames(splitter, message);
    EXPECT_EQ(frames.size(), (size + 1483) / 1484);
    for (const Bytes& frame : frames) {
      EXPECT_FALSE(whole);
      EXPECT_GE(frame.size(), kMinFrame);
      EXPECT_LE(frame.size(), 1514u);
      whole = assembler.Add(frame);
    }
    ASSERT_TRUE(whole);
    EXPECT_TRUE(std::equal(whole->begin(), whole->end(), message.begin(), message.end()));
  }
}

TEST(FramesTest, ForeignFramesAreIgnoredAndLostOnesNoticed) {
  FrameSplitter splitter(100);
  FrameAssembler assembler;
  Bytes foreign(60);
  EXPECT_FALSE(assembler.Add(foreign));
  const auto frames = Frames(splitter, SomeBytes(300));
  EXPECT_FALSE(assembler.Add(frames[0]));
  EXPECT_THROW(assembler.Add(frames[2]), ProtocolError);
  EXPECT_THROW(assembler.Add(frames[0]), ProtocolError);
  Bytes truncated(frames[1].begin(), frames[1].begin() + 40);
  EXPECT_THROW(assembler.Add(truncated), ProtocolError);
  EXPECT_FALSE(assembler.Add(frames[1]));
}

}  // namespace
}  // namespace viaduct::guest::agent
