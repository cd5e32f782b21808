#include "plane/rbridge/terminals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace viaduct::rbridge {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr SystemId kHere{{2, 0, 0, 0, 0, 1}}, kNear{{2, 0, 0, 0, 0, 2}}, kFar{{2, 0, 0, 0, 0, 3}};

TerminalKey Key(int number) {
  return MakeKey({{2, 0, 0, 1, static_cast<uint8_t>(number >> 8), static_cast<uint8_t>(number)}},
                 1);
}

TEST(TerminalKeyTest, HoldsAddressAndVlan) {
  const auto mac = wire::MacAddress::Parse("02:34:56:78:9a:bc");
  EXPECT_EQ(MakeKey(mac, 4094), 0x023456789abc0ffeu);
  EXPECT_EQ(MacOf(MakeKey(mac, 4094)), mac);
  EXPECT_EQ(VlanOf(MakeKey(mac, 4094)), 4094);
}

TEST(TerminalTableTest, HoldsManyAndForgetsThem) {
  auto tables = std::make_unique<Tables>();
  tables->Clear();
  TerminalTable& table = tables->terminals;
  int stored = 0;
  while (table.Set(Key(stored), {.rbridge = static_cast<RBridgeIndex>(stored % 7)}, 0)) ++stored;
  EXPECT_EQ(stored, static_cast<int>(kMaxTerminals));
  EXPECT_TRUE(table.Set(Key(5), {.rbridge = 3}, 1)) << "a known one needs no room";
  for (int i = 0; i < stored; i += 2) EXPECT_TRUE(table.Erase(Key(i)));
  EXPECT_FALSE(table.Erase(Key(0)));
  EXPECT_EQ(table.size(), kMaxTerminals / 2);
  for (int i = 0; i < stored; ++i) {
    const auto* entry = table.Find(Key(i));
    ASSERT_EQ(entry != nullptr, i % 2 == 1) << i;
    if (entry != nullptr) {
      EXPECT_EQ(entry->location.rbridge, i == 5 ? 3 : i % 7);
    }
  }
}

class TerminalsTest : public testing::Test {
 protected:
  TerminalsTest() { tables_->Clear(); }

  bool Update() { return terminals_.Update(states_, reachable_); }
  // Returns the index of the RBridge at which the terminal is; -1: the terminal is unknown.
  int WhereIs(int terminal) const {
    const auto* entry = tables_->terminals.Find(Key(terminal));
    return entry ? entry->location.rbridge : -1;
  }

  std::unique_ptr<Tables> tables_ = std::make_unique<Tables>();
  Terminals terminals_{*tables_};
  LinkStates states_;
  std::map<SystemId, RBridgeIndex> reachable_{{kHere, 0}, {kNear, 1}, {kFar, 2}};
};

TEST_F(TerminalsTest, LocalOnesAreAnnounced) {
  EXPECT_TRUE(terminals_.Learn({Key(2), {.rbridge = 0, .port = 1}}));
  EXPECT_TRUE(terminals_.Learn({Key(1), {.rbridge = 0, .port = 1}}));
  EXPECT_FALSE(terminals_.Learn({Key(1), {.rbridge = 0, .port = 2}})) << "another port of it";
  EXPECT_FALSE(terminals_.Learn({Key(3), {.rbridge = 1}}));
  EXPECT_THAT(terminals_.Local(), ElementsAre(Key(1), Key(2)));
  EXPECT_TRUE(terminals_.Learn({Key(1), {.rbridge = 1}})) << "it has moved away";
  EXPECT_THAT(terminals_.Local(), ElementsAre(Key(2)));
  EXPECT_TRUE(terminals_.ForgetPort(1));
  EXPECT_THAT(terminals_.Local(), IsEmpty());
}

TEST_F(TerminalsTest, TheLatestNewsCount) {
  states_[kNear].terminals = {Key(1)};
  Update();
  EXPECT_EQ(WhereIs(1), 1);
  // The terminal moves to this RBridge; the RBridge where it was before repeats its LSP, because it
  // has not noticed yet.
  EXPECT_TRUE(terminals_.Learn({Key(1), {.rbridge = 0, .port = 1}}));
  EXPECT_FALSE(Update());
  EXPECT_EQ(WhereIs(1), 0);
  // The terminal moves to a third RBridge.
  states_[kNear].terminals.clear();
  states_[kFar].terminals = {Key(1)};
  EXPECT_TRUE(Update()) << "no terminal of this RBridge any more";
  EXPECT_EQ(WhereIs(1), 2);
}

TEST_F(TerminalsTest, WhatIsWithdrawnIsForgottenOrElsewhere) {
  states_[kNear].terminals = {Key(1), Key(2)};
  states_[kFar].terminals = {Key(2)};
  Update();
  EXPECT_EQ(WhereIs(2), 2) << "the second's news came later";
  states_[kNear].terminals.clear();
  states_[kFar].terminals.clear();
  states_[kNear].terminals = {Key(2)};
  Update();
  EXPECT_EQ(WhereIs(1), -1);
  EXPECT_EQ(WhereIs(2), 1);
}

TEST_F(TerminalsTest, OutOfReachAndBack) {
  states_[kNear].terminals = {Key(1)};
  Update();
  terminals_.Learn({Key(7), {.rbridge = 1}});
  reachable_.erase(kNear);
  Update();
  EXPECT_EQ(WhereIs(1), -1);
  EXPECT_EQ(WhereIs(7), -1);
  reachable_[kNear] = 5;
  Update();
  EXPECT_EQ(WhereIs(1), 5);
  // The index of kNear is reused for another RBridge.
  reachable_[kNear] = 6;
  reachable_[kFar] = 5;
  Update();
  EXPECT_EQ(WhereIs(1), 6);
}

TEST_F(TerminalsTest, SilentOnesAreForgottenUnlessAnnounced) {
  states_[kNear].terminals = {Key(1)};
  Update();
  terminals_.Learn({Key(2), {.rbridge = 1}});
  terminals_.Learn({Key(3), {.rbridge = 0, .port = 1}});
  for (uint32_t i = 0; i < Terminals::kSilentEpochs; ++i) EXPECT_FALSE(terminals_.NextEpoch());
  EXPECT_EQ(WhereIs(3), 0);
  EXPECT_TRUE(terminals_.NextEpoch());
  EXPECT_EQ(WhereIs(1), 1);
  EXPECT_EQ(WhereIs(2), -1);
  EXPECT_EQ(WhereIs(3), -1);
}

}  // namespace
}  // namespace viaduct::rbridge
