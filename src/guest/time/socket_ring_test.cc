#include "guest/time/socket_ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "guest/test/socket_ring_guest.h"

namespace viaduct::guest {
namespace {

using testing::ElementsAre;
using Op = SocketOperation::Code;
using Event = SocketEvent::Code;

std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

class SocketRingTest : public testing::Test {
 protected:
  void Put(Op code, uint32_t socket, uint32_t value, std::string_view payload = {}) {
    ring_.Put({code, socket, value, false, false}, {Bytes(payload)});
  }
  std::vector<SocketEvent> Take() {
    std::vector<SocketEvent> events;
    ring_.Take([&](SocketEvent event) { events.push_back(std::move(event)); });
    return events;
  }
  void ExpectNonsense(const char* what) {
    EXPECT_THAT([&] { Take(); },
                testing::ThrowsMessage<Error>("wrote invalid data into the ring of its sockets (" +
                                              std::string(what) + ")"));
  }

  std::unique_ptr<std::byte[]> memory_{new std::byte[SocketRing::kSize]()};
  SocketRing ring_{memory_.get()};
  SocketRingGuest guest_{memory_.get()};
};

TEST_F(SocketRingTest, OperationsArriveInOrderAndWhole) {
  Put(Op::kAdopt, 5, 47);
  ring_.Put({Op::kSend, 5, 0, false, false}, {Bytes("two "), Bytes("parts")});
  ring_.Put({Op::kSend, 5, 3000, true, false}, {});
  ring_.Put({Op::kRelease, 5, 0, false, true}, {});
  EXPECT_THAT(guest_.TakeOperations(),
              ElementsAre("1 socket 5 value 47", "2 socket 5 value 0: two parts",
                          "2 socket 5 value 3000 zeros", "6 socket 5 value 0 abort"));
  EXPECT_THAT(guest_.TakeOperations(), ElementsAre());
}

TEST_F(SocketRingTest, WhatHasNoRoomFollowsInOrder) {
  constexpr size_t kCount = 100;
  const std::string payload(10'001, 'x');
  for (uint32_t i = 0; i < kCount; ++i) Put(Op::kSend, i, i, payload);
  // There would be space for this operation, but not for the operations before it.
  Put(Op::kCredit, kCount, 1);
  std::vector<std::string> seen;
  for (;;) {
    const auto taken = guest_.TakeOperations();
    seen.insert(seen.end(), taken.begin(), taken.end());
    if (!ring_.Refill()) break;
  }
  ASSERT_EQ(seen.size(), kCount + 1);
  for (size_t i = 0; i < kCount; ++i) {
    const auto number = std::to_string(i);
    ASSERT_EQ(seen[i], "2 socket " + number + " value " + number + ": " + payload);
  }
  EXPECT_EQ(seen[kCount], "3 socket 100 value 1");
}

TEST_F(SocketRingTest, WhatIsLargerThanTheRingIsRefused) {
  EXPECT_THROW(Put(Op::kSend, 1, 0, std::string(SocketRing::kRing, 'x')), UsageError);
  // The largest operation that fits in the ring.
  Put(Op::kSend, 1, 0, std::string(SocketRing::kRing - 16, 'x'));
  EXPECT_EQ(guest_.TakeOperations().size(), 1u);
}

TEST_F(SocketRingTest, AGuestIsRunAgainOnlyForWhatItWasNotTold) {
  EXPECT_FALSE(ring_.Refill());
  Put(Op::kCredit, 1, 1);
  // Expects that no further run is necessary: the guest already has the credit operation, and may
  // wait while it carries out the operation.
  EXPECT_FALSE(ring_.Refill());
  guest_.SetStarved(true);
  EXPECT_TRUE(ring_.Refill());
  guest_.SetStarved(false);
  EXPECT_FALSE(ring_.Refill());
}

TEST_F(SocketRingTest, EventsArriveInOrderAroundTheEndOfTheRing) {
  const std::string payload(60'001, 'y');
  for (uint32_t i = 0; i < 20; ++i) {
    guest_.PutEvent({0x100, 0, 60'001, 7, 60'001}, payload);
    guest_.PutEvent({0x100, 1, 0, 7, 60'000});
    guest_.PutEvent({0x104, 2, 0, 8, 32});
    const auto events = Take();
    ASSERT_EQ(events.size(), 3u);
    EXPECT_EQ(events[0].socket, 7u);
    EXPECT_FALSE(events[0].zeros);
    ASSERT_TRUE(std::ranges::equal(events[0].bytes, Bytes(payload)));
    EXPECT_TRUE(events[1].zeros);
    EXPECT_EQ(events[1].value, 60'000u);
    EXPECT_EQ(events[2].code, Event::kFailed);
    EXPECT_EQ(events[2].flags, 2u);
    EXPECT_EQ(events[2].value, 32u);
  }
  EXPECT_THAT(Take(), testing::IsEmpty());
}

TEST_F(SocketRingTest, NonsenseIsAnError) {
  guest_.SetEventsHead(SocketRing::kRing + 16);
  ExpectNonsense("events");
  guest_.SetEventsHead(8);
  ExpectNonsense("events");
  guest_.SetEventsHead(16);  // one record, which consists of zeros
  ExpectNonsense("kind of event");
}

TEST_F(SocketRingTest, ARecordLongerThanWhatIsThereIsAnError) {
  guest_.PutEvent({0x100, 0, 17, 1, 17});
  ExpectNonsense("length");
}

TEST_F(SocketRingTest, APieceThatIsTooLongIsAnError) {
  guest_.PutEvent({0x100, 0, SocketRing::kMaxPiece + 1, 1, SocketRing::kMaxPiece + 1},
                  std::string(SocketRing::kMaxPiece + 1, 'x'));
  ExpectNonsense("length of data");
}

// Returns the text of a struct um_timetravel_socket_ancillary with the given lengths, followed by
// `rest`.
std::string Ancillary(uint32_t name, uint32_t control, const std::string& rest) {
  std::string text(40, 'n');
  std::memcpy(text.data(), &name, sizeof name);
  std::memcpy(&text[4], &control, sizeof control);
  return text + rest;
}

TEST_F(SocketRingTest, MessagesHaveTheirSenderAndControlMessages) {
  for (int i = 0; i < 5; ++i) {
    const std::string bytes(60'001, 'y');
    guest_.PutEvent({0x100, 4, 60'046, 7, 60'001}, bytes + Ancillary(28, 5, "12345"));
    guest_.PutEvent({0x100, 4 + 1 + 8, 40, 7, 60'000}, Ancillary(0, 0, ""));
    const auto events = Take();
    ASSERT_EQ(events.size(), 2u);
    EXPECT_TRUE(events[0].message && !events[0].part && !events[0].zeros);
    EXPECT_TRUE(std::ranges::equal(events[0].bytes, Bytes(bytes)));
    EXPECT_TRUE(std::ranges::equal(events[0].name, Bytes(std::string(28, 'n'))));
    EXPECT_TRUE(std::ranges::equal(events[0].control, Bytes(std::string("12345"))));
    EXPECT_TRUE(events[1].message && events[1].part && events[1].zeros);
    EXPECT_EQ(events[1].value, 60'000u);
    EXPECT_TRUE(events[1].name.empty() && events[1].control.empty() && events[1].bytes.empty());
  }
}

TEST_F(SocketRingTest, AMessageWithoutWhatComesWithItIsAnError) {
  guest_.PutEvent({0x100, 4, 3, 1, 3}, "abc");
  ExpectNonsense("length of data");
}

TEST_F(SocketRingTest, ALongNameIsAnError) {
  guest_.PutEvent({0x100, 4, 43, 1, 3}, "abc" + Ancillary(29, 0, ""));
  ExpectNonsense("length of ancillary data");
}

TEST_F(SocketRingTest, MoreControlMessagesThanThereAreAreAnError) {
  guest_.PutEvent({0x100, 4, 48, 1, 3}, "abc" + Ancillary(16, 6, "12345"));
  ExpectNonsense("length of data");
}

TEST_F(SocketRingTest, LengthsThatContradictEachOtherAreErrors) {
  guest_.PutEvent({0x100, 1, 3, 1, 3}, "abc");  // a record of zeros that has bytes
  ExpectNonsense("length of data");
}

TEST_F(SocketRingTest, MoreZerosThanAPieceAreAnError) {
  guest_.PutEvent({0x100, 1, 0, 1, SocketRing::kMaxPiece + 1});
  ExpectNonsense("length of data");
}

TEST_F(SocketRingTest, AnEventWithBytesOfItsOwnIsAnError) {
  guest_.PutEvent({0x102, 0, 3, 1, 0}, "abc");
  ExpectNonsense("length of an event");
}

TEST_F(SocketRingTest, MoreOperationsTakenThanPutIsAnError) {
  guest_.SetOperationsTail(16);
  EXPECT_THROW(Put(Op::kCredit, 1, 1), Error);
  EXPECT_THROW(ring_.Refill(), Error);
}

}  // namespace
}  // namespace viaduct::guest
