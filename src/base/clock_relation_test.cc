#include "base/clock_relation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace viaduct {
namespace {

// A card's clock: set to anything, with a rate that changes, read in a time that is mostly short
// and at any moment within it.
class Card {
 public:
  explicit Card(uint64_t seed) : random_(seed, "card") {}

  Instant Show(Instant ours) const {
    const auto since = static_cast<double>((ours - changed_).nanoseconds());
    return base_ + Duration::Nanoseconds(static_cast<int64_t>(since * (1 + rate_)));
  }
  void SetRate(Instant now, double rate) {
    base_ = Show(now);
    changed_ = now;
    rate_ = rate;
  }
  void Step(Duration by) { base_ += by; }

  std::vector<ClockRelation::Reading> Read(Instant* now, int times, double asymmetry) {
    std::vector<ClockRelation::Reading> readings;
    for (int i = 0; i < times; ++i) {
      const Duration length = Duration::Nanoseconds(
          500 + static_cast<int64_t>(random_.Uniform() * (i % 3 == 0 ? 1000 : 50000)));
      const auto part = static_cast<int64_t>(static_cast<double>(length.nanoseconds()) *
                                             (asymmetry < 0 ? random_.Uniform() : asymmetry));
      readings.push_back({*now, Show(*now + Duration::Nanoseconds(part)), *now + length});
      *now += length;
    }
    return readings;
  }
  double Uniform() { return random_.Uniform(); }

 private:
  RandomStream random_;
  Instant base_ = Instant::FromNanoseconds(1700000037123456789);
  Instant changed_ = Instant::FromNanoseconds(1000000000);
  double rate_ = 0;
};

Duration ErrorOf(const ClockRelation& relation, const Card& card, Instant ours) {
  const Duration wrong = relation.ToOurs(card.Show(ours)) - ours;
  return std::max(wrong, -wrong);
}

constexpr Duration kReadEvery = Duration::Milliseconds(100);
// Of doubles of whole seconds, and of whole nanoseconds.
constexpr Duration kConversion = Duration::Nanoseconds(4);

TEST(ClockRelationTest, NoInstantIsMoreWrongThanWhatIsSaid) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Card card(seed);
    Instant now = Instant::FromNanoseconds(1000000000);
    card.SetRate(now, (card.Uniform() - 0.5) * 200e-6);
    ClockRelation relation;
    // All reads may be at their beginning, at their end, or anywhere.
    const double asymmetry = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 1 : -1;
    Duration worst;
    for (int round = 0; round < 50; ++round) {
      relation.Learn(card.Read(&now, 5, asymmetry));
      // The rate is learned over times that double, so that none is guessed for long.
      const Duration next =
          std::min(Duration::Milliseconds(1) * (1 << std::min(round, 10)), kReadEvery);
      for (int i = 0; i <= 20; ++i) {
        worst = std::max(worst, ErrorOf(relation, card, now + next / 20 * i));
      }
      now += next;
    }
    EXPECT_EQ(relation.steps(), 0u) << "seed " << seed;
    // What came after the last reading is judged by the next one.
    relation.Learn(card.Read(&now, 5, asymmetry));
    EXPECT_LE(worst, relation.uncertainty() + kConversion) << "seed " << seed;
    EXPECT_LE(relation.uncertainty(), Duration::Microseconds(10)) << "seed " << seed;
  }
}

TEST(ClockRelationTest, ExactReadingsGiveExactInstants) {
  Card card(7);
  Instant now = Instant::FromNanoseconds(1000000000);
  card.SetRate(now, 37e-6);
  ClockRelation relation;
  for (int round = 0; round < 3; ++round) {
    const ClockRelation::Reading exact{now, card.Show(now), now};
    relation.Learn({&exact, 1});
    now += kReadEvery;
  }
  EXPECT_LE(ErrorOf(relation, card, now), kConversion);
  EXPECT_LE(ErrorOf(relation, card, now + Duration::Seconds(1)), kConversion);
}

TEST(ClockRelationTest, OfSeveralReadingsTheShortestCounts) {
  const Instant now = Instant::FromNanoseconds(5000);
  const Instant other = Instant::FromNanoseconds(77);
  const std::vector<ClockRelation::Reading> readings = {
      {now, other, now + Duration::Microseconds(90)},
      {now, other, now + Duration::Nanoseconds(200)},
      {now, other, now + Duration::Microseconds(3)},
  };
  ClockRelation relation;
  EXPECT_FALSE(relation.known());
  relation.Learn({});
  EXPECT_FALSE(relation.known());
  relation.Learn(readings);
  EXPECT_EQ(relation.ToOurs(other), now + Duration::Nanoseconds(100));
  EXPECT_EQ(relation.uncertainty(), Duration::Nanoseconds(100));
}

TEST(ClockRelationTest, AClockThatIsSetIsNoticedAndFollowed) {
  for (const Duration step : {Duration::Seconds(37), -Duration::Seconds(37),
                              Duration::Microseconds(300), -Duration::Microseconds(300)}) {
    Card card(3);
    Instant now = Instant::FromNanoseconds(1000000000);
    ClockRelation relation;
    for (int round = 0; round < 10; ++round) {
      relation.Learn(card.Read(&now, 5, -1));
      now += kReadEvery;
    }
    const Duration before = relation.uncertainty();
    card.Step(step);
    relation.Learn(card.Read(&now, 5, -1));
    EXPECT_EQ(relation.steps(), 1u);
    EXPECT_EQ(relation.uncertainty(), before) << "that it was set is said by steps()";
    EXPECT_LE(ErrorOf(relation, card, now), Duration::Microseconds(60));
    for (int round = 0; round < 10; ++round) {
      relation.Learn(card.Read(&now, 5, -1));
      now += kReadEvery;
    }
    EXPECT_EQ(relation.steps(), 1u);
  }
}

TEST(ClockRelationTest, AClockThatIsSteeredIsFollowedAndTheErrorSaid) {
  Card card(11);
  Instant now = Instant::FromNanoseconds(1000000000);
  ClockRelation relation;
  Duration worst;
  for (int round = 0; round < 40; ++round) {
    if (round == 20) card.SetRate(now, 20e-6);  // 2 us in 100 ms
    relation.Learn(card.Read(&now, 5, 0.5));
    now += kReadEvery;
    if (round > 0) worst = std::max(worst, ErrorOf(relation, card, now));
  }
  relation.Learn(card.Read(&now, 5, 0.5));
  EXPECT_EQ(relation.steps(), 0u);
  EXPECT_GT(worst, Duration::Microseconds(1)) << "the test does something";
  EXPECT_LE(worst, relation.uncertainty() + kConversion);
}

}  // namespace
}  // namespace viaduct
