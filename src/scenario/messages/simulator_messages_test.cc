#include "scenario/messages/simulator_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "sys/ipc/tagged.h"

namespace viaduct::scenario {
namespace {

using testing::HasSubstr;

template <class Decode>
std::string RefusalOf(Decode decode, std::string_view line) {
  try {
    decode(line);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string EventRefusal(std::string_view line) { return RefusalOf(DecodeEvent, line); }

// Encodes and decodes every message with its default values.
template <class Messages, size_t kIndex = 0>
void CheckAll(std::set<std::string>* lines) {
  if constexpr (kIndex < std::variant_size_v<Messages>) {
    const Messages message{std::in_place_index<kIndex>};
    const std::string line = Encode(message);
    SCOPED_TRACE(line);
    EXPECT_TRUE(lines->insert(line).second) << "two messages of one name";
    if constexpr (std::is_same_v<Messages, SimulatorEvent>) {
      const SimulatorEvent read = DecodeEvent(line);
      EXPECT_EQ(read.index(), kIndex);
      EXPECT_EQ(Encode(read), line);
    } else {
      const SimulatorCommand read = DecodeCommand(line);
      EXPECT_EQ(read.index(), kIndex);
      EXPECT_EQ(Encode(read), line);
    }
    CheckAll<Messages, kIndex + 1>(lines);
  }
}

TEST(SimulatorMessagesTest, EachIsReadAsItWasWritten) {
  std::set<std::string> events, commands;
  CheckAll<SimulatorEvent>(&events);
  CheckAll<SimulatorCommand>(&commands);
  EXPECT_EQ(events.size(), std::variant_size_v<SimulatorEvent>);
  EXPECT_EQ(commands.size(), std::variant_size_v<SimulatorCommand>);
}

TEST(SimulatorMessagesTest, ValuesStay) {
  const SimulatorCommand command = DecodeCommand(Encode(Claim{"n1", "192.0.2.7", 5000}));
  const auto& claim = std::get<Claim>(command);
  EXPECT_EQ(claim.node, "n1");
  EXPECT_EQ(claim.address, "192.0.2.7");
  EXPECT_EQ(claim.port, 5000);
  Passages sent;
  sent.here.pairs = 6;
  sent.here.unreachable = {{"a", "b"}};
  sent.late = true;
  sent.passages = {{"a", {1, -1}}};
  const SimulatorEvent event = DecodeEvent(Encode(sent));
  const auto& passages = std::get<Passages>(event);
  EXPECT_EQ(passages.here.pairs, 6U);
  EXPECT_EQ(passages.here.unreachable, sent.here.unreachable);
  EXPECT_TRUE(passages.late);
  EXPECT_EQ(passages.passages, sent.passages);
  EXPECT_EQ(Encode(Stop()), R"({"command":"stop"})");
}

TEST(SimulatorMessagesTest, WhatIsUnknownIsAnError) {
  EXPECT_THAT(EventRefusal(R"({"event":"dance"})"),
              HasSubstr("an unexpected message (event 'dance')"));
  EXPECT_THAT(EventRefusal(R"({"event":"note","message":"","by":1})"),
              HasSubstr("an unexpected message (event 'note' with 'by'): viaduct and"));
  EXPECT_THAT(EventRefusal(R"({"event":"note"})"), HasSubstr("'note' without 'message'"));
  EXPECT_THAT(EventRefusal(R"({"event":"note","message":[]})"), HasSubstr("'note' ("));
  for (const char* line :
       {"dance", "{}", "[]", "7", "", R"({"event":7})", R"({"command":"stop"})"}) {
    EXPECT_THAT(EventRefusal(line), HasSubstr("the simulator sent a malformed message")) << line;
  }
  EXPECT_THAT(RefusalOf(DecodeCommand, R"({"command":"go"})"), HasSubstr("without 'pairs'"));
}

}  // namespace
}  // namespace viaduct::scenario
