#include "sys/ipc/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "sys/ipc/test_service.h"

namespace viaduct::ipc {
namespace {

using test::kTalk;
using testing::AllOf;
using testing::HasSubstr;

constexpr Code kKill(kFirstRequest), kCreate(kFirstRequest + 1);

std::vector<UniqueFd> None() { return {}; }

Message Assemble(const std::vector<Packet>& packets) {
  MessageAssembler assembler(kTalk);
  for (size_t i = 0; i + 1 < packets.size(); ++i) {
    EXPECT_FALSE(assembler.Add(packets[i], None()).has_value());
  }
  auto message = assembler.Add(packets.back(), None());
  EXPECT_TRUE(message.has_value());
  return std::move(*message);
}

// Returns the packet of a short message with one header field changed.
template <class Field>
Packet WithField(size_t offset, Field value) {
  Packet packet = EncodeMessage(kTalk, kKill, 7, "{}").front();
  std::memcpy(packet.data() + offset, &value, sizeof value);
  return packet;
}

std::string RefusalOf(const Packet& packet) {
  MessageAssembler assembler(kTalk);
  try {
    assembler.Add(packet, None());
  } catch (const ProtocolError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Messages, ShortOneIsOnePacket) {
  const auto packets = EncodeMessage(kTalk, kKill, 7, "{}");
  ASSERT_EQ(packets.size(), 1u);
  const Message message = Assemble(packets);
  EXPECT_TRUE(message.code == kKill);
  EXPECT_EQ(message.sequence, 7u);
  EXPECT_EQ(message.payload, "{}");
}

TEST(Messages, EmptyPayloadIsAMessage) {
  EXPECT_EQ(Assemble(EncodeMessage(kTalk, Answer::kReply, 1, "")).payload, "");
}

TEST(Messages, LongOneIsSeveralPackets) {
  std::string payload(3 * kMaxPacketPayload + 1, 'x');
  payload[kMaxPacketPayload] = 'y';
  const auto packets = EncodeMessage(kTalk, kCreate, 1, payload);
  EXPECT_EQ(packets.size(), 4u);
  EXPECT_EQ(Assemble(packets).payload, payload);
  EXPECT_EQ(EncodeMessage(kTalk, kCreate, 1, payload.substr(0, kMaxPacketPayload)).size(), 1u);
}

TEST(Messages, AboveTheLimitAreNotSent) {
  const std::string payload(kMaxMessagePayload + 1, 'x');
  EXPECT_THROW(EncodeMessage(kTalk, kCreate, 1, payload), UsageError);
}

TEST(Messages, AboveTheLimitAreNotAssembled) {
  const Packet packet =
      EncodeMessage(kTalk, kCreate, 1, std::string(2 * kMaxPacketPayload, 'x')).front();
  MessageAssembler assembler(kTalk);
  for (size_t i = 0; i < kMaxMessagePayload / kMaxPacketPayload; ++i) {
    assembler.Add(packet, None());
  }
  EXPECT_THROW(assembler.Add(packet, None()), ProtocolError);
}

TEST(Packets, BadOnesAreRefused) {
  EXPECT_THAT(RefusalOf(Packet(3)), HasSubstr("truncated"));
  EXPECT_THAT(RefusalOf(WithField<uint32_t>(offsetof(PacketHeader, magic), 1)), HasSubstr("magic"));
  EXPECT_THAT(RefusalOf(WithField<uint16_t>(offsetof(PacketHeader, framing), 7)),
              HasSubstr("framing version 7, but this program uses version 1"));
  EXPECT_THAT(RefusalOf(WithField(offsetof(PacketHeader, service), 'b')),
              AllOf(HasSubstr("talk protocol"), HasSubstr("\"balk\"")));
  EXPECT_THAT(RefusalOf(WithField<uint16_t>(offsetof(PacketHeader, version), 99)),
              HasSubstr("version 99, but this program uses version 3"));
  EXPECT_THAT(RefusalOf(WithField<uint32_t>(offsetof(PacketHeader, length), 3)),
              HasSubstr("3 bytes announced, but 2 received"));
  EXPECT_THAT(RefusalOf(WithField<uint32_t>(offsetof(PacketHeader, length), 0xFFFFFFFF)),
              HasSubstr("at most"));
  EXPECT_THAT(RefusalOf(WithField<uint16_t>(offsetof(PacketHeader, flags), 0x10)),
              HasSubstr("flag"));
  EXPECT_THAT(RefusalOf(WithField<uint16_t>(offsetof(PacketHeader, descriptors), 1)),
              HasSubstr("1 descriptors announced, but 0 received"));
}

TEST(Packets, MessagesDoNotInterleave) {
  const std::string payload(kMaxPacketPayload + 1, 'x');
  MessageAssembler assembler(kTalk);
  assembler.Add(EncodeMessage(kTalk, kCreate, 1, payload)[0], None());
  EXPECT_THROW(assembler.Add(EncodeMessage(kTalk, kCreate, 2, payload)[1], None()), ProtocolError);
}

TEST(Packets, DescriptorsOfARefusedOneAreClosed) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  UniqueFd read_end(ends[0]);
  std::vector<UniqueFd> descriptors;
  descriptors.emplace_back(ends[1]);
  MessageAssembler assembler(kTalk);
  EXPECT_THROW(assembler.Add(Packet(3), std::move(descriptors)), ProtocolError);
  char byte;
  EXPECT_EQ(read(read_end.get(), &byte, 1), 0);  // end of file: no writer is left
}

TEST(Json, HostileTextIsRefused) {
  EXPECT_THROW(DecodeJson(""), UsageError);
  EXPECT_THROW(DecodeJson("[]"), UsageError);
  EXPECT_THROW(DecodeJson("{\"a\":"), UsageError);
  EXPECT_THROW(DecodeJson("\xFF\xFE"), UsageError);
  EXPECT_THROW(DecodeJson(std::string(1 << 20, '[')), UsageError);
  const auto value = DecodeJson(R"({"node":[1]})");
  EXPECT_THROW(Member<std::string>(value, "node"), UsageError);
  EXPECT_THROW(Member<std::string>(value, "absent"), UsageError);
}

TEST(Requests, UnknownOnesNameTheServiceItsVersionAndTheNumber) {
  EXPECT_THAT(UnknownRequest(kTalk, Code(999)).what(),
              AllOf(HasSubstr("talk protocol, version 3"), HasSubstr("request 999")));
}

}  // namespace
}  // namespace viaduct::ipc
