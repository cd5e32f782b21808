#include "plane/rbridge/database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace viaduct::rbridge {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Verdict = Database::Verdict;

constexpr SystemId kOne{{2, 0, 0, 0, 0, 1}}, kTwo{{2, 0, 0, 0, 0, 2}};
constexpr LspId kOwn{kOne, 0, 0}, kOther{kTwo, 0, 0};

Instant At(int64_t seconds) { return Instant() + Duration::Seconds(seconds); }

Lsp Other(uint32_t sequence, uint16_t lifetime = 1200, size_t terminals = 0) {
  LspContent content;
  content.claim = {.nickname = 2};
  for (size_t i = 0; i < terminals; ++i) content.terminals.push_back(i + 0x100000);
  Lsp lsp{.lifetime = lifetime, .id = kOther, .sequence = sequence, .tlvs = {}};
  lsp.tlvs = WriteFragments(kTwo, content).front();
  lsp.Seal();
  return lsp;
}

class DatabaseTest : public testing::Test {
 protected:
  Database database_{kOne, {}};
  LspContent content_;
};

TEST_F(DatabaseTest, NewerByNumber) {
  EXPECT_EQ(database_.Receive(Other(5), At(0)), Verdict::kNewer);
  EXPECT_EQ(database_.Receive(Other(5), At(1)), Verdict::kSame);
  EXPECT_EQ(database_.Receive(Other(4), At(1)), Verdict::kOlder);
  EXPECT_EQ(database_.Receive(Other(6), At(1)), Verdict::kNewer);
  EXPECT_EQ(database_.Contents().at(kTwo).claim->nickname, 2);
  EXPECT_EQ(database_.Get(kOther, At(11)).lifetime, 1190);
}

TEST_F(DatabaseTest, OfOneNumberOneWinsEverywhere) {
  const Lsp a = Other(5), b = Other(5, 1200, 3);
  Database second{kOne, {}};
  database_.Receive(a, At(0));
  second.Receive(b, At(0));
  const bool a_wins = a.checksum > b.checksum;
  EXPECT_EQ(database_.Receive(b, At(0)), a_wins ? Verdict::kOlder : Verdict::kNewer);
  EXPECT_EQ(second.Receive(a, At(0)), a_wins ? Verdict::kNewer : Verdict::kOlder);
}

TEST_F(DatabaseTest, WhatExpiresIsWithdrawnThenForgotten) {
  database_.Receive(Other(5, 10), At(0));
  EXPECT_THAT(database_.Age(At(9)), IsEmpty());
  EXPECT_THAT(database_.Age(At(10)), ElementsAre(kOther));
  EXPECT_THAT(database_.Age(At(11)), IsEmpty()) << "once";
  EXPECT_TRUE(database_.Contents().empty());
  EXPECT_EQ(database_.Get(kOther, At(11)).lifetime, 0);
  // An LSP with the sequence number of the withdrawn LSP is not accepted again.
  EXPECT_EQ(database_.Receive(Other(5, 10), At(12)), Verdict::kOlder);
  EXPECT_EQ(database_.Receive(Other(6, 10), At(13)), Verdict::kNewer);
  database_.Age(At(23));
  database_.Age(At(83));
  EXPECT_FALSE(database_.Knows(kOther));
}

TEST_F(DatabaseTest, AWithdrawalIsNewerThanItsLsp) {
  database_.Receive(Other(5), At(0));
  Lsp withdrawn = Other(5, 0);
  withdrawn.tlvs.clear();
  EXPECT_EQ(database_.Receive(withdrawn, At(1)), Verdict::kNewer);
  EXPECT_TRUE(database_.Contents().empty());
  Database empty{kOne, {}};
  EXPECT_EQ(empty.Receive(withdrawn, At(1)), Verdict::kSame) << "of nothing";
  EXPECT_FALSE(empty.Knows(kOther));
}

TEST_F(DatabaseTest, NobodyLivesForever) {
  database_.Receive(Other(5, 65535), At(0));
  EXPECT_EQ(database_.Get(kOther, At(0)).lifetime, 1200);
}

TEST_F(DatabaseTest, OnlyChangesAreOriginated) {
  EXPECT_THAT(database_.Originate(content_, At(0)), ElementsAre(kOwn));
  EXPECT_THAT(database_.Originate(content_, At(1)), IsEmpty());
  content_.claim = {.nickname = 7};
  EXPECT_THAT(database_.Originate(content_, At(2)), ElementsAre(kOwn));
  EXPECT_EQ(database_.Get(kOwn, At(2)).sequence, 2u);
}

TEST_F(DatabaseTest, OwnOnesAreRefreshed) {
  database_.Originate(content_, At(0));
  EXPECT_THAT(database_.Age(At(899)), IsEmpty());
  EXPECT_THAT(database_.Age(At(900)), ElementsAre(kOwn));
  EXPECT_EQ(database_.Get(kOwn, At(900)).lifetime, 1200);
  EXPECT_EQ(database_.Get(kOwn, At(900)).sequence, 2u);
}

TEST_F(DatabaseTest, FragmentsThatAreNotNeededAreWithdrawn) {
  for (uint8_t i = 0; i < 250; ++i) {
    content_.terminals.push_back(MakeKey({{2, 0, 0, 0, 1, i}}, 1));
    content_.terminals.push_back(MakeKey({{2, 0, 0, 0, 2, i}}, 1));
  }
  EXPECT_GT(database_.Originate(content_, At(0)).size(), 1u);
  content_.terminals.clear();
  const auto changed = database_.Originate(content_, At(1));
  EXPECT_GT(changed.size(), 1u);
  EXPECT_NE(database_.Get(kOwn, At(1)).lifetime, 0);
  EXPECT_EQ(database_.Get(changed.back(), At(1)).lifetime, 0);
}

TEST_F(DatabaseTest, ARestartedOneOutdoesItsPast) {
  database_.Originate(content_, At(0));
  Lsp past{.lifetime = 1000, .id = kOwn, .sequence = 77, .tlvs = {}};
  past.Seal();
  EXPECT_EQ(database_.Receive(past, At(1)), Verdict::kOwn);
  EXPECT_EQ(database_.Get(kOwn, At(1)).sequence, 78u);
  EXPECT_EQ(database_.Get(kOwn, At(1)).tlvs, WriteFragments(kOne, content_).front());
  // A received fragment from before this RBridge's restart is withdrawn if the RBridge no longer
  // has the fragment.
  past.id.fragment = 3;
  past.Seal();
  EXPECT_EQ(database_.Receive(past, At(1)), Verdict::kOwn);
  EXPECT_EQ(database_.Get(past.id, At(1)).lifetime, 0);
  EXPECT_EQ(database_.Get(past.id, At(1)).sequence, 77u);
}

TEST_F(DatabaseTest, NothingIsSaidWithoutTheFirstFragment) {
  Lsp second = Other(1);
  second.id.fragment = 1;
  second.Seal();
  database_.Receive(second, At(0));
  EXPECT_TRUE(database_.Contents().empty());
  database_.Receive(Other(1), At(0));
  EXPECT_TRUE(database_.Contents().contains(kTwo));
}

TEST_F(DatabaseTest, DifferencesBetweenTwo) {
  database_.Originate(content_, At(0));
  database_.Receive(Other(5), At(0));
  Database second{kTwo, {}};
  second.Originate(content_, At(0));  // sequence number 1; database_ has number 5 of this LSP
  const auto summary = second.Summary(At(1));
  ASSERT_EQ(summary.size(), 1u);
  const auto difference = database_.CompareAll(summary.front(), At(1));
  EXPECT_THAT(difference.to_send, ElementsAre(kOther, kOwn)) << "one is old, one is missing";
  EXPECT_THAT(difference.to_request, IsEmpty());
  const auto back = second.CompareAll(database_.Summary(At(1)).front(), At(1));
  EXPECT_THAT(back.to_request, ElementsAre(kOwn, kOther));
  EXPECT_EQ(second.EntryFor(kOwn, At(1)).sequence, 0u);
  // The database answers a request for its LSP.
  SequenceNumbers request{
      .complete = false, .source = kTwo, .first = {}, .last = {}, .entries = {}};
  request.entries = {second.EntryFor(kOwn, At(1))};
  EXPECT_THAT(database_.CompareAll(request, At(1)).to_send, ElementsAre(kOwn));
}

TEST_F(DatabaseTest, ALongSummaryLeavesNoGap) {
  for (int i = 0; i < 200; ++i) {
    Lsp lsp{.lifetime = 100, .id = {}, .sequence = 1, .tlvs = {}};
    lsp.id.system = {{9, 0, 0, 0, 0, static_cast<uint8_t>(i)}};
    lsp.Seal();
    database_.Receive(lsp, At(0));
  }
  const auto summary = database_.Summary(At(1));
  EXPECT_EQ(summary.size(), 3u);
  Database empty{kTwo, {}};
  size_t requested = 0;
  for (const SequenceNumbers& numbers : summary) {
    EXPECT_THAT(database_.CompareAll(numbers, At(1)).to_send, IsEmpty());
    EXPECT_LE(numbers.Write().size(), kMaxPdu);
    requested += empty.CompareAll(numbers, At(1)).to_request.size();
  }
  EXPECT_EQ(requested, 202u) << "two are in two of them";
  SequenceNumbers middle = summary[1];
  EXPECT_EQ(middle.first, summary[0].last);
  EXPECT_EQ(summary[2].first, middle.last);
}

}  // namespace
}  // namespace viaduct::rbridge
